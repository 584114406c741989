import { randomUUID } from 'node:crypto'
import { encodeIdentifier } from '../core/encode-identifier.js'
import { invalid, isCatracaError } from '../core/errors.js'
import { type Fields, KnownFields } from '../core/fields.js'
import type { MaybePromise } from '../core/maybe-promise.js'
import type { LimitsApi } from '../guards/rate-limit/api.js'
import { rateLimitHeaders } from '../guards/rate-limit/headers.js'
import { quotaExceeded } from '../guards/rate-limit/quota-exceeded.js'
import type { Admitted } from '../guards/rate-limit/types.js'
import { HTTP_STATUS, renderProblem } from '../server/http/problem.js'

/** Options of all adapters. */
export interface RateLimitOptions<Request> {
  limits: Pick<LimitsApi, 'acquire' | 'adjust'>
  /** The limited entity; undefined: this request is not limited. */
  entity: (request: Request) => MaybePromise<string | undefined>
  /** The limited resource. */
  resource: string | ((request: Request) => string)
  /** The cost; 1 of each limit when absent. */
  consume?: (request: Request) => Record<string, number>
  /** Requests that are not limited, such as health checks. */
  skip?: (request: Request) => boolean
  /**
   * What happens to requests whose resource no level configures: they pass, or are refused with 429. When absent:
   * 500, and `report` is called, because it is a mistake of the service and not of its caller.
   */
  onUnconfigured?: 'allow' | 'deny'
  /** Called with configuration mistakes, at most once in ten seconds; `console.error` when absent. */
  report?: (message: string, error: unknown) => void
  /** Called with what was consumed, for callers that correct it when the real cost is known. */
  onAdmitted?: (request: Request, admitted: Admitted) => void
}

/** Called when the request ends, possibly several times; undefined when nothing is given back then. */
export type Release = (() => void) | undefined

/** Continue, with headers for the response, or send this response instead. */
export type Gate =
  | { pass: true; headers: Record<string, string>; release: Release }
  | { pass: false; status: number; headers: Record<string, string>; body: string }

/**
 * Acquires the limits for one request. A denial and a failure both become a problem, with different type and status.
 */
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
    const who = encodeIdentifier(entity, 'entity')
    const answer = await limits.acquire({ entity: who, resource: name, ...(costs && { consume: costs }) })
    const headers = rateLimitHeaders(answer)
    if (answer.allowed) {
      options.onAdmitted?.(request, answer)
      return { pass: true, headers, release: releaseOf(limits, answer, costs) }
    }
    const problem = renderProblem(quotaExceeded(answer), requestId)
    return { pass: false, ...problem, headers: { ...problem.headers, ...headers } }
  } catch (error) {
    return refusalOf(options, name, error, requestId)
  }
}

/**
 * Mistakes of the service: its caller cannot correct them and does not see them. A wrong entity is not among them,
 * because it mostly comes from the request.
 */
const OWN_MISTAKES = ['LIMIT_NOT_CONFIGURED', 'LIMIT_INCOMPLETE', 'INVALID_INPUT'] as const

function refusalOf<Request>(
  options: RateLimitOptions<Request>,
  resource: string,
  error: unknown,
  requestId: string,
): Gate {
  const { onUnconfigured } = options
  const isCallers = isCatracaError(error) && error.errors?.[0]?.path === 'entity'
  if (isCallers || !OWN_MISTAKES.some((code) => isCatracaError(error, code))) {
    return { pass: false, ...renderProblem(error, requestId) }
  }
  if (isCatracaError(error, 'LIMIT_NOT_CONFIGURED') && onUnconfigured !== undefined) {
    if (onUnconfigured === 'allow') return { pass: true, headers: {}, release: undefined }
    return { pass: false, ...renderProblem(error, requestId, HTTP_STATUS.QUOTA_EXCEEDED) }
  }
  reportNow(options, `the limits of ${resource} cannot be checked: ${(error as Error).message}`, error)
  return { pass: false, ...renderProblem(undefined, requestId) }
}

const REPORT_PAUSE_MS = 10_000
const reportedAt = new WeakMap<object, number>()

/** Limited in frequency, because every request would report the same. */
function reportNow(options: Pick<RateLimitOptions<never>, 'report'>, message: string, error: unknown): void {
  const now = performance.now()
  if (now < (reportedAt.get(options) ?? 0)) return
  reportedAt.set(options, now + REPORT_PAUSE_MS)
  const { report = (text) => console.error(`catraca: ${text}`) } = options
  report(message, error)
}

const FIELDS: Fields<RateLimitOptions<unknown>> = {
  ...{ limits: true, entity: true, resource: true, consume: true, skip: true, onUnconfigured: true },
  ...{ report: true, onAdmitted: true },
}
const KNOWN = new KnownFields(FIELDS)

/** Called when the adapter is created, so that a mistake is found before the first request. */
export function checkOptions(options: object): void {
  KNOWN.check(options)
  const { onUnconfigured } = options as RateLimitOptions<unknown>
  if (onUnconfigured !== undefined && onUnconfigured !== 'allow' && onUnconfigured !== 'deny') {
    throw invalid('onUnconfigured', 'must be allow or deny')
  }
}

/** Returns the slots of concurrency limits when the request ends; all other consumption stays. */
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
    // Slots that cannot be given back now expire.
    limits.adjust(admitted.leaseId, Object.fromEntries(slots)).catch(() => {})
  }
}

/** Both events: a response whose client disconnected is closed and never finished. */
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
