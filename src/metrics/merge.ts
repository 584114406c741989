import { AggregatorRegistry, type Registry } from 'prom-client'

/** All values of a registry, as they travel between processes. */
export type MetricsJson = Awaited<ReturnType<Registry['getMetricsAsJSON']>>

/** The values of several processes as those of one, each metric by the way that its facts name. */
export function mergeMetrics(parts: readonly MetricsJson[]): Registry {
  return AggregatorRegistry.aggregate(parts as MetricsJson[] as never)
}

/** What stays true of processes that are gone: a total that became less would look like a new beginning. */
export async function remainsOf(parts: readonly MetricsJson[]): Promise<MetricsJson> {
  const growing = parts.map((part) => part.filter(isGrowing))
  return mergeMetrics(growing as MetricsJson[]).getMetricsAsJSON()
}

/** Only sums: what is the largest of all, such as the counters of Redis, those that live tell as well, and newer. */
const isGrowing = ({ type, aggregator }: MetricsJson[number]): boolean =>
  aggregator === 'sum' && ['counter', 'histogram'].includes(String(type))
