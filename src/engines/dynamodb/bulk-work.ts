import { DynamodbBulk, IMPORT } from './bulk.js'
import { GenerationSweeps } from './generation-sweeps.js'
import { GENERATION, UNDO } from './replace-states.js'
import type { Store } from './store.js'
import type { TaskHandlers } from './upkeep.js'

/** Imports, replaces and moves, with what they leave to upkeep. */
export interface BulkWork {
  readonly bulk: DynamodbBulk
  readonly tasks: TaskHandlers
}

export function openBulkWork(store: Store): BulkWork {
  const bulk = new DynamodbBulk(store)
  const generations = new GenerationSweeps(store)
  return {
    bulk,
    tasks: {
      [IMPORT]: (task, now) => bulk.watch(task, now),
      [GENERATION]: (task, now) => generations.swept(task, now),
      [UNDO]: ({ parts: [listId = ''] }) => generations.undo(listId),
    },
  }
}
