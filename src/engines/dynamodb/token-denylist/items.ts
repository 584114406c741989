import type { Revocation } from '../../../guards/token-denylist/port.js'
import { type Item, number, numberOf, text } from '../client/attributes.js'
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
export const stateUpdate = (table: string, last: number): TransactionItem => ({
  Update: {
    TableName: table,
    Key: STATE_KEY,
    UpdateExpression: 'SET #s = :next',
    ConditionExpression: last === 0 ? 'attribute_not_exists(PK)' : '#s = :last',
    ExpressionAttributeNames: { '#s': 'sequence' },
    ExpressionAttributeValues: {
      ':next': number(last + 1),
      ...(last > 0 && { ':last': number(last) }),
    },
  },
})

/**
 * Entries stay until all their revocations have expired, so that a process can load them at its start. They stay a
 * day more, so that no entry is deleted before followers have read it.
 */
export const entryPut = (
  table: string,
  sequence: number,
  entry: string,
  revocations: readonly Revocation[],
): TransactionItem => {
  const end = Math.max(...revocations.map(({ expiresAt }) => expiresAt))
  return {
    Put: {
      TableName: table,
      Item: {
        PK: text(LOG_PARTITION),
        SK: text(logKey(sequence)),
        entry: text(entry),
        ttl: number(seconds(end + DAY_MS)),
      },
    },
  }
}

/** Condition: the row is as it was read. Otherwise another process revoked it meanwhile, and both must be merged. */
export function rowPut(table: string, one: Revocation, known: Item | undefined): TransactionItem {
  const expiresAt = Math.max(one.expiresAt, known === undefined ? 0 : numberOf(known, 'expiresAt'))
  const item: Item = { ...rowKey(one), expiresAt: number(expiresAt), ttl: number(seconds(expiresAt)) }
  if (one.kind === 'subject') {
    const before = known === undefined ? 0 : numberOf(known, 'notBefore')
    item.notBefore = number(Math.max(one.notBefore, before))
  }
  if (known === undefined) {
    return { Put: { TableName: table, Item: item, ConditionExpression: 'attribute_not_exists(PK)' } }
  }
  const isSubject = one.kind === 'subject'
  return {
    Put: {
      TableName: table,
      Item: item,
      ConditionExpression: isSubject ? 'expiresAt = :e AND notBefore = :n' : 'expiresAt = :e',
      ExpressionAttributeValues: {
        ':e': known.expiresAt!,
        ...(isSubject && { ':n': known.notBefore! }),
      },
    },
  }
}
