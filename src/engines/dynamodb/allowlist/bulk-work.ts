import type { ReshardStore } from '../../../guards/allowlist/port.js'
import { DynamodbBulk, IMPORT } from './bulk.js'
import { GenerationSweeps } from './generation-sweeps.js'
import { GENERATION, UNDO } from './replace-states.js'
import { MOVE, Mover } from './reshard.js'
import { DynamodbResharding } from './reshard-store.js'
import { MoveUpkeep } from './reshard-upkeep.js'
import { DEFAULT_SIZES, type SizeStep } from './shard-sizes.js'
import type { Store } from './store.js'
import type { TaskHandlers } from './upkeep.js'

/** Imports, replaces and moves, and their upkeep. */
export interface BulkWork {
  readonly bulk: DynamodbBulk
  readonly mover: Mover
  readonly resharding: ReshardStore
  readonly tasks: TaskHandlers
}

/** `sizes`: from how many customers on a list is moved to more shards, or to the table for giants. */
export function openBulkWork(store: Store, sizes: readonly SizeStep[] = DEFAULT_SIZES): BulkWork {
  const bulk = new DynamodbBulk(store, sizes)
  const generations = new GenerationSweeps(store)
  const mover = new Mover(store)
  const moves = new MoveUpkeep(store, mover, sizes)
  return {
    bulk,
    mover,
    resharding: new DynamodbResharding(store, mover, sizes),
    tasks: {
      [IMPORT]: (task, now) => bulk.watch(task, now),
      [GENERATION]: (task, now) => generations.swept(task, now),
      [UNDO]: ({ parts: [listId = ''] }) => generations.undo(listId),
      [MOVE]: (task, now) => moves.watch(task, now),
    },
  }
}
