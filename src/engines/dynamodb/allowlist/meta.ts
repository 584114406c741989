import { createHash, randomBytes } from 'node:crypto'
import { CatracaError, isCatracaError } from '../../../core/errors.js'
import type { CheckedList, ListRecord } from '../../../guards/allowlist/port.js'
import type { AllowlistType } from '../../../guards/allowlist/types.js'
import { readable, unreadableList } from '../../../guards/allowlist/unreadable.js'
import {
  fromJson,
  type Item,
  number,
  optionalJson,
  optionalNumber,
  optionalText,
  text,
} from '../client/attributes.js'
import { all, type Expression } from '../client/expression.js'
import { readConfig } from './foreign-config.js'
import { type Layout, metaKey, type Place, placeOf, readListId, samePlace } from './items.js'
import { type OpenBatch, readOpenBatches } from './open-batches.js'

/** A replace that is building this generation. */
export interface Replacing {
  generation: number
  importId: string
}

/** A move of the members to another layout. Until its end every change of a member is made in both. */
export interface Moving extends Layout {
  /** The layout number that it will have. */
  layout: number
}

/** A list as its META item has it. */
export interface StoredList extends ListRecord, Layout {
  /** Counts moves to another number of shards, or to the other table. */
  layout: number
  /** The generation that checks see, and the last one ever begun. */
  generation: number
  lastGeneration: number
  replacing?: Replacing
  /** Customers of the generation that a replace is building. */
  pendingCount?: number
  moving?: Moving
  /** The layout that it was moved from, as long as members may still be there. */
  dropping?: Moving
  /** A replace to this generation was given up, and what it has written is not undone yet. */
  undoing?: number
  /** Batches of imports that are being written. */
  openBatches: readonly OpenBatch[]
  /** Deleted then, and not yet swept. */
  deletedAt?: number
  /** Of the snapshot of its index. */
  indexVersion?: string
  /**
   * Made by another program: the attributes of ours are absent, and derived where they are needed. What tells this
   * list from another of its id is then `createdAt`, as it is spelled.
   */
  foreign?: { createdAt: string | undefined }
}

/** What a check knows of a list: all but what changes with its members. */
export type KnownList = CheckedList & Layout & { layout: number; generation: number }

/** 53 random bits: unique over all lists and processes. */
export const newIncarnation = (): number => fold(randomBytes(7))

const fold = (bytes: Buffer): number => bytes.readUIntBE(0, 6) * 32 + (bytes[6]! & 31) || 1

export function encodeMeta(list: StoredList): Item {
  const item: Item = {
    ...metaKey(list.id),
    name: text(list.name),
    type: text(list.type),
    precision: text(list.precision),
    salt: text(list.salt),
    customerCount: number(list.customerCount),
    version: number(list.version),
    createdAt: text(new Date(list.createdAt).toISOString()),
    updatedAt: text(new Date(list.updatedAt).toISOString()),
    incarnation: number(list.incarnation),
  }
  if (list.config !== undefined) item.config = fromJson(list.config, 'config')
  return item
}

/** META of our own and of other programs; what those do not say has the value that the source design implies. */
export function decodeMeta(item: Item): StoredList {
  const id = readListId(item.PK?.S ?? '') ?? ''
  try {
    return decode(id, item)
  } catch (error) {
    if (!isCatracaError(error, 'STORE_CORRUPT')) throw error
    throw unreadableList(id, error.message, error)
  }
}

/** The same; undefined where there is none that can be read. */
export function readableMeta(item: Item | undefined): StoredList | undefined {
  return item === undefined ? undefined : readable([() => decodeMeta(item)])[0]
}

function decode(id: string, item: Item): StoredList {
  const createdAt = item.createdAt?.S
  const incarnation = optionalNumber(item, 'incarnation')
  const list: StoredList = {
    id,
    incarnation: incarnation ?? derivedIncarnation(id, createdAt),
    name: optionalText(item, 'name') ?? id,
    type: typeOf(item),
    precision: item.precision?.S === 'trusted' ? 'trusted' : 'exact',
    salt: optionalText(item, 'salt') ?? '',
    customerCount: optionalNumber(item, 'customerCount') ?? 0,
    version: optionalNumber(item, 'version') ?? 1,
    createdAt: readTime(createdAt),
    updatedAt: readTime(item.updatedAt?.S ?? createdAt),
    shardCount: Math.max(1, Math.floor(optionalNumber(item, 'shardCount') ?? 1)),
    giant: optionalText(item, 'storage') === GIANT_STORAGE,
    layout: optionalNumber(item, 'layout') ?? 0,
    generation: optionalNumber(item, 'generation') ?? 0,
    lastGeneration: optionalNumber(item, 'lastGeneration') ?? 0,
    openBatches: readOpenBatches(item),
  }
  if (incarnation === undefined) list.foreign = { createdAt }
  if (list.type === 'ONDA') list.config = readConfig(optionalJson(item, 'config'))
  decodeStates(item, list)
  return list
}

