import { AggregatorRegistry, type Registry } from 'prom-client'

/** All values of a registry, as sent between processes. */
export type MetricsJson = Awaited<ReturnType<Registry['getMetricsAsJSON']>>

/** Combines the values of several processes, each metric as its description says. */
export function mergeMetrics(parts: readonly MetricsJson[]): Registry {
  return AggregatorRegistry.aggregate(parts as MetricsJson[] as never)
}

/** The counters of dead processes, which stay in the sum: a total that decreases would look like a restart. */
export async function remainsOf(parts: readonly MetricsJson[]): Promise<MetricsJson> {
  const growing = parts.map((part) => part.filter(isGrowing))
  return mergeMetrics(growing as MetricsJson[]).getMetricsAsJSON()
}

/**
 * Only sums. A metric that is combined by maximum, such as the counters of Redis, is newer in the living processes.
 */
const isGrowing = ({ type, aggregator }: MetricsJson[number]): boolean =>
  aggregator === 'sum' && ['counter', 'histogram'].includes(String(type))
