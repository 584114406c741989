import type {
  ReshardOptions,
  ReshardOutcome,
  ReshardProgress,
  ReshardStore,
} from '../../../guards/allowlist/port.js'
import type { MoveState } from './moves.js'
import type { Mover } from './reshard.js'
import type { SizeStep } from './shard-sizes.js'
import type { Store } from './store.js'

/** The common interface of moves: by the number of shards only. */
export class DynamodbResharding implements ReshardStore {
  constructor(
    private readonly store: Store,
    private readonly mover: Mover,
    private readonly sizes: readonly SizeStep[],
  ) {}

  /** If it is more shards than any list of the ordinary table has, the list moves to the table for giants. */
  async reshard(listId: string, shards: number, options: ReshardOptions = {}): Promise<ReshardOutcome> {
    const { onProgress, signal, leaseMs } = options
    const ordinary = this.sizes.filter(({ giant }) => !giant).map(({ shardCount }) => shardCount)
    const to = { shardCount: shards, giant: shards > Math.max(1, ...ordinary) }
    const result = await this.mover.move(listId, to, {
      ...(leaseMs !== undefined && { leaseMs }),
      ...(signal !== undefined && { signal }),
      ...(onProgress !== undefined && { onProgress: (state) => onProgress(progressOf(state)) }),
    })
    switch (result.outcome) {
      case 'moved': {
        const list = await this.store.catalog.read(listId)
        return { outcome: 'resharded', shards, customerCount: Math.max(0, list?.customerCount ?? 0) }
      }
      case 'stopped':
        throw signal!.reason
      case 'already-there':
        return { outcome: 'unchanged' }
      case 'move-running':
        return { outcome: 'reshard-running' }
      default:
        return { outcome: result.outcome }
    }
  }

  async progress(listId: string): Promise<(ReshardProgress & { shards: number }) | undefined> {
    const state = await this.mover.progress(listId)
    if (state === undefined || state.phase === 'drop') return undefined
    return { ...progressOf(state), shards: state.to.shardCount }
  }
}

/** Changes never wait during a move: they are made at both places. */
function progressOf({ phase, copied, total }: MoveState): ReshardProgress {
  const isCopying = phase === 'wait' || phase === 'copy'
  return { phase: isCopying ? 'copying' : 'following', copied, total }
}
