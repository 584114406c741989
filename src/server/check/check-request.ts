import type { CheckAnswer } from '../../guards/allowlist/types.js'
import type { ServerContext } from '../http/context.js'
import { isServerFault } from '../http/problem.js'
import { requestIdFrom } from '../http/request-id.js'
import { CHECK_ROUTE } from '../http/server-metrics.js'
import { CheckFacts } from './facts.js'

type Outcome = { answer: CheckAnswer } | { error: unknown }

/** One check that is answered without the framework: its request id, its metrics and its log line. */
export class CheckRequest {
  readonly requestId: string
  /** Set only for requests that are logged. */
  private readonly facts: CheckFacts | undefined
  /** 0 when the duration is not needed. */
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

  /** Called when the check was started; its result may still be pending. */
  asked(): void {
    this.facts?.asked()
  }

  /** Counts the request, and logs it when it is in the sample or failed by a fault of the server. */
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
