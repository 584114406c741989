import { number, text } from '../client/attributes.js'
import { Expression } from '../client/expression.js'
import type { TransactionItem } from '../client/transactions.js'
import { metaKey } from './items.js'
import { type StoredList, unchangedMeta, updatedAt } from './meta.js'
import type { Store } from './store.js'

/** Upkeep task: rows that no generation sees any more, after a replace. The parts are the list and the generation. */
export const GENERATION = 'GENERATION'
/** Upkeep task: rows of an abandoned replace. The part is the list. */
export const UNDO = 'UNDO'

/** After this, changes of members are made for the next generation too. */
export function beginStep(table: string, list: StoredList, importId: string): TransactionItem {
  const generation = number(list.lastGeneration + 1)
  const replacing = { M: { generation, importId: text(importId) } }
  const expression = new Expression().set({ replacing, lastGeneration: generation })
  // Lists of other programs may lack the count.
  const count = `if_not_exists(${expression.name('customerCount')}, ${expression.value(number(0))})`
  expression.setTo('pendingCount', count).when(expression.absent('undoing'))
  return metaStep(table, list, expression)
}

/** Abandons the running replace. A sweep undoes its rows. */
export function abandonSteps(store: Store, list: StoredList, now: number): TransactionItem[] {
  const undoing = new Expression().set({ undoing: number(list.replacing!.generation) })
  return [
    metaStep(store.tables.allowlists, list, undoing.remove('replacing', 'pendingCount')),
    store.due.put({ kind: UNDO, at: now, parts: [list.id] }),
  ]
}

/** All rows of an abandoned replace are undone. */
export function undoneStep(table: string, list: StoredList): TransactionItem {
  const expression = new Expression().remove('undoing')
  return metaStep(table, list, expression.when(expression.equals('undoing', number(list.undoing!))))
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
  const expression = new Expression().set({
    generation: number(list.replacing!.generation),
    ...updatedAt(now),
  })
  const count = `${expression.name('pendingCount')} + ${expression.value(number(difference))}`
  return metaStep(table, list, expression.setTo('customerCount', count).remove('replacing', 'pendingCount'))
}

export function metaStep(table: string, list: StoredList, update: Expression): TransactionItem {
  update.when(unchangedMeta(update, list))
  return { Update: { TableName: table, Key: metaKey(list.id), ...update.update() } }
}
