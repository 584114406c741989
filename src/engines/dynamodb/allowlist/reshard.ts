import { randomUUID } from 'node:crypto'
import { ImportStopped } from '../../../guards/allowlist/import/stored-import.js'
import { number, text } from '../client/attributes.js'
import { Expression } from '../client/expression.js'
import type { TransactionItem } from '../client/transactions.js'
import { BatchCounts } from './batch-counts.js'
import { GenerationSweeps } from './generation-sweeps.js'
import { ImportLease } from './import-lease.js'
import { ImportRecords } from './imports.js'
import { giantKey, type Layout } from './items.js'
import { GIANT_STORAGE, type StoredList } from './meta.js'
import { encodeLayout, type MoveState, Moves } from './moves.js'
import { metaStep } from './replace-states.js'
import { ReshardRows } from './reshard-rows.js'
import { graceMs, type Store } from './store.js'

const VERB = 'allowlist.move'
/** Upkeep task of a list that is moved, or may have to be; the part is its id. */
export const MOVE = 'MOVE'
const STRETCH = 500
export const MOVE_LEASE_MS = 30_000

interface MoveOptions {
  now?: () => number
  leaseMs?: number
  onProgress?: (state: MoveState) => void
  /** Stops it between two steps; it can be resumed. */
  signal?: AbortSignal
}

/** `moved`: from now on the new places are authoritative; upkeep deletes the old ones. */
type MoveOutcome =
  | { outcome: 'moved' | 'stopped'; state: MoveState }
  /** A replace is running; or another process moves the list, or an earlier move is not cleaned up yet. */
  | { outcome: 'list-not-found' | 'already-there' | 'replace-running' | 'move-running' }

type NotBegun = Exclude<MoveOutcome, { state: MoveState }>

/** Moves lists to another number of shards, or to the table for giants, without interrupting checks. */
export class Mover {
  private readonly moves: Moves
  private readonly batches: BatchCounts
  private readonly generations: GenerationSweeps

  constructor(private readonly store: Store) {
    this.moves = new Moves(store)
    this.batches = new BatchCounts(store, new ImportRecords(store))
    this.generations = new GenerationSweeps(store)
  }

  /** Begins or resumes a move, and returns when the new places are authoritative. */
  async move(listId: string, to: Layout, options: MoveOptions = {}): Promise<MoveOutcome> {
    const { now = Date.now, leaseMs = MOVE_LEASE_MS, onProgress, signal } = options
    const owner = randomUUID()
    const begun = await this.begin(listId, to, owner, leaseMs, now)
    if (!('phase' in begun)) return begun
    let state = begun
    while (state.phase !== 'drop') {
      if (signal?.aborted === true) {
        // Releases the lease, so that it can be resumed at once.
        await this.moves.save({ ...state, leaseUntil: 0 })
        return { outcome: 'stopped', state }
      }
      const next = await this.step(state, leaseMs, now)
      if (next === undefined) return { outcome: 'move-running' }
      state = next
      onProgress?.(state)
    }
    return { outcome: 'moved', state }
  }

  async progress(listId: string): Promise<MoveState | undefined> {
    const list = await this.store.catalog.read(listId)
    return list && this.moves.read(list)
  }

  async begin(
    listId: string,
    to: Layout,
    owner: string,
    leaseMs: number,
    now: () => number,
  ): Promise<MoveState | NotBegun> {
    for (;;) {
      const list = await this.store.catalog.read(listId)
      if (list === undefined) return { outcome: 'list-not-found' }
      const running = await this.moves.read(list)
      if (running !== undefined && running.phase !== 'drop') {
        if (!isSame(running.to, to) || running.leaseUntil > now()) return { outcome: 'move-running' }
        const taken = await this.moves.takeOver(running, owner, now() + leaseMs)
        if (taken !== undefined) return taken
        continue
      }
      if (isSame(list, to)) return { outcome: 'already-there' }
      // An earlier move must be cleaned up first: its old places may be needed.
      if (running !== undefined) return { outcome: 'move-running' }
      if (list.replacing !== undefined) return { outcome: 'replace-running' }
      if (list.undoing !== undefined) {
        while ((await this.generations.undo(listId)) === 'more');
        continue
      }
      const state = newState(list, to, owner, now(), leaseMs)
      if (await this.start(list, state)) return state
    }
  }

