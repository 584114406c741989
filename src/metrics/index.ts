import type { Catraca } from '../app/open-catraca.js'
import { METRIC_GROUPS } from './catalog.js'
import type { MetricsSource } from './group.js'
import { MetricsRegistry } from './registry.js'

export { METRIC_GROUPS } from './catalog.js'
export { type EmfOptions, EmfReporter } from './emf.js'
export type { ConnectionFigures, MetricFacts, MetricGroup, MetricsSource } from './group.js'
export { HttpFigures } from './http-figures.js'
export { type MetricsJson, mergeMetrics as together, remainsOf } from './merge.js'
export { MetricsRegistry } from './registry.js'
export { Series, type SeriesAnswer, type SeriesName } from './series.js'

/**
 * The metrics of an instance, as a registry of prom-client of their own: `await metricsOf(catraca).metrics()` is the
 * text that Prometheus reads. Call it once and keep it.
 */
export function metricsOf(catraca: Catraca, more: Omit<MetricsSource, 'catraca'> = {}): MetricsRegistry {
  const registry = new MetricsRegistry()
  for (const group of METRIC_GROUPS) group.register(registry, { catraca, ...more })
  return registry
}
