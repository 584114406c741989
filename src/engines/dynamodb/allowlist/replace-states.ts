import { number, text } from '../client/attributes.js'
import { all, Expression } from '../client/expression.js'
import type { TransactionItem } from '../client/transactions.js'
import { metaKey } from './items.js'
import { type StoredList, unchangedMeta } from './meta.js'
import type { Store } from './store.js'

/** Upkeep task: rows that no generation sees any more, after a replace. The parts are the list and the generation. */
export const GENERATION = 'GENERATION'
/** Upkeep task: rows of an abandoned replace. The part is the list. */
export const UNDO = 'UNDO'

/** After this, changes of members are made for the next generation too. */
export function beginStep(table: string, list: StoredList, importId: string): TransactionItem {
  const expression = new Expression()
  const generation = number(list.lastGeneration + 1)
  const replacing = { M: { generation, importId: text(importId) } }
  const sets = [
    `${expression.name('replacing')} = ${expression.value(replacing)}`,
    `${expression.name('lastGeneration')} = ${expression.value(generation)}`,
    // Lists of other programs may lack the count.
    `${expression.name('pendingCount')} = if_not_exists(${expression.name('customerCount')}, ${expression.value(number(0))})`,
  ]
  return metaStep(table, list, expression, `SET ${sets.join(', ')}`, expression.absent('undoing'))
}

/** Abandons the running replace. A sweep undoes its rows. */
export function abandonSteps(store: Store, list: StoredList, now: number): TransactionItem[] {
  const expression = new Expression()
  const undoing = `${expression.name('undoing')} = ${expression.value(number(list.replacing!.generation))}`
  const update = `SET ${undoing} REMOVE ${expression.name('replacing')}, ${expression.name('pendingCount')}`
  return [
    metaStep(store.tables.allowlists, list, expression, update),
    store.due.put({ kind: UNDO, at: now, parts: [list.id] }),
  ]
}

/** All rows of an abandoned replace are undone. */
export function undoneStep(table: string, list: StoredList): TransactionItem {
  const expression = new Expression()
  const condition = expression.equals('undoing', number(list.undoing!))
  return metaStep(table, list, expression, `REMOVE ${expression.name('undoing')}`, condition)
}

/**
 * The single step after which every reader sees the new members. `difference`: to the count that other writers have
 * maintained.
 */
export function switchStep(
  table: string,
  list: StoredList,
  difference: number,
  now: number,
): TransactionItem {
  const expression = new Expression()
  const sets = [
    `${expression.name('generation')} = ${expression.value(number(list.replacing!.generation))}`,
    `${expression.name('updatedAt')} = ${expression.value(text(new Date(now).toISOString()))}`,
    `${expression.name('customerCount')} = ${expression.name('pendingCount')} + ${expression.value(number(difference))}`,
  ]
  const removes = ['replacing', 'pendingCount'].map((name) => expression.name(name)).join(', ')
  return metaStep(table, list, expression, `SET ${sets.join(', ')} REMOVE ${removes}`)
}

export function metaStep(
  table: string,
  list: StoredList,
  expression: Expression,
  UpdateExpression: string,
  ...conditions: string[]
): TransactionItem {
  return {
    Update: {
      TableName: table,
      Key: metaKey(list.id),
      UpdateExpression,
      ConditionExpression: all(unchangedMeta(expression, list), ...conditions),
      ...expression.parts(),
    },
  }
}
