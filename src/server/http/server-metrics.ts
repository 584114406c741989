import type { Catraca } from '../../app/open-catraca.js'
import {
  type ConnectionFigures,
  HttpFigures,
  ListTraffic,
  type MetricsRegistry,
  metricsOf,
  Series,
} from '../../metrics/index.js'
import { CHECKS } from '../../wire/allowlist/checks.js'
import type { ServerSettings } from '../options.js'

/** The path of a check, as metrics and logs name it. */
export const CHECK_ROUTE = CHECKS.checkCustomer.route.replace('GET ', '')

/** The metrics of a server, and the registry that shows them. */
export class ServerMetrics {
  readonly http = new HttpFigures()
  readonly registry: MetricsRegistry
  /** For checks that are answered without the framework: nearly all requests have this method, route and status. */
  readonly checkAnswered = this.http.counter('GET', CHECK_ROUTE, 200)

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
