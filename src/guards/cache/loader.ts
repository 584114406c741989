import { every, later } from '../../core/timers.js'
import { findingOf } from './entries.js'
import type { Entry } from './first-tier.js'
import type { Flight } from './flight.js'
import type { FlightEndings, SpaceParts } from './flight-endings.js'
import type { CacheItem, FilledItem, StoreOutcome } from './port.js'
import { DOWN, type OrDown, type StoreTime } from './second-tier.js'
import type { EntryOptions, LoadMany } from './types.js'

/** How to load the values of flights. */
export interface Work<T> {
  load: LoadMany<T>
  options: EntryOptions<T>
}

interface Made<T> {
  flight: Flight<T>
  entry: Entry<T>
  /** Undefined: must not be stored. */
  item: CacheItem | undefined
}

/** Loads from the source what flights wait for, and stores it under their leases. */
export class Loader<T> {
  constructor(
    private readonly parts: SpaceParts<T>,
    private readonly endings: FlightEndings<T>,
  ) {}

  /** `time`: what the flights have waited for the store before. The time of the source does not count. */
  async load(flights: readonly Flight<T>[], { load, options }: Work<T>, time: StoreTime): Promise<void> {
    if (flights.length === 0) return
    const { source, counts } = this.parts
    const timers = [this.softTimer(flights), this.renewing(flights)]
    try {
      const values = await source.load(
        flights.map(({ key }) => key),
        load,
      )
      await this.store(flights, values, options, time)
    } catch (error) {
      // Also when the tier was closed meanwhile: a failed release must not become an unhandled rejection.
      await this.release(flights, time).catch(() => {})
      for (const flight of flights) if (!this.endings.stale(flight)) flight.reject(error)
    } finally {
      for (const timer of timers) clearTimeout(timer)
      for (const { callers } of flights) counts.misses += callers
    }
  }

  private softTimer(flights: readonly Flight<T>[]): NodeJS.Timeout {
    return later(() => {
      for (const flight of flights) this.endings.staleMeanwhile(flight)
    }, this.parts.settings.softLoadTimeoutMs)
  }

  private renewing(flights: readonly Flight<T>[]): NodeJS.Timeout {
    const { second, settings } = this.parts
    return every(() => {
      for (const [token, keys] of byToken(flights)) {
        // If the tier was closed meanwhile, the next call to it reports that.
        second.renew(keys, token, settings.leaseMs).catch(() => {})
      }
    }, settings.leaseMs / 2).unref()
  }

  private async release(flights: readonly Flight<T>[], time: StoreTime): Promise<void> {
    const { second } = this.parts
    await Promise.all([...byToken(flights)].map(([token, keys]) => second.release(keys, token, time)))
  }

  private async store(
    flights: readonly Flight<T>[],
    values: ReadonlyMap<string, T | undefined | null>,
    options: EntryOptions<T>,
    time: StoreTime,
  ): Promise<void> {
    const { entries } = this.parts
    const made = await Promise.all(
      flights.map(async (flight): Promise<Made<T>> => {
        return { flight, ...(await entries.make(flight.key, values.get(flight.key) ?? undefined, options)) }
      }),
    )
    const outcomes = await this.storeLeased(made, time)
    await this.removeUnpublished(made, outcomes, time)
    const unstorable = made.filter(({ item }) => item === undefined).map(({ flight }) => flight)
    await this.removeUnstorable(unstorable, time)
    for (const one of made) this.settle(one, one.flight.isDegraded ? DOWN : outcomes.get(one.flight.key))
  }

  /** If a forced load could not replace the earlier value, that value must at least be removed. */
  private async removeUnpublished(
    made: readonly Made<T>[],
    outcomes: ReadonlyMap<string, OrDown<StoreOutcome>>,
    time: StoreTime,
  ): Promise<void> {
    const unpublished = made.filter(
      ({ flight, item }) =>
        flight.isForced && item !== undefined && (flight.isDegraded || outcomes.get(flight.key) === DOWN),
    )
    const keys = unpublished.map(({ flight }) => flight.key)
    if (keys.length > 0) await this.parts.second.remove(keys, time)
  }

  /** Stores nothing and removes the earlier entries, which the source has just contradicted. */
  private async removeUnstorable(flights: readonly Flight<T>[], time: StoreTime): Promise<void> {
    const { first, second } = this.parts
    const contradicted = flights
      .filter(({ fallback, isForced }) => fallback !== undefined || isForced)
      .map(({ key }) => key)
    if (contradicted.length > 0) await second.remove(contradicted, time)
    for (const key of contradicted) first.drop(key)
    const others = flights.filter(({ key }) => !contradicted.includes(key))
    await this.release(others, time)
  }

  private async storeLeased(
    made: readonly Made<T>[],
    time: StoreTime,
  ): Promise<Map<string, OrDown<StoreOutcome>>> {
    const fills: FilledItem[] = []
    for (const { flight, item } of made) {
      if (item !== undefined && flight.token !== undefined)
        fills.push({ ...item, token: flight.token, isChange: flight.isForced })
    }
    const outcomes = fills.length === 0 ? [] : await this.parts.second.store(fills, time)
    return new Map(fills.map(({ key }, i) => [key, outcomes === DOWN ? DOWN : outcomes[i]!]))
  }

  /**
   * The first tier stores values that the second tier confirmed. If the second tier is
   * down, it stores them without confirmation.
   */
  private settle({ flight, entry, item }: Made<T>, outcome: OrDown<StoreOutcome> | undefined): void {
    const { first, clock, counts } = this.parts
    const isKept = outcome === DOWN || (outcome === 'stored' && first.isTrusted)
    if (flight.isForced)
      first.replace(flight.pin, item !== undefined && isKept ? entry : undefined, clock.now())
    else if (item !== undefined && isKept) first.put(flight.pin, entry, clock.now())
    if (outcome === 'void') counts.voidFills++
    const answer = { ...findingOf(entry, clock.now()), stale: false }
    flight.resolve(outcome === DOWN ? { ...answer, degraded: true } : answer)
  }
}

function byToken<T>(flights: readonly Flight<T>[]): Map<string, string[]> {
  const keys = new Map<string, string[]>()
  for (const { token, key } of flights) {
    if (token === undefined) continue
    const same = keys.get(token)
    if (same === undefined) keys.set(token, [key])
    else same.push(key)
  }
  return keys
}
