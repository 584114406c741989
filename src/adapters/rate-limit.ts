import { randomUUID } from 'node:crypto'
import type { LimitsApi } from '../rate-limit/api.js'
import { rateLimitHeaders } from '../rate-limit/headers.js'
import { quotaExceeded } from '../rate-limit/quota-exceeded.js'
import type { Admitted } from '../rate-limit/types.js'
import { renderProblem } from '../server/problem.js'

/** What the adapters of all frameworks have in common. */
export interface RateLimitOptions<Request> {
  limits: Pick<LimitsApi, 'acquire'>
  /** Who is limited; undefined: this request is not. */
  entity: (request: Request) => string | undefined
  /** What is limited. */
  resource: string | ((request: Request) => string)
  /** What it costs; 1 of each limit when absent. */
  consume?: (request: Request) => Record<string, number>
  /** Requests that are not limited, such as health checks. */
  skip?: (request: Request) => boolean
}

/** Go on, with headers for the answer, or answer this instead. */
export type Gate =
  | { pass: true; headers: Record<string, string>; admitted?: Admitted }
  | { pass: false; status: number; headers: Record<string, string>; body: string }

/** Asks the limits for one request. A denial and a failure both become a problem, of different type and status. */
export async function askLimits<Request>(
  options: RateLimitOptions<Request>,
  request: Request,
  requestId: string = randomUUID(),
): Promise<Gate> {
  const { limits, resource, consume, skip } = options
  const entity = skip?.(request) ? undefined : options.entity(request)
  if (entity === undefined) return { pass: true, headers: {} }
  const name = typeof resource === 'string' ? resource : resource(request)
  try {
    const answer = await limits.acquire({
      entity,
      resource: name,
      ...(consume && { consume: consume(request) }),
    })
    const headers = rateLimitHeaders(answer)
    if (answer.allowed) return { pass: true, headers, admitted: answer }
    const problem = renderProblem(quotaExceeded(answer), requestId)
    return { pass: false, ...problem, headers: { ...problem.headers, ...headers } }
  } catch (error) {
    return { pass: false, ...renderProblem(error, requestId) }
  }
}
