import type { ServerContext } from '../context.js'
import { isServerFault } from '../problem.js'
import { requestIdFrom } from '../request-id.js'

export const CHECK_ROUTE = '/customers/:customerId/check'

/** One check that is answered without the framework: its id, and its line in the log. */
export class Visit {
  readonly requestId: string
  /** 0 when the visit is not logged. */
  private readonly startedAt: number

  constructor(
    private readonly context: ServerContext,
    requestIdHeader: unknown,
    private readonly customerId: string,
  ) {
    this.requestId = requestIdFrom(requestIdHeader)
    this.startedAt = context.accessLog.samples() ? performance.now() : 0
  }

  /** Logs the visit when it is one of the sample, or went wrong through our fault. */
  end(status: number, caller: { name: string } | undefined, error?: unknown): void {
    if (this.startedAt === 0 && !isServerFault(status)) return
    this.context.accessLog.write({
      requestId: this.requestId,
      method: 'GET',
      route: CHECK_ROUTE,
      status,
      durationMs: this.startedAt === 0 ? 0 : performance.now() - this.startedAt,
      customerId: this.customerId,
      key: caller?.name,
      error,
    })
  }
}
