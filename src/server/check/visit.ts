import type { ServerContext } from '../context.js'
import { isServerFault } from '../problem.js'
import { requestIdFrom } from '../request-id.js'

export const CHECK_ROUTE = '/customers/:customerId/check'

/** One check that is answered without the framework: its id, its place in the metrics and its line in the log. */
export class Visit {
  readonly requestId: string
  private readonly isSampled: boolean
  /** 0 when nobody wants to know. */
  private readonly startedAt: number

  constructor(
    private readonly context: ServerContext,
    requestIdHeader: unknown,
    private readonly customerId: string,
  ) {
    this.requestId = requestIdFrom(requestIdHeader)
    this.isSampled = context.accessLog.samples()
    this.startedAt = this.isSampled || context.metrics !== undefined ? performance.now() : 0
  }

  /** Counts the visit, and logs it when it is one of the sample, or went wrong through our fault. */
  end(status: number, caller: { name: string } | undefined, error?: unknown): void {
    const { metrics, accessLog } = this.context
    const durationMs = this.startedAt === 0 ? 0 : performance.now() - this.startedAt
    if (metrics !== undefined && status === 200) metrics.checkAnswered(durationMs)
    else metrics?.http.add('GET', CHECK_ROUTE, status, durationMs)
    if (!this.isSampled && !isServerFault(status)) return
    accessLog.write({
      requestId: this.requestId,
      method: 'GET',
      route: CHECK_ROUTE,
      status,
      durationMs,
      customerId: this.customerId,
      key: caller?.name,
      error,
    })
  }
}
