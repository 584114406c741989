import type { Clock } from '../../core/clock.js'
import { isNone } from './content.js'
import type { Counts } from './counts.js'
import { type Entries, type Finding, findingOf } from './entries.js'
import type { Entry, FirstTier } from './first-tier.js'
import type { Flight } from './flight.js'
import type { SpaceSettings } from './options.js'
import type { StoredValue } from './port.js'
import type { SecondTier, StoreTime } from './second-tier.js'
import type { Source } from './source.js'

/** The parts that a space shares with its helpers. */
export interface SpaceParts<T> {
  settings: SpaceSettings<T>
  clock: Clock
  first: FirstTier<T>
  second: SecondTier
  entries: Entries<T>
  source: Source<T>
  counts: Counts
}

/** Whether an invalidation of first-tier entries may have been missed, and the space must therefore not trust them. */
export const mayBeInvalidated = <T>({ first, settings }: SpaceParts<T>): boolean =>
  !first.isTrusted && settings.onUnavailable === 'source'

/** The ways to resolve a flight without a load. */
export class FlightEndings<T> {
  constructor(private readonly parts: SpaceParts<T>) {}

  /** The second tier is down, and the entry in the first tier is fresh. */
  degraded(flight: Flight<T>): boolean {
    const { clock, counts } = this.parts
    const { fallback } = flight
    const now = clock.now()
    if (fallback === undefined || flight.isDoubtful || now >= fallback.freshUntil) return false
    counts.firstTierHits += flight.callers
    counts.degraded += flight.callers
    if (isNone(fallback.content)) counts.negatives += flight.callers
    flight.resolve({ ...findingOf(fallback, now), degraded: true })
    return true
  }

  found(flight: Flight<T>, entry: Entry<T>): void {
    const { clock, first, counts } = this.parts
    const now = clock.now()
    if (first.isTrusted) first.put(flight.pin, entry, now)
    counts.secondTierHits += flight.callers
    if (isNone(entry.content)) counts.negatives += flight.callers
    flight.resolve(findingOf(entry, now))
  }

  /** Resolves with the last value, if it may still be served. */
  stale(flight: Flight<T>): boolean {
    const answer = this.staleAnswer(flight)
    if (answer !== undefined) flight.resolve(answer)
    return answer !== undefined
  }

  /** The same while the load continues. */
  staleMeanwhile(flight: Flight<T>): void {
    if (flight.isDoubtful) return
    const answer = this.staleAnswer(flight)
    if (answer !== undefined) flight.resolveEarly(answer)
  }

  private staleAnswer(flight: Flight<T>): Finding<T> | undefined {
    const { clock, counts } = this.parts
    const { fallback } = flight
    const now = clock.now()
    if (fallback === undefined || now >= fallback.keepUntil || flight.isSettled) return undefined
    const waiting = flight.callers - flight.answeredEarly
    counts.staleAnswers += waiting
    if (flight.isDegraded) counts.degraded += waiting
    const answer = findingOf(fallback, now)
    if (flight.isDoubtful) answer.stale = true
    return flight.isDegraded ? { ...answer, degraded: true } : answer
  }

  /** An unreadable entry counts as absent and is deleted. Returns a promise only if there is something to wait for. */
  decoded(
    key: string,
    stored: StoredValue | undefined,
    askedAt: number,
    time?: StoreTime,
  ): Entry<T> | undefined | Promise<Entry<T> | undefined> {
    if (stored === undefined) return undefined
    try {
      const entry = this.parts.entries.read(stored, askedAt)
      return entry instanceof Promise ? entry.catch(() => this.unreadable(key, time)) : entry
    } catch {
      return this.unreadable(key, time)
    }
  }

  private async unreadable(key: string, time: StoreTime | undefined): Promise<undefined> {
    this.parts.counts.unreadable++
    await this.parts.second.remove([key], time)
  }
}
