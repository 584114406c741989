import type { Clock } from '../../../core/clock.js'
import { CustomerProbe } from '../membership/hash.js'
import type { Indexes } from '../membership/indexes.js'
import type { CheckedList, CheckView, Freshness, MemberState } from '../port.js'
import type { LastKnownOptions } from './options.js'
import type { RememberedLists } from './remembered-lists.js'

/** Memory does not hold what the check needs, or holds it only as it was too long ago. */
export class NotInMemory extends Error {
  override readonly name = 'NotInMemory'
}

interface LastKnownParts {
  lists: RememberedLists
  indexes: Indexes
  clock: Clock
  options: LastKnownOptions
  /** Whether images are complete at every check, so that a list record is as old as the image. */
  isImmediate: boolean
}

/** Answers checks from memory while the store is away. */
export class LastKnown {
  readonly onNotInMemory: LastKnownOptions['onNotInMemory']
  private readonly probe = new CustomerProbe()

  constructor(private readonly parts: LastKnownParts) {
    this.onNotInMemory = parts.options.onNotInMemory
  }

  /** A view for one verdict. Undefined: memory cannot prove to be as fresh as the check requires. */
  view(freshness: Freshness): LastKnownView | undefined {
    if (freshness === 'strong') return undefined
    if (freshness !== undefined) {
      const { lists, indexes } = this.parts
      const token = lists.readToken(freshness.atLeast)
      const { index } = indexes.get(token.incarnation)
      if (index === undefined || index.isLost || !token.isIn(index.position)) return undefined
    }
    return new LastKnownView(this.parts, this.probe)
  }
}

/** Memory as it was when the store was last heard of. Throws `NotInMemory` where it knows nothing. */
class LastKnownView implements CheckView {
  private knownAtMs = Number.POSITIVE_INFINITY

  constructor(
    private readonly parts: LastKnownParts,
    private readonly probe: CustomerProbe,
  ) {}

  /** When everything that this view was asked for was last known to be right, in epoch milliseconds. */
  get asOf(): number {
    return Math.min(this.parts.clock.now(), this.epochOf(this.knownAtMs))
  }

  list(listId: string): CheckedList {
    const known = this.parts.lists.find(listId)
    if (known === undefined) throw new NotInMemory()
    this.rely(known.knownAtMs)
    return known.list
  }

  /**
   * `maybe` counts as a member: the filter holds every member, and errs for one stranger in 65,536. Otherwise an
   * outage would deny every member that was not confirmed in the last minutes.
   */
  member(list: CheckedList, customerId: string): MemberState | undefined {
    const { indexes, isImmediate } = this.parts
    const { index } = indexes.get(list.incarnation)
    if (index === undefined || index.isLost) throw new NotInMemory()
    if (!isImmediate) this.rely(index.freshAtMs)
    this.probe.setId(customerId)
    const finding = index.find(this.probe, list.precision === 'trusted')
    if (finding === 'no') return undefined
    if (finding !== 'maybe') return finding
    // A change of the customer deletes the entry, so one that is there is as right as the image, however old.
    const confirmed = indexes.verified.peek(list.incarnation, customerId, Number.NEGATIVE_INFINITY)
    return confirmed === undefined ? {} : confirmed.state
  }

  private rely(knownAtMs: number): void {
    if (performance.now() - knownAtMs > this.parts.options.maxStalenessMs) throw new NotInMemory()
    if (knownAtMs < this.knownAtMs) this.knownAtMs = knownAtMs
  }

  /** The age is measured on the monotonic clock, which does not step. */
  private epochOf(monotonicMs: number): number {
    return this.parts.clock.now() - (performance.now() - monotonicMs)
  }
}
