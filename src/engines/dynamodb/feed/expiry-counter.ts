import { countSteps } from '../../../guards/allowlist/generation-changes.js'
import { metaKey } from '../allowlist/items.js'
import { type StoredList, unchangedMeta } from '../allowlist/meta.js'
import { takeFromBatches } from '../allowlist/open-batches.js'
import { decodeRow, rowOf } from '../allowlist/rows.js'
import type { Item } from '../client/attributes.js'
import type { DynamoClient } from '../client/client.js'
import { Expression, when } from '../client/expression.js'
import type { TransactionItem } from '../client/transactions.js'
import { expiredKey, expiresIn, PAST_STREAM_SECONDS } from './feed-items.js'

export interface Expiry {
  customerId: string
  /** The member as DynamoDB deleted it. */
  before: Item
}

/** With META, a transaction has at most 100 items. */
const MAX_AT_ONCE = 99

/**
 * Decreases the counts of a list for members that DynamoDB has deleted. Each deletion leaves a mark in the same
 * transaction, so that it counts once however often it is processed. False: the list has changed meanwhile, and the
 * rest must be evaluated again.
 */
export async function countExpiries(
  client: DynamoClient,
  table: string,
  list: StoredList,
  expiries: readonly Expiry[],
  nowMs: number,
): Promise<boolean> {
  let left = expiries.filter(({ before }) => matters(list, before))
  while (left.length > 0) {
    const part = left.slice(0, MAX_AT_ONCE)
    const marks = part.map((expiry) => markOf(table, list, expiry, nowMs))
    const result = await client.transactWrite('feed.expire', [lower(table, list, part), ...marks])
    const refused = result.applied
      ? new Set(part.keys())
      : new Set(result.refusals.map((one) => one.index - 1))
    if (refused.has(-1)) return false
    // These are done now, or were counted before.
    left = [...part.filter((_, i) => !refused.has(i)), ...left.slice(part.length)]
  }
  return true
}

function matters(list: StoredList, before: Item): boolean {
  const { customerCount, pendingCount } = stepsOf(list, before)
  return customerCount !== 0 || pendingCount !== 0
}

function stepsOf(list: StoredList, before: Item): { customerCount: number; pendingCount: number } {
  return countSteps(list, rowOf(before, list), undefined)
}

function lower(table: string, list: StoredList, part: readonly Expiry[]): TransactionItem {
  const sum = { customerCount: 0, pendingCount: 0 }
  for (const { before } of part) {
    const steps = stepsOf(list, before)
    sum.customerCount += steps.customerCount
    sum.pendingCount += steps.pendingCount
  }
  const expression = new Expression().add(sum)
  expression.when(unchangedMeta(expression, list))
  takeFromBatches(
    expression,
    list.openBatches,
    part.map(({ before }) => decodeRow(before)),
  )
  return { Update: { TableName: table, Key: metaKey(list.id), ...expression.update() } }
}

function markOf(
  table: string,
  list: StoredList,
  { customerId, before }: Expiry,
  nowMs: number,
): TransactionItem {
  const version = before.changeId?.S ?? `${before.addedAt?.S ?? ''}~${before.expiresAt?.N ?? ''}`
  const Item = {
    ...expiredKey(list.id, customerId, version),
    expiresAt: expiresIn(PAST_STREAM_SECONDS, nowMs),
  }
  return { Put: { TableName: table, Item, ...when((expression) => expression.absent('PK')) } }
}
