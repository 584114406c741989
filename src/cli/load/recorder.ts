import { Histogram } from './histogram.js'
import type { FailureKind, LoadObserver, LoadRequest, Operation } from './request.js'
import type { CurvePoint, GeneratorHealth, OperationResult, Sample, Summary } from './result.js'

/** A request that is sent later than this counts as delayed by the generator. */
const LATE_MS = 5
const SATURATED_LATE_SHARE = 0.01
const CURVE = [
  ...[0, 0.25, 0.5, 0.75, 0.9, 0.95, 0.975, 0.99, 0.995, 0.9975, 0.999, 0.9995, 0.9999, 0.99999],
  1,
]

interface Tally {
  latency: Histogram
  answered: number
  errors: number
}

interface Window {
  latency: Histogram
  sent: number
  answered: number
  errors: number
}

/** Counts the events of the generator. Requests that were due before `measureFromMs` are warm-up and do not count. */
export class Recorder implements LoadObserver {
  private readonly latency = new Histogram()
  private readonly service = new Histogram()
  private readonly lag = new Histogram()
  private readonly operations = new Map<Operation, Tally>()
  private readonly statuses = new Map<number, number>()
  private readonly window: Window = { latency: new Histogram(), sent: 0, answered: 0, errors: 0 }
  readonly samples: Sample[] = []
  readonly errors: Record<FailureKind, number> = {
    ...{ status: 0, refused: 0, reset: 0, timeout: 0, protocol: 0, unsent: 0 },
  }
  measureFromMs = 0
  /** Later responses count for latency, but not for the rate. */
  measureUntilMs = Number.POSITIVE_INFINITY
  /** Responses between both times, including those to requests of the warm-up. */
  answeredInTime = 0
  dueCount = 0
  private late = 0
  private waited = 0

  /** `secondsBefore`: the number of the second before the first, negative when the run starts with a warm-up. */
  constructor(private readonly secondsBefore = 0) {}

  due(dueMs: number, noticedMs: number): void {
    if (dueMs < this.measureFromMs) return
    this.dueCount++
    const lagMs = noticedMs - dueMs
    this.lag.add(lagMs)
    if (lagMs > LATE_MS) this.late++
  }

  sent(dueMs: number, noticedMs: number, sentMs: number): void {
    this.window.sent++
    // Requests that were noticed together are written one after another; that is not waiting for a connection.
    if (dueMs >= this.measureFromMs && sentMs - noticedMs > LATE_MS) this.waited++
  }

  answered(request: LoadRequest, dueMs: number, sentMs: number, endMs: number, status: number): void {
    const { operation } = request
    const isError = !operation.expects(status)
    this.window.answered++
    this.window.latency.add(endMs - dueMs)
    if (isError) this.window.errors++
    if (endMs >= this.measureFromMs && endMs < this.measureUntilMs) this.answeredInTime++
    if (dueMs < this.measureFromMs) return
    this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1)
    const tally = this.tallyOf(operation)
    tally.answered++
    this.took(tally, endMs - dueMs, endMs - sentMs)
    if (!isError) return
    this.errors.status++
    tally.errors++
  }

  failed(
    { operation }: LoadRequest,
    kind: FailureKind,
    dueMs: number,
    sentMs: number | undefined,
    endMs: number,
  ): void {
    this.window.errors++
    if (dueMs < this.measureFromMs) return
    this.errors[kind]++
    const tally = this.tallyOf(operation)
    tally.errors++
    // A request that timed out took at least this time. Other failures are fast, and would lower the latency.
    if (kind === 'timeout') this.took(tally, endMs - dueMs, endMs - (sentMs ?? endMs))
  }

  /** Ends a second and returns its sample. */
  sample(inFlight: number): Sample {
    const { latency, sent, answered, errors } = this.window
    const at = (share: number) => (latency.count === 0 ? 0 : latency.percentile(share))
    const sample = {
      ...{ second: this.secondsBefore + this.samples.length + 1, sent, answered, errors, inFlight },
      ...{ p50: at(0.5), p95: at(0.95), p99: at(0.99) },
    }
    this.samples.push(sample)
    latency.clear()
    Object.assign(this.window, { sent: 0, answered: 0, errors: 0 })
    return sample
  }

  summaries(): { latencyMs: Summary; serviceMs: Summary } {
    return { latencyMs: summary(this.latency), serviceMs: summary(this.service) }
  }

  get answeredCount(): number {
    return [...this.statuses.values()].reduce((sum, count) => sum + count, 0)
  }

  get errorCount(): number {
    return Object.values(this.errors).reduce((sum, count) => sum + count, 0)
  }

  statusCounts(): Record<string, number> {
    return Object.fromEntries([...this.statuses].sort(([a], [b]) => a - b))
  }

  operationResults(): OperationResult[] {
    return [...this.operations].map(([{ name }, { latency, answered, errors }]) => ({
      ...{ name, answered, errors, share: answered / Math.max(1, this.answeredCount) },
      latencyMs: summary(latency),
    }))
  }

  curve(): CurvePoint[] {
    if (this.latency.count === 0) return []
    return CURVE.map((percentile) => ({
      percentile,
      latencyMs: this.latency.percentile(percentile),
      serviceMs: this.service.percentile(percentile),
    }))
  }

  generatorHealth(peakConnections: number, maxConnections: number): GeneratorHealth {
    const { late, waited } = this
    const lateShare = late / Math.max(1, this.dueCount)
    const saturation: string[] = []
    if (lateShare > SATURATED_LATE_SHARE)
      saturation.push(
        `${(100 * lateShare).toFixed(1)} % of the requests were sent late by the generator itself`,
      )
    if (waited > 0 && peakConnections >= maxConnections)
      saturation.push(`${waited} requests waited because all ${maxConnections} connections were busy`)
    const lagP99Ms = this.lag.count === 0 ? 0 : this.lag.percentile(0.99)
    return { late, lateShare, lagP99Ms, waited, peakConnections, saturation }
  }

  private took(tally: Tally, latencyMs: number, serviceMs: number): void {
    this.latency.add(latencyMs)
    this.service.add(serviceMs)
    tally.latency.add(latencyMs)
  }

  private tallyOf(operation: Operation): Tally {
    let tally = this.operations.get(operation)
    if (tally === undefined) {
      tally = { latency: new Histogram(), answered: 0, errors: 0 }
      this.operations.set(operation, tally)
    }
    return tally
  }
}

function summary(histogram: Histogram): Summary {
  const at = (share: number) => (histogram.count === 0 ? 0 : histogram.percentile(share))
  return {
    mean: histogram.count === 0 ? 0 : histogram.meanMs,
    ...{ p50: at(0.5), p90: at(0.9), p95: at(0.95), p99: at(0.99), p999: at(0.999), max: at(1) },
  }
}
