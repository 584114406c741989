import { CatracaError, invalid } from '../../../core/errors.js'
import type {
  ReshardOptions,
  ReshardOutcome,
  ReshardProgress,
  ReshardStore,
} from '../../../guards/allowlist/port.js'
import type { BulkContext } from './bulk-context.js'
import { ROUNDS } from './bulk-shards.js'
import type { Meta, RedisList } from './meta.js'
import type { ReplaceCleanup } from './replace-cleanup.js'
import { MoveStopped } from './reshard-copy.js'
import { Move } from './reshard-move.js'
import { finishDropping, type Moving, thawAll, thawIfDead } from './reshard-shards.js'
import type { Task } from './tasks.js'

const MOST_SHARDS = 1000
/** When a shard is too large, the new number of shards leaves room to grow to twice the size. */
const ROOM = 2

/** Moves lists to another number of shards without interrupting checks. */
export class Resharding implements ReshardStore {
  private readonly stop = new AbortController()
  private running: Promise<unknown> | undefined

  constructor(
    private readonly context: BulkContext,
    private readonly replaces: ReplaceCleanup,
    private readonly shardAbove: number,
  ) {}

  /**
   * No member is lost or invented, and checks are answered throughout. Changes wait some milliseconds during the
   * switch. If the process is killed, the list is either unchanged or moved.
   */
  async reshard(listId: string, shards: number, options: ReshardOptions = {}): Promise<ReshardOutcome> {
    if (!Number.isInteger(shards) || shards < 1 || shards > MOST_SHARDS) {
      throw invalid('shards', `must be a whole number from 1 to ${MOST_SHARDS}`)
    }
    for (let round = 0; round < ROUNDS; round++) {
      const list = await this.context.catalog.read(listId)
      if (list === undefined) return { outcome: 'list-not-found' }
      if (list.shardCount === shards && !(await this.isLeft(list))) return { outcome: 'unchanged' }
      const move = new Move(this.context, this.replaces, list, shards, options)
      const refusal = await move.claim()
      if (refusal === undefined) return this.moved(move, list, shards)
      if (refusal === 'same') return { outcome: 'unchanged' }
      if (refusal === 'moving') return { outcome: 'reshard-running' }
      if (refusal === 'replacing') return { outcome: 'replace-running' }
      if (refusal === 'dead') await thawIfDead(this.context, list)
      if (refusal === 'dropping') await finishDropping(this.context, list)
    }
    throw new CatracaError('ENGINE_UNAVAILABLE', `another process is changing the shards of ${listId}`)
  }

  /** The progress of a move; undefined if the list is not moving. */
  async progress(listId: string): Promise<(ReshardProgress & { shards: number }) | undefined> {
    const meta = await this.context.catalog.readMeta(listId)
    if (meta?.moving === undefined || meta.deleted !== undefined) return undefined
    const { phase, copied, total, shards } = JSON.parse(meta.moving) as Moving
    return { phase, copied, total, shards }
  }

  /** Upkeep: cleans up after dead moves, and starts to move a list whose shards have become too large. */
  readonly task: Task = async (listId, meta) => {
    const list = await this.context.catalog.read(listId)
    if (list?.incarnation !== meta.incarnation) return { swept: 0, more: false }
    if (meta.dropping !== undefined) await thawAll(this.context, listId)
    if (meta.moving !== undefined) await thawIfDead(this.context, list)
    else if (meta.replacing === undefined) await this.growIfDue(list, meta)
    return { swept: Number(meta.dropping !== undefined), more: false }
  }

  async close(): Promise<void> {
    this.stop.abort(new CatracaError('CLOSED', 'this instance was closed'))
    await this.running
  }

  private async moved(move: Move, list: RedisList, shards: number): Promise<ReshardOutcome> {
    try {
      return { outcome: 'resharded', shards, customerCount: await move.run() }
    } catch (error) {
      if (!(error instanceof MoveStopped)) throw error
      const now = await this.context.catalog.read(list.id)
      if (now?.incarnation !== list.incarnation) return { outcome: 'list-not-found' }
      throw new CatracaError(
        'ENGINE_UNAVAILABLE',
        error.reason === 'gap'
          ? 'the members changed faster than they could be moved, or another program changes them; nothing was moved'
          : 'another instance has taken over the move',
      )
    }
  }

  /** Finishes a move that has switched but not cleaned up. */
  private async isLeft(list: RedisList): Promise<boolean> {
    await finishDropping(this.context, list)
    return (await this.context.catalog.readMeta(list.id))?.moving !== undefined
  }

  /** One at a time, in the background: it takes longer than a step of upkeep may. */
  private async growIfDue(list: RedisList, { shards }: Meta): Promise<void> {
    if (this.running !== undefined || this.stop.signal.aborted) return
    const { redis } = this.context
    const sizes = await Promise.all(
      this.context.shards.all(list).map(({ keys }) => redis.read(keys.members, ['SCARD', keys.members])),
    )
    if (!sizes.some((size) => Number(size) > this.shardAbove)) return
    const customers = sizes.reduce((sum: number, size) => sum + Number(size), 0)
    const wanted = Math.min(
      MOST_SHARDS,
      Math.max(shards + 1, Math.ceil((ROOM * customers) / this.shardAbove)),
    )
    this.running = this.reshard(list.id, wanted, { signal: this.stop.signal })
      // The next sweep tries again. A caller that reshards explicitly gets the error.
      .catch(() => {})
      .finally(() => {
        this.running = undefined
      })
  }
}
