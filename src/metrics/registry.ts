import { type Metric, Registry } from 'prom-client'
import { Durations } from '../core/figures.js'
import type { MetricFacts } from './group.js'

export type Labels = Record<string, string | number>
/** A value and its labels, where it has any. */
export type Reading = readonly [value: number, labels?: Labels]
export type DurationsReading = readonly [durations: Durations, labels?: Labels]

interface Sample {
  value: number
  labels: Labels
  metricName?: string
}

/**
 * A registry that reads its metrics at scrape time. Guards count in plain numbers: prom-client looks up labels at
 * each increment, which would cost a check more.
 */
export class MetricsRegistry extends Registry {
  /** A counter or a gauge. It is not shown when `read` returns nothing. */
  read(facts: MetricFacts, read: () => Iterable<Reading> | Promise<Iterable<Reading>>): void {
    this.show(facts, async () => Array.from(await read(), ([value, labels = {}]) => ({ value, labels })))
  }

  readDurations(facts: MetricFacts, read: () => Iterable<DurationsReading>): void {
    const buckets = facts.buckets ?? []
    const at = buckets.map((bucket) => boundAt(bucket * msPerUnit(facts)))
    this.show(facts, async () =>
      Array.from(read()).flatMap(([durations, labels = {}]) =>
        histogram(facts, buckets, at, durations, labels),
      ),
    )
  }

  private show({ name, help, type, together = 'sum' }: MetricFacts, read: () => Promise<Sample[]>): void {
    const get = async () => ({ name, help, type, values: await read(), aggregator: together })
    const metric = { name, help, type, aggregator: together, get, reset: () => {} }
    this.registerMetric(metric as unknown as Metric)
  }
}

const msPerUnit = ({ name }: MetricFacts): number => (name.endsWith('_ms') ? 1 : 1000)

function boundAt(boundMs: number): number {
  const at = Durations.boundsMs.findIndex((bound) => Math.abs(bound - boundMs) < bound * 1e-9)
  if (at < 0) throw new Error(`durations are not counted up to ${boundMs} ms`)
  return at
}

function histogram(
  facts: MetricFacts,
  buckets: readonly number[],
  at: readonly number[],
  { counts, count, sumMs }: Durations,
  labels: Labels,
): Sample[] {
  const { name } = facts
  const bucket = (le: string, value: number) => ({
    metricName: `${name}_bucket`,
    labels: { ...labels, le },
    value,
  })
  let sum = 0
  let next = 0
  const upTo = at.map((last) => {
    while (next <= last) sum += counts[next++]!
    return sum
  })
  return [
    ...buckets.map((bound, i) => bucket(String(bound), upTo[i]!)),
    bucket('+Inf', count),
    { metricName: `${name}_sum`, labels, value: sumMs / msPerUnit(facts) },
    { metricName: `${name}_count`, labels, value: count },
  ]
}