export const GIANT_STORAGE = 'GIANT_TABLE'

function decodeStates(item: Item, list: StoredList): void {
  const replacing = optionalJson(item, 'replacing') as Replacing | undefined
  const moving = optionalJson(item, 'moving') as Moving | undefined
  const dropping = optionalJson(item, 'dropping') as Moving | undefined
  const pendingCount = optionalNumber(item, 'pendingCount')
  const undoing = optionalNumber(item, 'undoing')
  const deletedAt = optionalNumber(item, 'deletedAt')
  const indexVersion = optionalText(item, 'indexVersion')
  if (replacing !== undefined) list.replacing = replacing
  if (moving !== undefined) list.moving = moving
  if (dropping !== undefined) list.dropping = dropping
  if (pendingCount !== undefined) list.pendingCount = pendingCount
  if (undoing !== undefined) list.undoing = undoing
  if (deletedAt !== undefined) list.deletedAt = deletedAt
  if (indexVersion !== undefined) list.indexVersion = indexVersion
}

function typeOf(item: Item): AllowlistType {
  const type = item.type?.S
  if (type === 'FIXA' || type === 'ONDA') return type
  throw new CatracaError('STORE_CORRUPT', 'its type is neither FIXA nor ONDA')
}

/** The same for every program that reads the item, and another when the list is made anew. */
function derivedIncarnation(id: string, createdAt = ''): number {
  return fold(
    createHash('sha256')
      .update(JSON.stringify([id, createdAt]))
      .digest(),
  )
}

function readTime(iso = ''): number {
  const time = Date.parse(iso)
  return Number.isNaN(time) || time < 0 ? 0 : time
}

export function toRecord(list: StoredList): ListRecord {
  const { id, incarnation, name, type, precision, salt, version, shardCount, createdAt, updatedAt } = list
  const record: ListRecord = {
    id,
    incarnation,
    name,
    type,
    precision,
    salt,
    // Counts of other programs may be off; ours never are.
    customerCount: Math.max(0, list.customerCount),
    version,
    shardCount,
    createdAt,
    updatedAt,
  }
  if (list.config !== undefined) record.config = list.config
  return record
}

export function knownOf(list: StoredList): KnownList {
  const { customerCount: _, updatedAt: __, ...checked } = toRecord(list)
  const { giant, layout, generation } = list
  return { ...checked, giant, layout, generation }
}

/** The list is there, and still the same one. */
export function sameList(
  expression: Expression,
  { incarnation, foreign }: Pick<StoredList, 'incarnation' | 'foreign'>,
): string {
  return all(
    expression.exists('PK'),
    expression.equals('incarnation', foreign ? undefined : number(incarnation)),
    foreign &&
      expression.equals('createdAt', foreign.createdAt === undefined ? undefined : text(foreign.createdAt)),
    expression.absent('deletedAt'),
  )
}

/** Everything about the list that may not change under a write of a member: holds while META is as `list` says. */
export function unchangedMeta(expression: Expression, list: StoredList): string {
  const { generation, layout, replacing, moving } = list
  return all(
    sameList(expression, list),
    expression.equals('generation', generation === 0 ? undefined : number(generation)),
    expression.equals('layout', layout === 0 ? undefined : number(layout)),
    expression.equals('replacing.generation', replacing && number(replacing.generation)),
    expression.equals('moving.layout', moving && number(moving.layout)),
  )
}

/** Both places of a member while its list is moved, the one that counts first. */
export function placesOf(
  list: Pick<StoredList, 'id' | 'shardCount' | 'giant' | 'moving'>,
  customerId: string,
): Place[] {
  const place = placeOf(list.id, list, customerId)
  if (list.moving === undefined) return [place]
  const next = placeOf(list.id, list.moving, customerId)
  return samePlace(place, next) ? [place] : [place, next]
}
