import { randomBytes } from 'node:crypto'
import { isObject } from '../../../guards/allowlist/generation-changes.js'
import {
  attributesAt,
  FOREVER,
  isMember,
  toMember,
  visible,
  type WindowedRow,
} from '../../../guards/allowlist/generation-window.js'
import type { MemberAttributes, MemberState } from '../../../guards/allowlist/port.js'
import {
  fromJson,
  type Item,
  number,
  optionalJson,
  optionalNumber,
  optionalText,
  text,
  toJson,
} from '../client/attributes.js'
import { all, type Condition, when } from '../client/expression.js'
import { keyOf } from '../keys.js'
import { customerSort, listPartition, type Place } from './items.js'

export { attributesAt, FOREVER, isMember, toMember, visible }

/** A stored member; `addedAt` is 0 if another program has not set it. */
export interface Row extends WindowedRow {
  /** New at every write; rows of other programs have none. */
  changeId?: string
  /** The batch of an import that last wrote it, so that a repeated batch does not count it twice. */
  batch?: string
  /**
   * Incarnation of the list. Only on rows written without a condition on META: such a write may arrive after the list
   * was deleted, and must not count for the next list with its id.
   */
  incarnation?: number
}

/** 80 random bits. Letters and digits only, because it becomes part of tokens. */
const newChangeId = (): string => randomBytes(10).toString('hex')

interface RowPlace extends Pick<Place, 'partition'> {
  listId: string
  customerId: string
}

export function encodeRow(place: RowPlace, row: Row): Item {
  const { listId, partition, customerId } = place
  const item: Item = {
    ...keyOf(partition, customerSort(customerId)),
  }
  if (row.addedAt !== 0) item.addedAt = text(new Date(row.addedAt).toISOString())
  // A tombstone is not a membership, so the index by customer must not contain it.
  if (!row.tombstone) {
    item.GSI1PK = text(customerSort(customerId))
    item.GSI1SK = text(listPartition(listId))
  }
  if (row.addedBy !== undefined) item.addedBy = text(row.addedBy)
  if (row.metadata !== undefined) item.metadata = fromJson(row.metadata, 'metadata')
  encodeExpiry(item, row)
  if (row.from !== 0) item.fromGen = number(row.from)
  if (row.until !== FOREVER) item.untilGen = number(row.until)
  if (row.pin !== 0) item.pin = number(row.pin)
  if (row.tombstone) item.tombstone = { BOOL: true }
  if (row.next !== undefined) {
    item.next = fromJson({ fromGen: row.next.from, ...row.next.attributes }, 'next')
  }
  if (row.changeId !== undefined) item.changeId = text(row.changeId)
  if (row.batch !== undefined) item.batch = text(row.batch)
  if (row.incarnation !== undefined) item.incarnation = number(row.incarnation)
  return item
}

/**
 * `expiresAt` is the TTL attribute: whole seconds, not before the member has really expired, nor while another
 * generation still needs the row. If the exact time differs, it is stored beside it.
 */
function encodeExpiry(item: Item, { expiresAt, next }: Row): void {
  const last = next === undefined ? expiresAt : later(expiresAt, next.attributes.expiresAt)
  if (last !== undefined) item.expiresAt = number(Math.ceil(last / 1000))
  if (expiresAt !== undefined && (next !== undefined || expiresAt % 1000 !== 0)) {
    item.expiresAtMs = number(expiresAt)
  }
}

const later = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined || b === undefined ? undefined : Math.max(a, b)

/** The attributes that `stateOf` needs. */
export const WINDOW_ATTRIBUTES = [
  'addedAt',
  'expiresAt',
  'expiresAtMs',
  'fromGen',
  'untilGen',
  'tombstone',
  'next',
  'incarnation',
] as const

export function decodeRow(item: Item): Row {
  const row: Row = {
    addedAt: readTime(item.addedAt?.S),
    from: optionalNumber(item, 'fromGen') ?? 0,
    until: optionalNumber(item, 'untilGen') ?? FOREVER,
    pin: optionalNumber(item, 'pin') ?? 0,
    tombstone: item.tombstone?.BOOL === true,
  }
  const addedBy = item.addedBy?.S
  const metadata = optionalJson(item, 'metadata')
  const expiresAt = expiryOf(item)
  if (addedBy !== undefined) row.addedBy = addedBy
  // Another program may use this name for something else.
  if (isObject(metadata)) row.metadata = metadata
  if (expiresAt !== undefined) row.expiresAt = expiresAt
  if (item.next?.M !== undefined) {
    const { fromGen, ...attributes } = toJson(item.next) as { fromGen: number } & MemberAttributes
    row.next = { from: fromGen, attributes }
  }
  const changeId = optionalText(item, 'changeId')
  const batch = optionalText(item, 'batch')
  const incarnation = optionalNumber(item, 'incarnation')
  if (changeId !== undefined) row.changeId = changeId
  if (batch !== undefined) row.batch = batch
  if (incarnation !== undefined) row.incarnation = incarnation
  return row
}

/** The row, unless it is a leftover of another list with this id. */
export function rowOf(item: Item | undefined, list: { incarnation: number }): Row | undefined {
  if (item === undefined) return undefined
  const row = decodeRow(item)
  return row.incarnation === undefined || row.incarnation === list.incarnation ? row : undefined
}

function expiryOf(item: Item): number | undefined {
  const seconds = item.expiresAt === undefined ? undefined : Number(item.expiresAt.N)
  const exact = item.expiresAtMs === undefined ? undefined : Number(item.expiresAtMs.N)
  if (item.next !== undefined) return exact
  if (seconds === undefined || Number.isNaN(seconds)) return undefined
  // Another program may have changed one without the other.
  return exact !== undefined && Math.ceil(exact / 1000) === seconds ? exact : Math.ceil(seconds * 1000)
}

function readTime(iso: string | undefined): number {
  const time = iso === undefined ? Number.NaN : Date.parse(iso)
  return Number.isNaN(time) || time < 0 ? 0 : time
}

/** The row of a write. */
export const written = <R extends WindowedRow>(row: R): R & Row => ({ ...row, changeId: newChangeId() })

/** What a check sees of an item; undefined if it sees no member. */
export function stateOf(
  item: Item | undefined,
  { incarnation, generation }: { incarnation: number; generation: number },
): MemberState | undefined {
  const row = rowOf(item, { incarnation })
  if (!visible(row, generation)) return undefined
  const { addedAt } = row!
  const { expiresAt } = attributesAt(row!, generation)
  const state: MemberState = {}
  if (addedAt !== 0) state.addedAt = addedAt
  if (expiresAt !== undefined) state.expiresAt = expiresAt
  return state
}

/** Condition: the row was not written since it was read. */
export const unchangedRow = (item: Item | undefined): Condition =>
  when((expression) => {
    if (item === undefined) return expression.absent('PK')
    if (item.changeId !== undefined) return expression.equals('changeId', item.changeId)
    return all(
      expression.exists('PK'),
      expression.absent('changeId'),
      expression.equals('addedAt', item.addedAt),
      expression.equals('expiresAt', item.expiresAt),
    )
  })
