import type { CheckAnswer } from '../../guards/allowlist/types.js'
import type { ServerContext } from '../http/context.js'
import { isServerFault } from '../http/problem.js'
import { requestIdFrom } from '../http/request-id.js'
import { CHECK_ROUTE } from '../http/server-metrics.js'
import { CheckFacts } from './facts.js'

type Outcome = { answer: CheckAnswer } | { error: unknown }

/** One check that is answered without the framework: its id, its place in the metrics and its line in the log. */
export class CheckRequest {
  readonly requestId: string
  /** Of those that are logged. */
  private readonly facts: CheckFacts | undefined
  /** 0 when nobody wants to know. */
  private readonly startedAt: number

  constructor(
    private readonly context: ServerContext,
    requestIdHeader: unknown,
    private readonly customerId: string,
  ) {
    this.requestId = requestIdFrom(requestIdHeader)
    this.facts = context.accessLog.samples() ? new CheckFacts(context.catraca) : undefined
    this.startedAt = this.facts !== undefined || context.metrics !== undefined ? performance.now() : 0
  }

  /** The question was put; its answer may still be waited for. */
  asked(): void {
    this.facts?.asked()
  }

  /** Counts the checkRequest, and logs it when it is one of the sample, or went wrong through our fault. */
  end(status: number, caller: { name: string } | undefined, outcome: Outcome): void {
    const { metrics, accessLog } = this.context
    const latencyMs = this.startedAt === 0 ? 0 : performance.now() - this.startedAt
    if (metrics !== undefined && status === 200) metrics.checkAnswered(latencyMs)
    else metrics?.http.add('GET', CHECK_ROUTE, status, latencyMs)
    if (this.facts === undefined && !isServerFault(status)) return
    accessLog.write({
      requestId: this.requestId,
      method: 'GET',
      route: CHECK_ROUTE,
      status,
      latencyMs,
      customerId: this.customerId,
      key: caller?.name,
      ...('error' in outcome ? outcome : { check: this.facts?.fields(outcome.answer) }),
    })
  }
}
