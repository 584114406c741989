import { randomUUID } from 'node:crypto'
import type { MaybePromise } from '../maybe.js'
import type { LimitsApi } from '../rate-limit/api.js'
import { rateLimitHeaders } from '../rate-limit/headers.js'
import { quotaExceeded } from '../rate-limit/quota-exceeded.js'
import type { Admitted } from '../rate-limit/types.js'
import { renderProblem } from '../server/problem.js'

/** What the adapters of all frameworks have in common. */
export interface RateLimitOptions<Request> {
  limits: Pick<LimitsApi, 'acquire' | 'adjust'>
  /** Who is limited; undefined: this request is not. */
  entity: (request: Request) => MaybePromise<string | undefined>
  /** What is limited. */
  resource: string | ((request: Request) => string)
  /** What it costs; 1 of each limit when absent. */
  consume?: (request: Request) => Record<string, number>
  /** Requests that are not limited, such as health checks. */
  skip?: (request: Request) => boolean
  /** Told what was taken, for those who correct it when the real cost is known. */
  onAdmitted?: (request: Request, admitted: Admitted) => void
}

/** Called when the request is over, as often as may be; undefined where nothing comes back by that. */
export type Release = (() => void) | undefined

/** Go on, with headers for the answer, or answer this instead. */
export type Gate =
  | { pass: true; headers: Record<string, string>; release: Release }
  | { pass: false; status: number; headers: Record<string, string>; body: string }

/** Asks the limits for one request. A denial and a failure both become a problem, of different type and status. */
export async function askLimits<Request>(
  options: RateLimitOptions<Request>,
  request: Request,
  requestId: string = randomUUID(),
): Promise<Gate> {
  const { limits, resource, consume, skip } = options
  const entity = skip?.(request) ? undefined : await options.entity(request)
  if (entity === undefined) return { pass: true, headers: {}, release: undefined }
  const name = typeof resource === 'string' ? resource : resource(request)
  try {
    const costs = consume?.(request)
    const answer = await limits.acquire({ entity, resource: name, ...(costs && { consume: costs }) })
    const headers = rateLimitHeaders(answer)
    if (answer.allowed) {
      options.onAdmitted?.(request, answer)
      return { pass: true, headers, release: releaseOf(limits, answer, costs) }
    }
    const problem = renderProblem(quotaExceeded(answer), requestId)
    return { pass: false, ...problem, headers: { ...problem.headers, ...headers } }
  } catch (error) {
    return { pass: false, ...renderProblem(error, requestId) }
  }
}

/** A request at work holds its slots of concurrency limits, and no longer; everything else that it took stays taken. */
function releaseOf(
  limits: Pick<LimitsApi, 'adjust'>,
  admitted: Admitted,
  costs: Record<string, number> | undefined,
): Release {
  const slots = Object.entries(admitted.policies ?? {}).flatMap(([name, { isConcurrency }]) => {
    const cost = costs === undefined ? 1 : Object.hasOwn(costs, name) ? costs[name]! : 0
    return isConcurrency && cost > 0 ? [[name, -cost] as const] : []
  })
  if (slots.length === 0) return undefined
  let isReleased = false
  return () => {
    if (isReleased) return
    isReleased = true
    // Slots that cannot be given back now run out by themselves.
    limits.adjust(admitted.leaseId, Object.fromEntries(slots)).catch(() => {})
  }
}

/** Both events: a response whose caller went away is closed and never finished. */
export function releaseAtEnd(response: Ending, release: Release): void {
  if (release === undefined) return
  if (response.destroyed) {
    release()
    return
  }
  response.once('finish', release)
  response.once('close', release)
}

interface Ending {
  destroyed: boolean
  once(event: 'finish' | 'close', listener: () => void): unknown
}
