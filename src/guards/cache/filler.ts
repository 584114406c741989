import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { type Finding, findingOf } from './entries.js'
import type { Entry } from './first-tier.js'
import { Flight } from './flight.js'
import { FlightEndings, mayBeInvalidated, type SpaceParts } from './flight-endings.js'
import { Loader, type Work } from './loader.js'
import { DOWN, StoreTime } from './second-tier.js'

const FIRST_WAIT_MS = 10
const LONGEST_WAIT_MS = 100

/**
 * Fetches values from the second tier or the source. One flight per key in this process, and one fill per key
 * across all pods: a pod without the lease waits for the pod that has it.
 */
export class Filler<T> {
  private readonly flights = new Map<string, Flight<T>>()
  private readonly endings: FlightEndings<T>
  private readonly loader: Loader<T>

  constructor(
    private readonly parts: SpaceParts<T>,
    /** Called for each entry from the second tier, which may be due for a refresh. */
    private readonly onFound: (key: string, entry: Entry<T>, work: Work<T>) => void,
  ) {
    this.endings = new FlightEndings(parts)
    this.loader = new Loader(parts, this.endings)
  }

  /** One result per key, in the order of `keys`. */
  fetch(keys: readonly string[], work: Work<T>): Promise<Finding<T>>[] {
    const begun: Flight<T>[] = []
    const flights = keys.map((key) => {
      let flight = this.flights.get(key)
      if (flight === undefined) begun.push((flight = this.begin(key, this.lastValue(key))))
      flight.callers++
      return flight
    })
    if (begun.length > 0) void this.run(begun, work)
    return flights.map((flight) => this.join(flight))
  }

  /** Loads a new value while the current one is served. */
  refresh(key: string, entry: Entry<T>, work: Work<T>): void {
    if (this.flights.has(key)) return
    this.parts.counts.earlyRefreshes++
    const flight = this.begin(key, entry)
    flight.isRefresh = true
    const { settings, clock } = this.parts
    // The two tiers hold the same entry with slightly different expiries, apart by the time of a response. Only an
    // entry that lives clearly longer comes from another pod's refresh.
    const leftMs = entry.keepUntil - clock.now() + Math.min(settings.timeoutMs, settings.ttlMs / 10)
    void this.ending([flight], async () => {
      const time = new StoreTime()
      const { toLoad, held } = await this.beginFills([flight], work, leftMs, time)
      for (const busy of held) this.detach(busy.key)
      // Callers that joined after the entry expired still need an answer.
      const waiting = held.filter(({ callers }) => callers > 0)
      await Promise.all([this.loader.load(toLoad, work, time), this.waitFor(waiting, work)])
    })
  }

  /** Loads even if a value is cached or another load runs. The result was requested from the source after this call. */
  force(key: string, work: Work<T>): Promise<Finding<T>> {
    this.detach(key)
    const flight = this.begin(key, undefined)
    flight.callers++
    flight.isForced = true
    void this.ending([flight], async () => {
      const { second, settings } = this.parts
      const claim = { token: randomUUID(), leaseMs: settings.leaseMs, freshAboveMs: Infinity, takeOver: true }
      const time = new StoreTime()
      if ((await second.begin([key], claim, time)) === DOWN) flight.isDegraded = true
      else flight.token = claim.token
      await this.loader.load([flight], work, time)
    })
    return flight.answer
  }

  /** Later callers do not join the flight. */
  detach(key: string): void {
    this.flights.delete(key)
  }

  detachAll(): void {
    this.flights.clear()
  }

  private begin(key: string, fallback: Entry<T> | undefined): Flight<T> {
    const flight = new Flight(key, this.parts.first.pin(key), fallback, this.leave)
    this.flights.set(key, flight)
    return flight
  }

  private readonly leave = (flight: Flight<T>): void => {
    if (this.flights.get(flight.key) === flight) this.flights.delete(flight.key)
  }

  private lastValue(key: string): Entry<T> | undefined {
    const entry = this.parts.first.entries?.get(key)
    return entry !== undefined && this.parts.clock.now() < entry.keepUntil ? entry : undefined
  }

  private join(flight: Flight<T>): Promise<Finding<T>> {
    const { fallback } = flight
    const { clock, first, counts } = this.parts
    const now = clock.now()
    if (fallback === undefined || now >= fallback.keepUntil) return flight.answer
    const isFresh = now < fallback.freshUntil
    // A fresh entry without a refresh: the first tier must read the second tier again.
    const isHit = isFresh && flight.isRefresh && first.isTrusted
    if (!isHit && !flight.isAnsweredEarly) return flight.answer
    if (isFresh) counts.firstTierHits++
    else counts.staleAnswers++
    if (flight.isDegraded) counts.degraded++
    flight.callers--
    const answer = findingOf(fallback, now)
    return Promise.resolve(flight.isDegraded ? { ...answer, degraded: true } : answer)
  }

