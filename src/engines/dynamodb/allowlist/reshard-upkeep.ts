import { randomUUID } from 'node:crypto'
import { Expression } from '../client/expression.js'
import type { TransactionItem } from '../client/transactions.js'
import type { DueTask } from './due.js'
import { giantKey } from './items.js'
import type { StoredList } from './meta.js'
import { type MoveState, Moves } from './moves.js'
import { metaStep } from './replace-states.js'
import { MOVE_LEASE_MS, type Mover } from './reshard.js'
import { ReshardRows } from './reshard-rows.js'
import { layoutFor, type SizeStep } from './shard-sizes.js'
import type { Store } from './store.js'
import type { TaskResult } from './upkeep.js'

const VERB = 'allowlist.move'
const DROPPED_AT_ONCE = 1000

/** Upkeep of moves, one step at a time. */
export class MoveUpkeep {
  private readonly moves: Moves
  private readonly owner = randomUUID()

  constructor(
    private readonly store: Store,
    private readonly mover: Mover,
    private readonly sizes: readonly SizeStep[],
  ) {
    this.moves = new Moves(store)
  }

  /** Continues a move whose process died, deletes the old places, and begins moves that are due. */
  async watch({ parts: [listId = ''] }: DueTask, now: number): Promise<TaskResult> {
    const list = await this.store.catalog.read(listId)
    if (list === undefined) return 'done'
    const state = await this.moves.read(list)
    if (state === undefined) return this.grow(list, now)
    if (state.phase === 'drop') return this.drop(list, state, now)
    const isMine = state.owner === this.owner
    if (!isMine && state.leaseUntil > now) return { again: state.leaseUntil }
    const taken = isMine ? state : await this.moves.takeOver(state, this.owner, now + MOVE_LEASE_MS)
    const next = taken && (await this.mover.step(taken, MOVE_LEASE_MS, () => now))
    if (next?.phase === 'drop') return 'done'
    return next === undefined ? { again: now + MOVE_LEASE_MS } : 'more'
  }

  private async grow(list: StoredList, now: number): Promise<TaskResult> {
    const to = layoutFor(this.sizes, list.customerCount)
    if (to.shardCount <= list.shardCount || list.giant) return 'done'
    const begun = await this.mover.begin(list.id, to, this.owner, MOVE_LEASE_MS, () => now)
    return 'phase' in begun ? 'more' : { again: now + MOVE_LEASE_MS }
  }

  private async drop(list: StoredList, state: MoveState, now: number): Promise<TaskResult> {
    if (state.dropAt !== undefined && state.dropAt > now) return { again: state.dropAt }
    const rows = new ReshardRows(this.store, list, state.from, state.to)
    const { dropped, more } = await rows.drop(state.shard, DROPPED_AT_ONCE)
    const next = {
      ...state,
      dropped: state.dropped + dropped,
      updatedAt: now,
      shard: state.shard + Number(!more),
    }
    if (next.shard < state.from.shardCount) {
      await this.moves.save(next)
      return 'more'
    }
    const { tables, client, catalog } = this.store
    const steps: TransactionItem[] = [
      metaStep(tables.allowlists, list, new Expression().remove('dropping')),
      this.moves.delete(state),
    ]
    if (state.from.giant) steps.push({ Delete: { TableName: tables.allowlists, Key: giantKey(list.id) } })
    const { applied } = await client.transactWrite(VERB, steps)
    catalog.forget(list.id)
    return applied ? 'done' : 'more'
  }
}
