import { randomUUID } from 'node:crypto'
import { encodeIdentifier } from '../core/encode-identifier.js'
import { invalid, isCatracaError } from '../core/errors.js'
import { type Fields, KnownFields } from '../core/fields.js'
import type { MaybePromise } from '../core/maybe-promise.js'
import type { LimitsApi } from '../guards/rate-limit/api.js'
import { olderHeaders, rateLimitHeaders } from '../guards/rate-limit/headers.js'
import { quotaExceeded } from '../guards/rate-limit/quota-exceeded.js'
import { slotsOf } from '../guards/rate-limit/slots.js'
import type { AcquireAnswer, Admitted, Denied, Limits } from '../guards/rate-limit/types.js'
import { HTTP_STATUS } from '../server/http/problem.js'
import { addressEntity, checkIpv6Bits } from './client-address.js'
import {
  type AtEnd,
  type DenialResponse,
  type Gate,
  type GuardOptions,
  guardOf,
  isOutage,
  mistake,
  PASS,
  refusalOf,
  reportNow,
  withDenial,
} from './gate.js'

type LimitsGuard = Pick<LimitsApi, 'acquire' | 'adjust'> & Partial<Pick<LimitsApi, 'giveBack'>>

/** Options of all adapters. */
export interface RateLimitOptions<Request> extends GuardOptions<Request> {
  /** An instance, or a server: `openCatraca(…)` or `connectCatraca(…)`. */
  catraca?: { limits: LimitsGuard } | undefined
  /**
   * Limits of these requests, which win over configured ones field by field. Without them the configured limits of the
   * resource apply. (Before version 0.2 this was the guard, `catraca.limits`, which still works.)
   */
  limits?: Limits | ((request: Request) => Limits | undefined) | LimitsGuard
  /** The limited entity; undefined: this request is not limited. When absent: the address of the client. */
  entity?: (request: Request) => MaybePromise<string | undefined>
  /** The limited resource; `http` when absent. */
  resource?: string | ((request: Request) => string)
  /** The address of the client, where `entity` is absent and the framework does not know it; see `forwardedFor`. */
  clientAddress?: (request: NoInfer<Request>) => string | undefined
  /** How many bits of an IPv6 address name a client; 64 when absent. */
  ipv6Bits?: number
  /** The cost; 1 of each limit when absent. */
  consume?: (request: Request) => Record<string, number>
  /**
   * Whether a request counts, once its response is known: what was taken is given back when this is false. A request
   * without a response counts.
   */
  countIf?: (request: Request, response: { status: number }) => boolean
  /** `ratelimit` (the default): as in the IETF draft. `x-ratelimit`: as older limiters send them. */
  headers?: 'ratelimit' | 'x-ratelimit' | 'both' | 'none'
  /** The response to a denied request; when absent a problem with status 429. */
  denial?: (request: Request, denied: Denied) => DenialResponse | undefined
  /**
   * What happens to requests whose resource no level configures: they pass, or are refused with 429. When absent:
   * 500, and `report` is called, because it is a mistake of the service and not of its caller.
   */
  onUnconfigured?: 'allow' | 'deny'
  /** What happens when the guard fails instead of deciding: 503 (`block`, the default), or the request passes. */
  onUnavailable?: 'allow' | 'block'
  /** Called with what was consumed, for callers that correct it when the real cost is known. */
  onAdmitted?: (request: Request, admitted: Admitted) => void
}

/** The address of the client as the framework knows it. */
export type AddressOf<Request> = (request: Request) => string | undefined

const FIELDS: Fields<RateLimitOptions<unknown>> = {
  ...{ catraca: true, limits: true, entity: true, resource: true, consume: true, skip: true },
  ...{ clientAddress: true, ipv6Bits: true, countIf: true, headers: true, denial: true },
  ...{ onUnconfigured: true, onUnavailable: true, report: true, onAdmitted: true },
}
const KNOWN = new KnownFields(FIELDS)

/** The limits of requests, with the options checked once. */
export class RequestLimits<Request> {
  private readonly guard: LimitsGuard
  private readonly inline: Limits | ((request: Request) => Limits | undefined) | undefined
  private readonly addressOf: AddressOf<Request>

  /** Refuses wrong options, so that a mistake is found before the first request. */
  constructor(
    private readonly options: RateLimitOptions<Request>,
    addressOf: AddressOf<Request> = () => undefined,
  ) {
    KNOWN.check(options)
    oneOf(options, 'onUnconfigured', ['allow', 'deny'])
    oneOf(options, 'onUnavailable', ['allow', 'block'])
    oneOf(options, 'headers', ['ratelimit', 'x-ratelimit', 'both', 'none'])
    checkIpv6Bits(options.ipv6Bits)
    const { limits } = options
    const isGuard = isLimitsGuard(limits)
    this.guard = isGuard ? limits : guardOf<'limits', LimitsGuard>({ catraca: options.catraca }, 'limits')
    this.inline = isGuard ? undefined : (limits as Limits)
    this.addressOf = options.clientAddress ?? addressOf
  }

