import { DynamodbBulk, IMPORT } from './bulk.js'
import { GenerationSweeps } from './generation-sweeps.js'
import { GENERATION, UNDO } from './replace-states.js'
import { MOVE, Resharding } from './reshard.js'
import { DEFAULT_SIZES, type SizeStep } from './shard-sizes.js'
import type { Store } from './store.js'
import type { TaskHandlers } from './upkeep.js'

/** Imports, replaces and moves, with what they leave to upkeep. */
export interface BulkWork {
  readonly bulk: DynamodbBulk
  readonly resharding: Resharding
  readonly tasks: TaskHandlers
}

/** `sizes`: from how many customers on a list is moved to more shards, or to the table for giants. */
export function openBulkWork(store: Store, sizes: readonly SizeStep[] = DEFAULT_SIZES): BulkWork {
  const bulk = new DynamodbBulk(store, sizes)
  const generations = new GenerationSweeps(store)
  const resharding = new Resharding(store, sizes)
  return {
    bulk,
    resharding,
    tasks: {
      [IMPORT]: (task, now) => bulk.watch(task, now),
      [GENERATION]: (task, now) => generations.swept(task, now),
      [UNDO]: ({ parts: [listId = ''] }) => generations.undo(listId),
      [MOVE]: (task, now) => resharding.watch(task, now),
    },
  }
}
