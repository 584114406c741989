import { isPromise, type MaybePromise } from '../../../core/maybe-promise.js'
import type { Position } from '../changes/port.js'
import type { CheckedList, CheckStore, CheckView, Freshness, MemberState, WriteToken } from '../port.js'
import type { HotFinding, HotSets, MemberSource } from './port.js'
import { reaches } from './positioned-feed.js'

interface HotChecksParts {
  checks: CheckStore
  sets: Pick<HotSets, 'find'>
  listIds: ReadonlySet<string>
  stateOf: MemberSource['stateOf']
  /** Position of the snapshot whose `maybe` is being confirmed. Memory itself contains all later changes. */
  snapshotPosition(incarnation: number): Position | undefined
  /** How far this process has read the log. */
  seen(incarnation: number): Position | undefined
  report(message: string, error: unknown): void
}

/** How long the sets are not used after a failure. */
const PAUSE_MS = 1000
/** `addedAt` is unknown here; only the store has it. */
const MEMBER: MemberState = Object.freeze({})

/** A check store that confirms uncertain memberships with the hot sets before it queries the engine. */
export class HotChecks implements CheckStore {
  readonly counts = { answered: 0, passedOn: 0 }
  /** For lists that are not in memory. */
  readonly direct: CheckView
  private readonly ordinary: CheckView
  private pausedUntilMs = Number.NEGATIVE_INFINITY
  private isFailing = false

  constructor(private readonly parts: HotChecksParts) {
    const { checks, seen, snapshotPosition } = parts
    const now = checks.view(undefined)
    const strong = checks.view('strong')
    if (isPromise(now) || isPromise(strong))
      throw new TypeError('a view of the present must not be asynchronous')
    const through = (view: CheckView, floor: (incarnation: number) => Position | undefined): CheckView => ({
      list: (listId) => view.list(listId),
      member: (list, customerId) => this.member(view, list, customerId, floor),
    })
    this.ordinary = through(now, (incarnation) => snapshotPosition(incarnation) ?? seen(incarnation))
    this.direct = through(strong, seen)
  }

  /** Checks that need more freshness than the default go to the store. */
  view(freshness: Freshness): MaybePromise<CheckView> {
    return freshness === undefined ? this.ordinary : this.parts.checks.view(freshness)
  }

  readToken(token: string): WriteToken {
    return this.parts.checks.readToken(token)
  }

  tokenAt(list: CheckedList, position: Position): string | undefined {
    return this.parts.checks.tokenAt(list, position)
  }

  private member(
    store: CheckView,
    list: CheckedList,
    customerId: string,
    floor: (incarnation: number) => Position | undefined,
  ): MaybePromise<MemberState | undefined> {
    const { listIds, sets } = this.parts
    if (!listIds.has(list.id) || performance.now() < this.pausedUntilMs) {
      return store.member(list, customerId)
    }
    // Read before the query: the result need not include what this process learns while the query is in flight.
    const atLeast = floor(list.incarnation)
    return sets.find(list.id, customerId).then(
      (finding) => {
        this.isFailing = false
        if (!this.isEnough(finding, list, atLeast)) return this.passOn(store, list, customerId)
        this.counts.answered++
        return finding.found === 'member' ? MEMBER : undefined
      },
      (error: unknown) => {
        this.failed(error)
        return this.passOn(store, list, customerId)
      },
    )
  }

  private isEnough(
    finding: HotFinding | undefined,
    list: CheckedList,
    atLeast: Position | undefined,
  ): finding is HotFinding {
    return (
      finding !== undefined &&
      finding.found !== 'unsure' &&
      finding.state === this.parts.stateOf(list) &&
      (atLeast === undefined || reaches(finding.position, atLeast))
    )
  }

  private passOn(
    store: CheckView,
    list: CheckedList,
    customerId: string,
  ): MaybePromise<MemberState | undefined> {
    this.counts.passedOn++
    return store.member(list, customerId)
  }

  private failed(error: unknown): void {
    this.pausedUntilMs = performance.now() + PAUSE_MS
    if (this.isFailing) return
    this.isFailing = true
    this.parts.report('the hot tier does not answer; checks read the store', error)
  }
}