  /**
   * Acquires the limits for one request. A denial and a failure both become a problem, with different type and status.
   */
  async ask(request: Request, requestId: string = randomUUID()): Promise<Gate> {
    const { skip, resource = 'http' } = this.options
    const skipped = skip?.(request)
    if (skipped === true || (skipped instanceof Promise && (await skipped))) return PASS
    const name = typeof resource === 'string' ? resource : resource(request)
    try {
      const entity = await this.entityOf(request)
      if (entity === undefined) return PASS
      return await this.acquire(request, entity, name, requestId)
    } catch (error) {
      return this.failed(name, error, requestId)
    }
  }

  private entityOf(request: Request): MaybePromise<string | undefined> {
    const { entity, ipv6Bits } = this.options
    if (entity !== undefined) return entity(request)
    const address = this.addressOf(request)
    if (address) return addressEntity(address, ipv6Bits)
    throw mistake('the address of the client is not known: give entity or clientAddress')
  }

  private async acquire(
    request: Request,
    entity: string,
    resource: string,
    requestId: string,
  ): Promise<Gate> {
    const { inline, options } = this
    const consume = options.consume?.(request)
    const limits = typeof inline === 'function' ? inline(request) : inline
    const answer = await this.guard.acquire({
      entity: encodeIdentifier(entity, 'entity'),
      resource,
      ...(consume && { consume }),
      ...(limits && { limits }),
    })
    const headers = this.headersOf(answer)
    if (answer.allowed) {
      const atEnd = this.atEnd(request, answer, consume)
      try {
        options.onAdmitted?.(request, answer)
      } catch (error) {
        // The request is not executed.
        atEnd?.(undefined)
        throw error
      }
      return { pass: true, headers, atEnd }
    }
    const refusal = refusalOf(quotaExceeded(answer), requestId)
    const whole = { ...refusal, headers: { ...refusal.headers, ...headers } }
    return withDenial(whole, options.denial?.(request, answer))
  }

  private headersOf(answer: AcquireAnswer): Record<string, string> {
    const { headers: kind = 'ratelimit' } = this.options
    if (kind === 'ratelimit') return rateLimitHeaders(answer)
    const { 'retry-after': retryAfter, ...draft } = rateLimitHeaders(answer)
    return {
      ...(kind === 'both' && draft),
      ...(kind !== 'none' && olderHeaders(answer, Date.now())),
      ...(retryAfter !== undefined && { 'retry-after': retryAfter }),
    }
  }

  private failed(resource: string, error: unknown, requestId: string): Gate {
    const { onUnconfigured, onUnavailable } = this.options
    if (onUnavailable === 'allow' && isOutage(error)) return PASS
    const isCallers = isCatracaError(error) && error.errors?.[0]?.path === 'entity'
    if (isCallers || !OWN_MISTAKES.some((code) => isCatracaError(error, code))) {
      return refusalOf(error, requestId)
    }
    if (isCatracaError(error, 'LIMIT_NOT_CONFIGURED') && onUnconfigured !== undefined) {
      if (onUnconfigured === 'allow') return PASS
      return refusalOf(error, requestId, HTTP_STATUS.QUOTA_EXCEEDED)
    }
    reportNow(this.options, `the limits of ${resource} cannot be checked: ${(error as Error).message}`, error)
    return refusalOf(undefined, requestId)
  }

  /** At the end of a request slots of concurrency limits are returned; all other consumption stays if it counts. */
  private atEnd(
    request: Request,
    admitted: Admitted,
    costs: Record<string, number> | undefined,
  ): AtEnd | undefined {
    const { guard, options } = this
    const slots = slotsOf(admitted, costs)
    if (slots.length === 0 && options.countIf === undefined) return undefined
    let hasEnded = false
    return (status) => {
      if (hasEnded) return
      hasEnded = true
      const counts = this.counts(request, status)
      const ending = !counts
        ? (guard.giveBack?.(admitted.leaseId) ?? Promise.resolve())
        : slots.length > 0 && guard.adjust(admitted.leaseId, Object.fromEntries(slots))
      // What cannot be given back now: slots expire, and the rest comes back as the limit refills.
      if (ending) Promise.resolve(ending).catch(() => {})
    }
  }

  /** An error in the service's policy is no reason to keep slots. Nobody else would catch it. */
  private counts(request: Request, status: number | undefined): boolean {
    const { countIf } = this.options
    if (status === undefined || countIf === undefined) return true
    try {
      return countIf(request, { status })
    } catch (error) {
      reportNow(this.options, `countIf failed: ${(error as Error).message}`, error)
      return true
    }
  }
}

/**
 * Mistakes of the service: its caller cannot correct them and does not see them. A wrong entity is not among them,
 * because it mostly comes from the request.
 */
const OWN_MISTAKES = ['LIMIT_NOT_CONFIGURED', 'LIMIT_INCOMPLETE', 'INVALID_INPUT', 'INTERNAL'] as const

const isLimitsGuard = (limits: unknown): limits is LimitsGuard =>
  typeof (limits as Partial<LimitsGuard> | undefined)?.acquire === 'function'

function oneOf<Name extends string>(
  options: { readonly [key in Name]?: unknown },
  name: Name,
  known: string[],
): void {
  const value = options[name]
  if (value !== undefined && !known.includes(value as string)) {
    throw invalid(name, `must be ${known.slice(0, -1).join(', ')} or ${known.at(-1)}`)
  }
}
