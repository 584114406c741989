import type { Catraca } from '../catraca.js'
import { HttpFigures, type MetricsRegistry, metricsOf } from '../metrics/index.js'
import { CHECK_ROUTE } from './check/visit.js'
import type { ServerSettings } from './options.js'

/** What a server counts of itself, and the registry that shows it. */
export class ServerMetrics {
  readonly http = new HttpFigures()
  readonly registry: MetricsRegistry
  /** For checks that are answered without the framework: nearly all requests, and nearly all alike. */
  readonly checkAnswered = this.http.counter('GET', CHECK_ROUTE, 200)

  constructor(
    catraca: Catraca,
    private readonly settings: Pick<ServerSettings, 'ready' | 'gatherMetrics'>,
  ) {
    const { http } = this
    this.registry = metricsOf(catraca, { http, ready: () => settings.ready(), process: true })
  }

  /** Of this process, or of all workers together. */
  text(): Promise<string> {
    const { gatherMetrics } = this.settings
    return gatherMetrics === undefined ? this.registry.metrics() : gatherMetrics(this.registry)
  }
}
