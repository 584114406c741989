import { hostname } from 'node:os'
import type { Catraca } from '../app/open-catraca.js'
import { type Clock, systemClock } from '../core/clock.js'
import { Durations } from '../core/figures.js'
import { every } from '../core/timers.js'
import { lookupsOf, lookupsSince } from './lookups.js'

const NAMESPACE = 'Allowlist/Pod'
const EVERY_MS = 60_000
/** Once over all pods, for alarms, and once for each pod. */
const DIMENSIONS = [[], ['PodId']]
const UNITS = {
  CacheHitRate: 'Percent',
  BloomFilterEfficiency: 'Percent',
  DynamoQueriesPerMinute: 'Count',
  AverageLatency: 'Milliseconds',
  P95Latency: 'Milliseconds',
} as const

type EmfName = keyof typeof UNITS

export interface EmfOptions {
  clock?: Clock
  /** Identifies this pod; the host name when absent, which is the name of the pod in Kubernetes. */
  podId?: string
  /** Receives one line without its line end; standard output when absent. */
  write?: (line: string) => void
}

/**
 * Writes the metrics that the source design sends to CloudWatch, one line in embedded metric format per minute. A
 * metric without measurements is left out: a share of 0 would trigger the alarm for an idle pod.
 */
export class EmfReporter {
  private readonly clock: Clock
  private readonly podId: string
  private readonly write: (line: string) => void
  private readonly durations: Durations
  private lookups
  private before: Durations
  private readonly timer: NodeJS.Timeout

  constructor(
    private readonly catraca: Catraca,
    options: EmfOptions = {},
  ) {
    const { clock = systemClock, podId = hostname() } = options
    const { write = (line) => process.stdout.write(`${line}\n`) } = options
    this.podId = podId
    this.clock = clock
    this.write = write
    this.durations = catraca.allowlists.figures?.durations ?? new Durations()
    this.before = this.durations.copy()
    this.lookups = lookupsOf(catraca)
    this.timer = every(() => this.report(), EVERY_MS)
    this.timer.unref()
  }

  /** Writes the changes since the last call. */
  report(): void {
    const values = this.values()
    const names = Object.keys(values) as EmfName[]
    const metrics = names.map((name) => ({ Name: name, Unit: UNITS[name] }))
    const directive = { Namespace: NAMESPACE, Dimensions: DIMENSIONS, Metrics: metrics }
    const _aws = { Timestamp: this.clock.now(), CloudWatchMetrics: [directive] }
    this.write(JSON.stringify({ _aws, PodId: this.podId, ...values }))
  }

  stop(): void {
    clearInterval(this.timer)
  }

  private values(): Partial<Record<EmfName, number>> {
    const now = lookupsOf(this.catraca)
    const { filtered, verified, fromMemory, fromStore } = lookupsSince(now, this.lookups)
    this.lookups = now
    const took = this.durations.since(this.before)
    this.before = this.durations.copy()
    const all = fromMemory + fromStore
    return {
      ...(all > 0 && { CacheHitRate: (100 * fromMemory) / all }),
      ...(all > verified && { BloomFilterEfficiency: (100 * filtered) / (all - verified) }),
      DynamoQueriesPerMinute: fromStore,
      ...(took.count > 0 && { AverageLatency: took.sumMs / took.count, P95Latency: took.percentileMs(0.95) }),
    }
  }
}
