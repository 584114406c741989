import { getHeapStatistics } from 'node:v8'
import { type Clock, isoTime, systemClock } from '../core/clock.js'
import { Durations } from '../core/figures.js'
import { every } from '../core/timers.js'
import type { MetricsSource } from './group.js'
import { type Lookups, lookupsOf, lookupsSince } from './lookups.js'
import { LoopDelay } from './loop-delay.js'
import { residentBytes } from './process-figures.js'

const SERIES_STEP_MS = 5_000
const KEPT = 720

const NAMES = [
  'checksPerSecond',
  'allowedPerSecond',
  'deniedPerSecond',
  'degradedPerSecond',
  'fromMemoryShare',
  'checkP50Ms',
  'checkP95Ms',
  'checkP99Ms',
  'requestsPerSecond',
  'httpP50Ms',
  'httpP95Ms',
  'httpP99Ms',
  'limitsAllowedPerSecond',
  'limitsDeniedPerSecond',
  'cacheHitShare',
  'eventLoopLagMs',
  'residentBytes',
  'heapUsedBytes',
] as const

export type SeriesName = (typeof NAMES)[number]
type Point = Record<SeriesName, number>

export interface SeriesAnswer {
  stepSeconds: number
  /** Start of the first step. */
  from: string
  /** Oldest first; null when there was nothing to measure. */
  points: Record<SeriesName, (number | null)[]>
}

/** Counters that only grow, at one moment. */
interface Totals {
  at: number
  allowed: number
  denied: number
  degraded: number
  lookups: Lookups
  check: Durations
  http: Durations
  limitsAllowed: number
  limitsDenied: number
  cacheHits: number
  cacheMisses: number
}

/** Figures of the last hour of a process: a ring of samples, each read from the counters that exist anyway. */
export class Series {
  private readonly rings = Object.fromEntries(
    NAMES.map((name) => [name, new Float64Array(KEPT).fill(Number.NaN)]),
  ) as Record<SeriesName, Float64Array>
  private readonly delay = new LoopDelay()
  private readonly timer: NodeJS.Timeout
  private taken = 0
  private last: Totals

  constructor(
    private readonly source: MetricsSource,
    private readonly clock: Clock = systemClock,
  ) {
    this.last = this.totals()
    this.timer = every(() => this.sample(), SERIES_STEP_MS)
    this.timer.unref()
  }

  /** Adds the step since the last sample. Steps that the process missed stay empty. */
  sample(): void {
    const now = this.totals()
    const ms = now.at - this.last.at
    if (ms <= 0) return
    const missed = Math.min(KEPT, Math.round(ms / SERIES_STEP_MS) - 1)
    for (let i = 0; i < missed; i++) this.put(undefined)
    this.put({ ...pointOf(now, this.last), ...this.processPoint() })
    this.last = now
  }

  read(minutes: number): SeriesAnswer {
    const count = Math.min(this.taken, KEPT, Math.ceil((minutes * 60_000) / SERIES_STEP_MS))
    const points = Object.fromEntries(NAMES.map((name) => [name, this.tail(this.rings[name], count)]))
    return {
      stepSeconds: SERIES_STEP_MS / 1000,
      from: isoTime(this.last.at - count * SERIES_STEP_MS),
      points: points as SeriesAnswer['points'],
    }
  }

  stop(): void {
    clearInterval(this.timer)
    this.delay.stop()
  }

  private put(point: Point | undefined): void {
    const at = this.taken++ % KEPT
    for (const name of NAMES) this.rings[name][at] = point?.[name] ?? Number.NaN
  }

  private tail(ring: Float64Array, count: number): (number | null)[] {
    return Array.from({ length: count }, (_, i) => {
      const value = ring[(this.taken - count + i) % KEPT]!
      return Number.isNaN(value) ? null : Math.round(value * 1000) / 1000
    })
  }

  private processPoint(): Pick<Point, 'eventLoopLagMs' | 'residentBytes' | 'heapUsedBytes'> {
    return {
      eventLoopLagMs: this.delay.take().p99 * 1000,
      residentBytes: residentBytes() ?? Number.NaN,
      heapUsedBytes: getHeapStatistics().used_heap_size,
    }
  }

  private totals(): Totals {
    const { catraca, http } = this.source
    const { figures } = catraca.allowlists
    const limits = catraca.limits.stats()
    let cacheHits = 0
    let cacheMisses = 0
    for (const { firstTierHits, secondTierHits, misses } of Object.values(catraca.cache.figures())) {
      cacheHits += firstTierHits + secondTierHits
      cacheMisses += misses
    }
    return {
      at: this.clock.now(),
      allowed: figures?.allowed ?? 0,
      denied: figures?.denied ?? 0,
      degraded: sumOf(figures?.degraded),
      lookups: lookupsOf(catraca),
      check: figures?.durations.copy() ?? new Durations(),
      http: http?.durations.copy() ?? new Durations(),
      limitsAllowed: limits.admitted + limits.degradedAllowed + limits.localAllowed,
      limitsDenied: limits.denied + limits.degradedBlocked + limits.localDenied,
      cacheHits,
      cacheMisses,
    }
  }
}

/** Every kind of degraded answer. */
const sumOf = (counts: Readonly<Record<string, number>> = {}): number =>
  Object.values(counts).reduce((sum, each) => sum + each, 0)

function pointOf(
  now: Totals,
  last: Totals,
): Omit<Point, 'eventLoopLagMs' | 'residentBytes' | 'heapUsedBytes'> {
  const seconds = (now.at - last.at) / 1000
  const { fromMemory, fromStore } = lookupsSince(now.lookups, last.lookups)
  const check = now.check.since(last.check)
  const http = now.http.since(last.http)
  const allowed = now.allowed - last.allowed
  const denied = now.denied - last.denied
  const hits = now.cacheHits - last.cacheHits
  return {
    checksPerSecond: (allowed + denied) / seconds,
    allowedPerSecond: allowed / seconds,
    deniedPerSecond: denied / seconds,
    degradedPerSecond: (now.degraded - last.degraded) / seconds,
    fromMemoryShare: fromMemory / (fromMemory + fromStore),
    checkP50Ms: percentile(check, 0.5),
    checkP95Ms: percentile(check, 0.95),
    checkP99Ms: percentile(check, 0.99),
    requestsPerSecond: http.count / seconds,
    httpP50Ms: percentile(http, 0.5),
    httpP95Ms: percentile(http, 0.95),
    httpP99Ms: percentile(http, 0.99),
    limitsAllowedPerSecond: (now.limitsAllowed - last.limitsAllowed) / seconds,
    limitsDeniedPerSecond: (now.limitsDenied - last.limitsDenied) / seconds,
    cacheHitShare: hits / (hits + now.cacheMisses - last.cacheMisses),
  }
}

const percentile = (durations: Durations, share: number): number =>
  durations.count === 0 ? Number.NaN : durations.percentileMs(share)