  private run(flights: readonly Flight<T>[], work: Work<T>): Promise<void> {
    return this.ending(flights, async () => {
      const time = new StoreTime()
      const missing = await this.readSecond(flights, work, time)
      if (missing.length === 0) return
      const { toLoad, held } = await this.beginFills(missing, work, this.parts.settings.staleMs, time)
      const waiting = held.filter((flight) => !this.endings.stale(flight))
      await Promise.all([this.loader.load(toLoad, work, time), this.waitFor(waiting, work)])
    })
  }

  /** Whatever happens, no caller is left waiting. */
  private async ending(flights: readonly Flight<T>[], work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      for (const flight of flights) if (!flight.isSettled) flight.reject(error)
    } finally {
      for (const flight of flights) {
        this.leave(flight)
        this.parts.first.unpin(flight.pin)
      }
    }
  }

  /** Resolves flights from the second tier or, if it is down, from the first. */
  private async readSecond(
    flights: readonly Flight<T>[],
    work: Work<T>,
    time: StoreTime,
  ): Promise<Flight<T>[]> {
    const { second, clock, first } = this.parts
    const askedAt = clock.now()
    const found = await second.read(
      flights.map(({ key }) => key),
      time,
    )
    const missing: Flight<T>[] = []
    for (const [i, flight] of flights.entries()) {
      if (found === DOWN) {
        flight.isDegraded = true
        flight.isDoubtful = mayBeInvalidated(this.parts)
        if (!this.endings.degraded(flight)) missing.push(flight)
        continue
      }
      const decoded = this.endings.decoded(flight.key, found[i], askedAt, time)
      // Most are already decoded, and an `await` has a cost.
      const entry = decoded instanceof Promise ? await decoded : decoded
      if (entry !== undefined && clock.now() < entry.freshUntil) this.found(flight, entry, work)
      else {
        // Without notices, the entry in the first tier may have been deleted.
        flight.fallback = entry ?? (first.isTrusted ? flight.fallback : undefined)
        missing.push(flight)
      }
    }
    return missing
  }

  private found(flight: Flight<T>, entry: Entry<T>, work: Work<T>): void {
    this.endings.found(flight, entry)
    this.onFound(flight.key, entry, work)
  }

  private async beginFills(
    flights: readonly Flight<T>[],
    work: Work<T>,
    freshAboveMs: number,
    time: StoreTime,
  ) {
    const toLoad = flights.filter(({ isDegraded }) => isDegraded)
    const held: Flight<T>[] = []
    const asking = flights.filter(({ isDegraded }) => !isDegraded)
    if (asking.length === 0) return { toLoad, held }
    const claim = { token: randomUUID(), leaseMs: this.parts.settings.leaseMs, freshAboveMs, takeOver: false }
    const askedAt = this.parts.clock.now()
    const starts = await this.parts.second.begin(
      asking.map(({ key }) => key),
      claim,
      time,
    )
    for (const [i, flight] of asking.entries()) {
      const start = starts === DOWN ? undefined : starts[i]!
      if (start?.state === 'held') held.push(flight)
      else if (start?.state === 'found') {
        const entry = await this.endings.decoded(flight.key, start.entry, askedAt, time)
        if (entry === undefined) toLoad.push(flight)
        else this.found(flight, entry, work)
      } else {
        if (start === undefined) flight.isDegraded = true
        else flight.token = claim.token
        toLoad.push(flight)
      }
    }
    return { toLoad, held }
  }

  /** Another pod holds the lease. Tries to take it repeatedly, until the entry appears or the lease ends. */
  private async waitFor(flights: readonly Flight<T>[], work: Work<T>): Promise<void> {
    const { settings, counts } = this.parts
    counts.waitedFills += flights.length
    const giveUpAt = performance.now() + settings.hardLoadTimeoutMs
    const loads: Promise<void>[] = []
    let waiting = flights
    for (let waitMs = FIRST_WAIT_MS; waiting.length > 0; waitMs = Math.min(LONGEST_WAIT_MS, waitMs * 1.5)) {
      await pause(waitMs)
      const time = new StoreTime()
      const { toLoad, held } = await this.beginFills(waiting, work, settings.staleMs, time)
      loads.push(this.loader.load(toLoad, work, time))
      waiting = held
      if (performance.now() < giveUpAt) continue
      // Loads without a lease: the value goes to the waiting callers and is not stored.
      loads.push(this.loader.load(waiting, work, time))
      break
    }
    await Promise.all(loads)
  }
}
