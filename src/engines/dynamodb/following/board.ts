import { createHash } from 'node:crypto'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { StreamTable } from '../feed/stream-records.js'

/** How far the logs of a list were read. */
interface SharedLog {
  readonly incarnation: number
  readonly mark: number
  /** The last sequence number of each log. */
  readonly heads: readonly number[]
}

export interface SharedList {
  /** Of META, without its counts. */
  readonly digest: string
  /** Absent if nobody follows its logs. */
  readonly log?: SharedLog
}

/** A log entry that was read lately. */
export interface SharedEntry {
  readonly listId: string
  readonly log: number
  readonly sequence: number
  readonly bytes: Uint8Array
  readonly changeIds: readonly string[]
}

/**
 * What one process read for all. It says how things are, never how they changed, so that an old one, or one of two
 * processes that both believe to be the leader, is still true of its time.
 */
export interface Board {
  /** When the reads for it began, by the clock of DynamoDB. */
  readonly at: number
  /** The same for the records of lists, which are read less often. */
  readonly listsAt: number
  /** False: the leader knows of no reader, and reads nothing for others. */
  readonly isActive: boolean
  /** When a reader last asked, as far as the leader knows. */
  readonly askedAt: number
  /** The time up to which the logs are complete, by the clocks of pods. */
  readonly until: Readonly<Partial<Record<StreamTable, number>>>
  readonly lists: ReadonlyMap<string, SharedList>
  readonly entries: readonly SharedEntry[]
}

export const EMPTY_BOARD: Board = {
  ...{ at: 0, listsAt: 0, isActive: false, askedAt: 0, until: {} },
  lists: new Map(),
  entries: [],
}

/** A read unit, eventually consistent, reads twice as much; a write unit a fourth. */
const PART_BYTES = 4096
/** Of one list, compressed: its id, a digest, the end of its log. */
const LIST_BYTES = 40
/** Lists with a thousand logs each are far below. */
const MAX_UNPACKED_BYTES = 8 * 1024 * 1024
const LISTS_IN_PART = Math.floor(PART_BYTES / LIST_BYTES)

type PackedList = [id: string, digest: string, incarnation?: number, mark?: number, heads?: readonly number[]]

interface PackedRoot {
  at: number
  listsAt: number
  active: boolean
  askedAt: number
  until: Board['until']
  entries: [listId: string, log: number, sequence: number, bytes: string, changeIds: readonly string[]][]
  /** The lists themselves if they are few, else the names of the parts that hold them. */
  lists: PackedList[] | undefined
  parts: string[] | undefined
}

interface PackedBoard {
  root: Uint8Array
  /** By name, which changes with the content. */
  parts: Map<string, Uint8Array>
}

/** Lists that change leave the other parts as they are, which then need not be written or read again. */
export function packBoard({ lists, entries, isActive, ...rest }: Board): PackedBoard {
  const partCount = Math.ceil(lists.size / LISTS_IN_PART)
  const groups: PackedList[][] = Array.from({ length: Math.max(1, partCount) }, () => [])
  for (const [id, list] of [...lists].sort(([a], [b]) => (a < b ? -1 : 1))) {
    groups[hashOf(id).readUInt32BE(0) % groups.length]!.push(packList(id, list))
  }
  const isWhole = groups.length === 1
  const parts = new Map(isWhole ? [] : groups.map((group) => named(group)))
  const root: PackedRoot = {
    ...rest,
    active: isActive,
    entries: entries.map(({ listId, log, sequence, bytes, changeIds }) => [
      ...([listId, log, sequence] as const),
      Buffer.from(bytes).toString('base64'),
      changeIds,
    ]),
    lists: isWhole ? groups[0] : undefined,
    parts: isWhole ? undefined : [...parts.keys()],
  }
  return { root: pack(root), parts }
}

function packList(id: string, { digest, log }: SharedList): PackedList {
  return log === undefined ? [id, digest] : [id, digest, log.incarnation, log.mark, log.heads]
}

function named(group: PackedList[]): [string, Uint8Array] {
  const packed = pack(group)
  return [hashOf(packed).toString('base64url', 0, 12), packed]
}

/**
 * `partOf` returns the part with this name; lists of parts that are missing or unreadable are not on the board.
 * Undefined: no process of this version has written this.
 */
export function unpackBoard(
  root: Uint8Array,
  partOf: (name: string) => Uint8Array | undefined,
): Board | undefined {
  const unpacked = readRoot(root)
  if (unpacked === undefined) return undefined
  const { active, entries, lists = [], parts = [], ...rest } = unpacked
  const held = parts.flatMap((name) => {
    const part = partOf(name)
    return (part && readLists(unpack(part))) ?? []
  })
  return {
    ...rest,
    isActive: active,
    entries: entries.map(([listId, log, sequence, bytes, changeIds]) => ({
      ...{ listId, log, sequence, changeIds },
      bytes: Buffer.from(bytes, 'base64'),
    })),
    lists: new Map([...lists, ...held].map(unpackList)),
  }
}

export const partNames = (root: Uint8Array): string[] => readRoot(root)?.parts ?? []

function unpackList([id, digest, incarnation, mark, heads]: PackedList): [string, SharedList] {
  if (incarnation === undefined) return [id, { digest }]
  return [id, { digest, log: { incarnation, mark: mark!, heads: heads! } }]
}

function readRoot(packed: Uint8Array): PackedRoot | undefined {
  const root = unpack(packed) as PackedRoot | undefined | null
  if (typeof root !== 'object' || root === null) return undefined
  const { at, listsAt, active, askedAt, until, entries, lists, parts } = root
  const isReadable =
    areNumbers([at, listsAt, askedAt]) &&
    typeof active === 'boolean' &&
    typeof until === 'object' &&
    until !== null &&
    areNumbers(Object.values(until)) &&
    isArrayOf(entries, isEntry) &&
    (lists === undefined || readLists(lists) !== undefined) &&
    (parts === undefined || isArrayOf(parts, isText))
  return isReadable ? root : undefined
}

const readLists = (lists: unknown): PackedList[] | undefined =>
  isArrayOf(lists, isList) ? (lists as PackedList[]) : undefined

function isList(one: unknown): boolean {
  if (!Array.isArray(one)) return false
  const [id, digest, incarnation, mark, heads] = one
  const hasLog = areNumbers([incarnation, mark]) && isArrayOf(heads, isNumber)
  return isText(id) && isText(digest) && (one.length === 2 || hasLog)
}

function isEntry(one: unknown): boolean {
  if (!Array.isArray(one)) return false
  const [listId, log, sequence, bytes, changeIds] = one
  return isText(listId) && areNumbers([log, sequence]) && isText(bytes) && isArrayOf(changeIds, isText)
}

const isText = (value: unknown): boolean => typeof value === 'string'
const isNumber = (value: unknown): boolean => Number.isFinite(value)
const areNumbers = (values: unknown[]): boolean => values.every(isNumber)
const isArrayOf = (value: unknown, is: (one: unknown) => boolean): boolean =>
  Array.isArray(value) && value.every(is)

const hashOf = (data: string | Uint8Array): Buffer => createHash('sha256').update(data).digest()
const pack = (value: unknown): Uint8Array => deflateRawSync(JSON.stringify(value))

/** Undefined: not what `pack` makes, or much larger. */
function unpack(packed: Uint8Array): unknown {
  try {
    return JSON.parse(inflateRawSync(packed, { maxOutputLength: MAX_UNPACKED_BYTES }).toString())
  } catch {
    return undefined
  }
}
