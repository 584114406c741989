import type { AnyCatraca, Catraca } from '../app/open-catraca.js'
import { METRIC_GROUPS } from './catalog.js'
import type { MetricsSource } from './group.js'
import { MetricsRegistry } from './registry.js'

export { METRIC_GROUPS } from './catalog.js'
export { type EmfOptions, EmfReporter } from './emf.js'
export type { ConnectionFigures, MetricFacts, MetricGroup, MetricsSource } from './group.js'
export { HttpFigures } from './http-figures.js'
export { ListTraffic } from './list-traffic.js'
export { type MetricsJson, mergeMetrics as together, remainsOf } from './merge.js'
export { MetricsRegistry } from './registry.js'
export { Series, type SeriesAnswer, type SeriesName } from './series.js'

/**
 * The metrics of an instance as a registry of prom-client: `await metricsOf(catraca).metrics()` is the text for
 * Prometheus. Call it once and keep the registry.
 */
export function metricsOf(catraca: AnyCatraca, more: Omit<MetricsSource, 'catraca'> = {}): MetricsRegistry {
  const registry = new MetricsRegistry()
  for (const group of METRIC_GROUPS) {
    const isOffered = group.guard === undefined || catraca[group.guard] !== undefined
    // A group reads only its own guard.
    if (isOffered) group.register(registry, { catraca: catraca as Catraca, ...more })
  }
  return registry
}
