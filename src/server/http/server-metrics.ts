import type { Catraca } from '../../app/open-catraca.js'
import {
  type ConnectionFigures,
  HttpFigures,
  ListTraffic,
  type MetricsRegistry,
  metricsOf,
  Series,
} from '../../metrics/index.js'
import type { ServerSettings } from '../options.js'

/** The metrics of a server, and the registry that shows them. */
export class ServerMetrics {
  readonly http = new HttpFigures()
  readonly registry: MetricsRegistry

  /** Metrics text of this process, or of all workers together. */
  readonly text: () => Promise<string>
  readonly series: Series
  /** Undefined when the instance counts no checks. */
  readonly traffic: ListTraffic | undefined

  constructor(
    catraca: Catraca,
    { ready, shareMetrics }: Pick<ServerSettings, 'ready' | 'shareMetrics'>,
    connections: () => ConnectionFigures,
  ) {
    const { http } = this
    this.registry = metricsOf(catraca, { http, connections, ready, process: true })
    this.text = shareMetrics?.(this.registry) ?? (() => this.registry.metrics())
    this.series = new Series({ catraca, http })
    const { figures } = catraca.allowlists
    this.traffic = figures === undefined ? undefined : new ListTraffic(figures)
  }

  stop(): void {
    this.series.stop()
    this.traffic?.stop()
  }
}
