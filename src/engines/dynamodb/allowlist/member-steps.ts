import { countSteps } from '../../../guards/allowlist/generation-changes.js'
import type { Item } from '../client/attributes.js'
import { Expression } from '../client/expression.js'
import type { TransactionItem } from '../client/transactions.js'
import { type Key, keyOf } from '../keys.js'
import { customerSort, type Layout, metaKey, type Place, placeOf } from './items.js'
import { placesOf, type StoredList, unchangedMeta, updatedAt } from './meta.js'
import { takeFromBatches } from './open-batches.js'
import { encodeRow, type Row, unchangedRow, visible } from './rows.js'

export type Tables = Readonly<Record<Place['table'], string>>

/** A change of one member: `item` is its row as it was read, `after` the new row. */
interface MemberStep {
  customerId: string
  now?: number | undefined
  item: Item | undefined
  before: Row | undefined
  after: Row | undefined
}

/** Index of the META item in the transaction. */
export const META_STEP = 0

/**
 * A transaction that changes members and the counts of their list, if all of them are unchanged since they were read.
 * `owners`: for each of its items, the change whose row is its condition.
 */
export function changeSteps(
  tables: Tables,
  list: StoredList,
  changes: MemberStep[],
): { steps: TransactionItem[]; owners: (number | undefined)[] } {
  const sum = { customerCount: 0, pendingCount: 0 }
  let now: number | undefined
  const steps: TransactionItem[] = []
  const owners: (number | undefined)[] = [undefined]
  const taken: Row[] = []
  changes.forEach(({ customerId, item, before, ...change }, owner) => {
    const after = withBatch(list, before, change.after)
    const moved = countSteps(list, before, after)
    sum.customerCount += moved.customerCount
    sum.pendingCount += moved.pendingCount
    if (isTaken(before, after)) taken.push(before!)
    if (change.now !== undefined) now = Math.max(now ?? 0, change.now)
    for (const [i, step] of rowSteps(tables, list, customerId, item, after).entries()) {
      steps.push(step)
      owners.push(i === 0 ? owner : undefined)
    }
  })
  return { steps: [countStep(tables.allowlists, list, sum, now, taken), ...steps], owners }
}

/**
 * A row that an import has inserted is counted with its batch (open-batches.ts), by the batch name in the row. A
 * later write preserves the name while the row counts.
 */
export function withBatch(list: StoredList, before: Row | undefined, after: Row): Row
export function withBatch(list: StoredList, before: Row | undefined, after: Row | undefined): Row | undefined
export function withBatch(
  { generation }: StoredList,
  before: Row | undefined,
  after: Row | undefined,
): Row | undefined {
  const batch = before?.batch
  if (batch === undefined || after === undefined || after.batch !== undefined) return after
  return visible(before, generation) && visible(after, generation) ? { ...after, batch } : after
}

const isTaken = (before: Row | undefined, after: Row | undefined): boolean =>
  before?.batch !== undefined && after?.batch !== before.batch

/** Writes a row at all its places. Only the first has the condition that the row is unchanged. */
function rowSteps(
  tables: Tables,
  list: StoredList,
  customerId: string,
  item: Item | undefined,
  after: Row | undefined,
): TransactionItem[] {
  return placesOf(list, customerId).map((place, i): TransactionItem => {
    // The first place decides. The second, to which the list is being moved, follows it.
    const guard = { TableName: tables[place.table], ...(i === 0 && unchangedRow(item)) }
    if (after === undefined) return { Delete: { ...guard, Key: rowKey(place, customerId) } }
    return {
      Put: { ...guard, Item: encodeRow({ listId: list.id, partition: place.partition, customerId }, after) },
    }
  })
}

export const rowKey = ({ partition }: Place, customerId: string): Key =>
  keyOf(partition, customerSort(customerId))

/**
 * Transaction item that changes the counts of a list, if the list is unchanged. `taken`: rows of imports that are
 * deleted by the transaction, or no longer count.
 */
function countStep(
  table: string,
  list: StoredList,
  steps: { customerCount: number; pendingCount: number },
  now: number | undefined,
  taken: readonly Row[] = [],
): TransactionItem {
  const expression = new Expression().add(steps)
  expression.when(unchangedMeta(expression, list))
  takeFromBatches(expression, list.openBatches, taken)
  if (now !== undefined) expression.set(updatedAt(now))
  const where = { TableName: table, Key: metaKey(list.id) }
  const update = expression.update()
  return update.UpdateExpression === ''
    ? { ConditionCheck: { ...where, ...expression.check() } }
    : { Update: { ...where, ...update } }
}

/** The location of a member's authoritative row. */
export function rowLocation(
  tables: Tables,
  listId: string,
  layout: Layout,
  customerId: string,
): { TableName: string; Key: Key } {
  const { table, partition } = placeOf(listId, layout, customerId)
  return { TableName: tables[table], Key: keyOf(partition, customerSort(customerId)) }
}
