import type { Clock } from '../../../core/clock.js'
import { isPromise, type MaybePromise } from '../../../core/maybe-promise.js'
import type { NoteStep } from '../explainer.js'
import type { CheckedList, CheckView, MemberState } from '../port.js'
import { CustomerProbe } from './hash.js'
import type { Indexes } from './indexes.js'
import type { ListIndex } from './list-index.js'

export interface TracedParts {
  engine: CheckView
  /** For members of lists that are not in memory. */
  direct: CheckView
  indexes: Indexes
  clock: Clock
  /** How often the engine read the record of a list. */
  listReads(): number
}

/** Follows the same steps as `IndexedView` and records each. It counts and caches nothing. */
export class TracedView implements CheckView {
  private readonly probe = new CustomerProbe()

  constructor(
    private readonly parts: TracedParts,
    private readonly note: NoteStep,
  ) {}

  async list(listId: string): Promise<CheckedList | undefined> {
    const { engine, listReads } = this.parts
    const beganMs = performance.now()
    const before = listReads()
    const found = engine.list(listId)
    const isRead = isPromise(found) || listReads() !== before
    const list = await found
    const detail = isRead ? 'read from the store' : 'from memory'
    this.note('list', list === undefined ? 'not-found' : isRead ? 'store' : 'memory', beganMs, { detail })
    return list
  }

  async member(list: CheckedList, customerId: string): Promise<MemberState | undefined> {
    const { indexes, direct } = this.parts
    const beganMs = performance.now()
    const index = indexes.usable(list)
    if (index === undefined) {
      const isThere = indexes.get(list.incarnation).index !== undefined
      this.note('index', isThere ? 'stale' : 'absent', beganMs)
      return this.stored(direct, list, customerId)
    }
    this.note('index', 'usable', beganMs)
    const finding = this.find(index, list, customerId)
    if (finding === 'no') return undefined
    return finding === 'maybe' ? this.confirm(list, customerId) : finding
  }

  private find(index: ListIndex, list: CheckedList, customerId: string) {
    const isTrusted = list.precision === 'trusted'
    this.probe.setId(customerId)
    const beganMs = performance.now()
    if (index.isChanged(this.probe)) {
      const finding = index.find(this.probe, isTrusted)
      this.note('overlay', finding === 'no' ? 'removed' : 'added', beganMs)
      return finding
    }
    this.note('overlay', 'nothing', beganMs)
    const filterBeganMs = performance.now()
    const finding = index.find(this.probe, isTrusted)
    this.note('filter', finding === 'no' || finding === 'maybe' ? finding : 'trusted', filterBeganMs)
    return finding
  }

  private confirm(list: CheckedList, customerId: string): MaybePromise<MemberState | undefined> {
    const { indexes, clock, engine } = this.parts
    const beganMs = performance.now()
    const known = indexes.verified.peek(list.incarnation, customerId, clock.now())
    const outcome = known === undefined ? 'nothing' : known.state === undefined ? 'not-member' : 'member'
    this.note('verified', outcome, beganMs)
    return known === undefined ? this.stored(engine, list, customerId) : known.state
  }

  private async stored(
    view: CheckView,
    list: CheckedList,
    customerId: string,
  ): Promise<MemberState | undefined> {
    const beganMs = performance.now()
    const state = await view.member(list, customerId)
    this.note('store', state === undefined ? 'not-member' : 'member', beganMs)
    return state
  }
}