  private async start(list: StoredList, state: MoveState): Promise<boolean> {
    const { tables, client, due, catalog } = this.store
    const { M: layout } = encodeLayout(state.to)
    const moving = { M: { ...layout, layout: number(list.layout + 1) } }
    const expression = new Expression().set({ moving })
    expression.when(expression.absent('dropping'), expression.absent('undoing'))
    const steps: TransactionItem[] = [
      metaStep(tables.allowlists, list, expression),
      this.moves.create(state),
      due.put({ kind: MOVE, at: state.leaseUntil, parts: [list.id] }),
    ]
    // Before any member is there: it may contain too many lists, but never too few.
    if (state.to.giant) steps.push({ Put: { TableName: tables.allowlists, Item: giantKey(list.id) } })
    const { applied } = await client.transactWrite(VERB, steps)
    catalog.forget(list.id)
    return applied
  }

  /** Does a limited amount of work. Undefined: another process has taken over. */
  async step(state: MoveState, leaseMs: number, now: () => number): Promise<MoveState | undefined> {
    const list = await this.store.catalog.read(state.listId)
    if (list?.incarnation !== state.incarnation || list.moving === undefined) return undefined
    const renewed = (change: Partial<MoveState>): MoveState => ({
      ...state,
      updatedAt: now(),
      leaseUntil: now() + leaseMs,
      ...change,
    })
    if (state.phase === 'wait') {
      await this.batches.allClosed(list.id, now)
      return this.saved(renewed({ phase: 'copy' }))
    }
    const rows = new ReshardRows(this.store, list, state.from, state.to)
    const layout = state.phase === 'clean' ? state.to : state.from
    const stretch = await rows.read(layout, state.shard, state.behind, STRETCH)
    const done = await this.work(rows, state, stretch.rows, leaseMs, now)
    if (done === undefined) return undefined
    const { behind: _, ...base } = renewed(done)
    if (stretch.behind !== undefined) return this.saved({ ...base, behind: stretch.behind })
    if (state.shard + 1 < layout.shardCount) return this.saved({ ...base, shard: state.shard + 1 })
    return this.endOfPhase(list, { ...base, shard: 0 }, now)
  }

  private async saved(state: MoveState): Promise<MoveState | undefined> {
    return (await this.moves.save(state)) ? state : undefined
  }

  private async work(
    rows: ReshardRows,
    state: MoveState,
    stretch: Parameters<ReshardRows['copy']>[0],
    leaseMs: number,
    now: () => number,
  ): Promise<Partial<MoveState> | undefined> {
    const { copied, checked, repaired } = state
    if (state.phase !== 'copy') {
      const mended = await (state.phase === 'check' ? rows.check(stretch) : rows.clean(stretch))
      return { checked: checked + stretch.length, repaired: repaired + mended }
    }
    const renew = (at: number) => this.moves.save({ ...state, leaseUntil: at + leaseMs })
    const lease = new ImportLease({ leaseMs }, now(), state.leaseUntil, renew)
    try {
      return { copied: copied + (await rows.copy(stretch, lease)) }
    } catch (error) {
      if (error instanceof ImportStopped) return undefined
      throw error
    }
  }

  private async endOfPhase(
    list: StoredList,
    state: MoveState,
    now: () => number,
  ): Promise<MoveState | undefined> {
    switch (state.phase) {
      case 'copy':
        return this.saved({ ...state, phase: 'check' })
      case 'check':
        return this.saved({ ...state, phase: 'clean' })
      default:
        return this.flip(list, { ...state, phase: 'drop', dropAt: now() + graceMs(this.store.settings) })
    }
  }

  /** The single step after which every reader uses the new places. */
  private async flip(list: StoredList, state: MoveState): Promise<MoveState | undefined> {
    const dropping = { M: { ...encodeLayout(state.from).M, layout: number(list.layout) } }
    const layout = { shardCount: number(state.to.shardCount), layout: number(list.layout + 1) }
    const update = new Expression().set({ ...layout, dropping }).remove('moving')
    if (state.to.giant) update.set({ storage: text(GIANT_STORAGE) })
    else update.remove('storage')
    const { client, tables, due, catalog } = this.store
    const { applied } = await client.transactWrite(VERB, [
      metaStep(tables.allowlists, list, update),
      due.put({ kind: MOVE, at: state.dropAt!, parts: [list.id] }),
      this.moves.put(state),
    ])
    catalog.forget(list.id)
    return applied ? state : undefined
  }
}

const isSame = (a: Layout, b: Layout): boolean => a.shardCount === b.shardCount && a.giant === b.giant

function newState(list: StoredList, to: Layout, owner: string, now: number, leaseMs: number): MoveState {
  return {
    listId: list.id,
    incarnation: list.incarnation,
    from: { shardCount: list.shardCount, giant: list.giant },
    to: { shardCount: to.shardCount, giant: to.giant },
    phase: 'wait',
    owner,
    leaseUntil: now + leaseMs,
    shard: 0,
    total: Math.max(0, list.customerCount),
    copied: 0,
    checked: 0,
    repaired: 0,
    dropped: 0,
    startedAt: now,
    updatedAt: now,
  }
}
