import type { Clock } from '../../../core/clock.js'
import { isPromise, type MaybePromise, whenReady } from '../../../core/maybe-promise.js'
import type { Position } from '../changes/port.js'
import type { NoteStep } from '../explainer.js'
import type { CheckedList, CheckStore, CheckView, Freshness, MemberState, WriteToken } from '../port.js'
import { CustomerProbe } from './hash.js'
import type { Indexes } from './indexes.js'
import type { ListIndex } from './list-index.js'
import { type TracedParts, TracedView } from './traced-view.js'

export interface CheckCounts {
  /** Answered from memory: not in the filter, or removed since the snapshot. */
  filtered: number
  /** Answered from memory: added since the snapshot. */
  overlay: number
  /** Answered by the filter of a trusted list. */
  trusted: number
  /** Answered by the store, because the filter says maybe. */
  confirmed: number
  /** Answered by the store, because the list is not in memory or not fresh, or the check requires it. */
  store: number
}

/**
 * A check store with the index in front of an engine: the same results, without
 * querying the engine where memory is certain.
 */
export class IndexedChecks implements CheckStore {
  readonly counts: CheckCounts = { filtered: 0, overlay: 0, trusted: 0, confirmed: 0, store: 0 }
  private readonly inMemory: IndexedView
  private readonly views: Pick<TracedParts, 'engine' | 'direct'>

  constructor(
    private readonly engine: CheckStore,
    private readonly indexes: Indexes,
    private readonly clock: Clock,
    /** Answers for lists that are not in memory. */
    direct: MaybePromise<CheckView> = engine.view('strong'),
  ) {
    const now = engine.view(undefined)
    if (isPromise(now) || isPromise(direct))
      throw new TypeError('a view of the present must not be asynchronous')
    this.inMemory = new IndexedView(now, direct, indexes, clock, this.counts)
    this.views = { engine: now, direct }
  }

  /** The current view, recording each step. `listReads` as in `TracedParts`. */
  traced(note: NoteStep, listReads: () => number): CheckView {
    const { indexes, clock } = this
    indexes.sync()
    return new TracedView({ ...this.views, indexes, clock, listReads }, note)
  }

  view(freshness: Freshness): MaybePromise<CheckView> {
    if (freshness === undefined) {
      this.indexes.sync()
      return this.inMemory
    }
    return whenReady(this.engine.view(freshness), (view) => {
      const strong = new CountedView(view, this.counts)
      if (freshness === 'strong') return strong
      const token = this.engine.readToken(freshness.atLeast)
      const { index } = this.indexes.get(token.incarnation)
      this.indexes.sync()
      // Only an image that certainly contains the write may answer.
      if (index === undefined || !index.isUsable || !token.isIn(index.position)) return strong
      return new IndexedView(view, view, this.indexes, this.clock, this.counts)
    })
  }

  readToken(token: string): WriteToken {
    return this.engine.readToken(token)
  }

  tokenAt(list: CheckedList, position: Position): string | undefined {
    return this.engine.tokenAt(list, position)
  }

  /** A token for what checks of this list see now. Undefined if they do not see it from memory. */
  tokenNow(list: CheckedList): string | undefined {
    const { index } = this.indexes.get(list.incarnation)
    return index?.isUsable ? this.engine.tokenAt(list, index.position) : undefined
  }
}

class CountedView implements CheckView {
  constructor(
    private readonly engine: CheckView,
    private readonly counts: CheckCounts,
  ) {}

  list(listId: string): MaybePromise<CheckedList | undefined> {
    return this.engine.list(listId)
  }

  member(list: CheckedList, customerId: string): MaybePromise<MemberState | undefined> {
    this.counts.store++
    return this.engine.member(list, customerId)
  }
}

class IndexedView implements CheckView {
  private readonly probe = new CustomerProbe()
  /** The customer set in the probe: one check reads one customer in several lists. */
  private probed = ''

  constructor(
    private readonly engine: CheckView,
    /** For members of lists that are not in memory. An engine's replica may be as far behind as the image. */
    private readonly direct: CheckView,
    private readonly indexes: Indexes,
    private readonly clock: Clock,
    private readonly counts: CheckCounts,
  ) {}

  list(listId: string): MaybePromise<CheckedList | undefined> {
    return this.engine.list(listId)
  }

  member(list: CheckedList, customerId: string): MaybePromise<MemberState | undefined> {
    this.indexes.countUse(list.id)
    const index = this.indexes.usable(list)
    if (index === undefined) {
      this.counts.store++
      return this.direct.member(list, customerId)
    }
    if (customerId !== this.probed) {
      this.probe.setId(customerId)
      this.probed = customerId
    }
    const finding = index.find(this.probe, list.precision === 'trusted')
    if (finding === 'no') {
      this.counts.filtered++
      return undefined
    }
    if (finding === 'maybe') return this.confirm(index, list, customerId)
    if (list.precision === 'trusted' && finding.addedAt === undefined) this.counts.trusted++
    else this.counts.overlay++
    return finding
  }

  private confirm(
    index: ListIndex,
    list: CheckedList,
    customerId: string,
  ): MaybePromise<MemberState | undefined> {
    const { verified } = this.indexes
    const now = this.clock.now()
    const known = verified.get(list.incarnation, customerId, now)
    if (known !== undefined) return known.state
    this.counts.confirmed++
    const { changes } = index
    // The overlay has no change of this customer since the snapshot.
    const asked = this.engine.member(list, customerId, index.snapshotPosition)
    return whenReady(asked, (state) => {
      // A result from before a change must not be cached after it.
      const isCurrent = this.indexes.get(list.incarnation).index === index
      if (isCurrent && index.changes === changes && index.isUsable)
        verified.set(list.incarnation, customerId, state, now)
      return state
    })
  }
}
