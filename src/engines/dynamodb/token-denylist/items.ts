import type { Revocation } from '../../../guards/token-denylist/port.js'
import { type Item, number, numberOf, text } from '../client/attributes.js'
import { all, Expression, when } from '../client/expression.js'
import type { TransactionItem } from '../client/transactions.js'
import { type Key, keyOf, PARTITION } from '../keys.js'

/** Items of the token denylist in the table for guards. */
export const LOG_PARTITION = PARTITION.tokenLog
const ENTRY = 'ENTRY#'
const DIGITS = 15
const DAY_MS = 24 * 3_600_000

export const logKey = (sequence: number): string => `${ENTRY}${String(sequence).padStart(DIGITS, '0')}`
export const sequenceOf = (item: Item): number => Number(item.SK?.S?.slice(ENTRY.length))
const STATE_SORT = 'STATE'
export const STATE_KEY: Key = keyOf(LOG_PARTITION, STATE_SORT)
export const isState = (item: Item): boolean => item.SK?.S === STATE_SORT

export const rowKey = ({ kind, id }: Pick<Revocation, 'kind' | 'id'>): Key =>
  keyOf((kind === 'token' ? PARTITION.token : PARTITION.tokenSubject) + id, 'REVOKED')

const seconds = (ms: number): number => Math.ceil(ms / 1000)

/** Condition: the log still ends where the writer saw its end. So the number of the entry is unique. */
export function stateUpdate(TableName: string, last: number): TransactionItem {
  const next = new Expression().set({ sequence: number(last + 1) })
  next.when(last === 0 ? next.absent('PK') : next.equals('sequence', number(last)))
  return { Update: { TableName, Key: STATE_KEY, ...next.update() } }
}

/**
 * Entries stay until all their revocations have expired, so that a process can load them at its start. They stay a
 * day more, so that no entry is deleted before followers have read it.
 */
export function entryPut(
  TableName: string,
  sequence: number,
  entry: string,
  revocations: readonly Revocation[],
): TransactionItem {
  const ttl = number(seconds(Math.max(...revocations.map(({ expiresAt }) => expiresAt)) + DAY_MS))
  return { Put: { TableName, Item: { ...keyOf(LOG_PARTITION, logKey(sequence)), entry: text(entry), ttl } } }
}

/** Condition: the row is as it was read. Otherwise another process revoked it meanwhile, and both must be merged. */
export function rowPut(TableName: string, one: Revocation, known: Item | undefined): TransactionItem {
  const expiresAt = Math.max(one.expiresAt, known === undefined ? 0 : numberOf(known, 'expiresAt'))
  const item: Item = { ...rowKey(one), expiresAt: number(expiresAt), ttl: number(seconds(expiresAt)) }
  if (one.kind === 'subject') {
    const before = known === undefined ? 0 : numberOf(known, 'notBefore')
    item.notBefore = number(Math.max(one.notBefore, before))
  }
  const isAsRead = when((e) => {
    if (known === undefined) return e.absent('PK')
    const isSame = e.equals('expiresAt', known.expiresAt)
    return one.kind === 'token' ? isSame : all(isSame, e.equals('notBefore', known.notBefore))
  })
  return { Put: { TableName, Item: item, ...isAsRead } }
}
