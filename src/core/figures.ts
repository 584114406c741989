/** Plain counters of the guards. Metrics read them on request. */

/** Default number of lists, resources or spaces that get their own counters. */
export const DEFAULT_MAX_SERIES = 200
/** The name for all others. */
export const OTHER = 'other'

/** 1, 1.5, 2, 2.5, 3.5, 5 and 7.5 of each power of ten from a microsecond to 75 s: percentiles need fine steps. */
const BOUNDS_MS: readonly number[] = [-3, -2, -1, 0, 1, 2, 3, 4].flatMap((power) =>
  [1, 1.5, 2, 2.5, 3.5, 5, 7.5].map((step) => Number(`${step}e${power}`)),
)

/** A histogram of durations, of fixed size. */
export class Durations {
  static readonly boundsMs = BOUNDS_MS
  /** One per bound, and one for longer durations. */
  readonly counts = new Float64Array(BOUNDS_MS.length + 1)
  count = 0
  sumMs = 0

  add(ms: number): void {
    let i = 0
    while (i < BOUNDS_MS.length && ms > BOUNDS_MS[i]!) i++
    this.counts[i]!++
    this.count++
    this.sumMs += ms
  }

  copy(): Durations {
    const copy = new Durations()
    copy.counts.set(this.counts)
    copy.count = this.count
    copy.sumMs = this.sumMs
    return copy
  }

  /** The difference to an earlier copy. */
  since(earlier: Durations): Durations {
    const difference = new Durations()
    for (let i = 0; i < this.counts.length; i++) difference.counts[i] = this.counts[i]! - earlier.counts[i]!
    difference.count = this.count - earlier.count
    difference.sumMs = this.sumMs - earlier.sumMs
    return difference
  }

  /** The duration that this share did not exceed, interpolated within its bucket. 0 if empty. */
  percentileMs(share: number): number {
    if (this.count === 0) return 0
    const wanted = share * this.count
    let below = 0
    for (let i = 0; i < BOUNDS_MS.length; i++) {
      const here = this.counts[i]!
      if (here > 0 && below + here >= wanted) {
        const from = i === 0 ? 0 : BOUNDS_MS[i - 1]!
        return from + ((BOUNDS_MS[i]! - from) * Math.max(0, wanted - below)) / here
      }
      below += here
    }
    return BOUNDS_MS.at(-1)!
  }
}

/** Counts by name and outcome, for a limited number of names. Further names count as `other`. */
export class NamedCounts<O extends string> {
  private readonly byName = new Map<string, Record<O, number>>()

  constructor(
    private readonly outcomes: readonly O[],
    private readonly maxNames: number = DEFAULT_MAX_SERIES,
  ) {}

  /** The counts of a name, to be increased by the caller. */
  of(name: string): Record<O, number> {
    return this.byName.get(name) ?? this.begin(name)
  }

  /** Never adds a name: for names that any caller could make up. */
  ofKnown(name: string): Record<O, number> {
    return this.byName.get(name) ?? this.of(OTHER)
  }

  /** Whether a name has counts of its own, or would get them. */
  hasOrTakes(name: string): boolean {
    return this.byName.has(name) || !this.isFull()
  }

  entries(): IterableIterator<[string, Record<O, number>]> {
    return this.byName.entries()
  }

  total(outcome: O): number {
    let sum = 0
    for (const counts of this.byName.values()) sum += counts[outcome]
    return sum
  }

  private begin(name: string): Record<O, number> {
    if (name !== OTHER && this.isFull()) return this.of(OTHER)
    const counts = Object.fromEntries(this.outcomes.map((outcome) => [outcome, 0])) as Record<O, number>
    this.byName.set(name, counts)
    return counts
  }

  private isFull(): boolean {
    const others = this.byName.has(OTHER) ? 1 : 0
    return this.byName.size - others >= this.maxNames
  }
}
