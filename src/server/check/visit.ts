import type { CheckAnswer } from '../../allowlist/types.js'
import type { ServerContext } from '../context.js'
import { isServerFault } from '../problem.js'
import { requestIdFrom } from '../request-id.js'
import { CheckFacts } from './facts.js'

export const CHECK_ROUTE = '/customers/:customerId/check'

type Outcome = { answer: CheckAnswer } | { error: unknown }

/** One check that is answered without the framework: its id, and its line in the log. */
export class Visit {
  readonly requestId: string
  /** 0 when the visit is not logged. */
  private readonly startedAt: number
  private readonly facts: CheckFacts | undefined

  constructor(
    private readonly context: ServerContext,
    requestIdHeader: unknown,
    private readonly customerId: string,
  ) {
    this.requestId = requestIdFrom(requestIdHeader)
    this.startedAt = context.accessLog.samples() ? performance.now() : 0
    if (this.startedAt !== 0) this.facts = new CheckFacts(context.catraca)
  }

  /** The question was put; its answer may still be waited for. */
  asked(): void {
    this.facts?.asked()
  }

  /** Logs the visit when it is one of the sample, or went wrong through our fault. */
  end(status: number, caller: { name: string } | undefined, outcome: Outcome): void {
    if (this.startedAt === 0 && !isServerFault(status)) return
    this.context.accessLog.write({
      requestId: this.requestId,
      method: 'GET',
      route: CHECK_ROUTE,
      status,
      latencyMs: this.startedAt === 0 ? 0 : performance.now() - this.startedAt,
      customerId: this.customerId,
      key: caller?.name,
      ...('error' in outcome ? outcome : { check: this.facts?.fields(outcome.answer) }),
    })
  }
}
