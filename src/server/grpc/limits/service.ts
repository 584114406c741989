import { invalid, isCatracaError } from '../../../core/errors.js'
import type { RateLimits } from '../../../guards/rate-limit/index.js'
import type { AcquireAnswer, AcquireRequest, InlineLimits } from '../../../guards/rate-limit/types.js'
import { LIMITS } from '../../../wire/rate-limit/limits.js'
import type { ServerContext } from '../../http/context.js'
import { HTTP_STATUS } from '../../http/problem.js'
import type { GrpcCall, GrpcHandler } from '../calls.js'
import {
  type Descriptor,
  type DescriptorStatus,
  RATE_LIMIT_CODE,
  type RateLimitRequest,
  type RateLimitResponse,
  UNIT_SECONDS,
} from '../messages.js'
import type { GrpcSettings } from '../options.js'
import { MAX_DESCRIPTORS, subjectOf } from './descriptors.js'
import { headersOf, statusOf } from './statuses.js'

/** What a descriptor asks for. */
interface Asked {
  request: AcquireRequest
  /** The cost, of every limit. */
  hits: number
}

/** More than any limit holds. */
const TOO_MANY = Number.MAX_SAFE_INTEGER

/** What decides one descriptor: limits, or that there are none for it. */
type Decision = AcquireAnswer | 'unconfigured'

/** `ShouldRateLimit`: an acquire for each descriptor, each alone, and OVER_LIMIT if any is. */
export class RateLimitService implements GrpcHandler<RateLimitRequest, RateLimitResponse> {
  readonly operation = LIMITS.acquire
  private readonly limits: RateLimits
  private readonly inline: InlineLimits

  constructor(
    context: ServerContext,
    private readonly settings: GrpcSettings,
  ) {
    this.limits = context.catraca.limits
    this.inline = context.settings.inlineLimits
  }

  async handle(request: RateLimitRequest, call: GrpcCall): Promise<RateLimitResponse> {
    const { descriptors } = request
    if (descriptors.length === 0 || descriptors.length > MAX_DESCRIPTORS) {
      throw invalid('descriptors', `must hold 1 to ${MAX_DESCRIPTORS} descriptors`)
    }
    // All of them are read before the first one takes anything.
    const asked = descriptors.map((descriptor, i) => this.read(request, descriptor, i))
    const [only] = asked as [Asked]
    const decisions =
      asked.length === 1 ? [await this.decide(only)] : await Promise.all(asked.map((one) => this.decide(one)))
    if (call.isGone()) await this.giveBack(decisions)
    return this.responseOf(decisions)
  }

  httpStatusOf({ overallCode }: RateLimitResponse): number {
    return overallCode === RATE_LIMIT_CODE.OVER_LIMIT ? HTTP_STATUS.QUOTA_EXCEEDED : 200
  }

  private read(request: RateLimitRequest, descriptor: Descriptor, i: number): Asked {
    const { domain = '', hitsAddend } = request
    const { entries, limit, hitsAddend: ownHits, isNegativeHits } = descriptor
    const path = `descriptors[${i}]`
    if (isNegativeHits) throw invalid(`${path}.is_negative_hits`, 'is not supported: nothing is given back')
    const subject = subjectOf(domain, entries, this.settings.descriptors, path)
    const hits = ownHits ? (ownHits.value ?? 0) : hitsAddend || 1
    if (!limit) return { request: subject, hits }
    const periodSeconds = UNIT_SECONDS[limit.unit ?? 0]
    if (periodSeconds === undefined) throw invalid(`${path}.limit.unit`, 'must be a unit of time')
    const { requestsPerUnit = 0 } = limit
    // A limit of nothing admits nobody. Ours hold at least 1.
    const capacity = Math.max(1, requestsPerUnit)
    const rule = { capacity, burst: capacity, refillAmount: capacity, refillPeriodSeconds: periodSeconds }
    const limits = { [this.settings.overrideLimit]: rule }
    return { request: { ...subject, limits }, hits: requestsPerUnit === 0 ? TOO_MANY : hits }
  }

  private async decide({ request, hits }: Asked): Promise<Decision> {
    const { limits, inline } = this
    try {
      if (hits === 1) return await limits.acquire(request, inline)
      const { consume, fits } = await limits.costOfEach(request, hits, inline)
      if (fits) return await limits.acquire({ ...request, ...(consume && { consume }) }, inline)
      return await this.tooMany(request)
    } catch (error) {
      if (isCatracaError(error, 'LIMIT_NOT_CONFIGURED')) return 'unconfigured'
      throw error
    }
  }

  /** More than a limit can ever hold: over HTTP a mistake of the caller, here just over the limit. */
  private async tooMany({ entity, resource, limits }: AcquireRequest): Promise<AcquireAnswer> {
    const given = limits === undefined ? {} : { limits }
    const { limits: statuses } = await this.limits.status(entity, resource, given, this.inline)
    const retryAfterMs = Math.max(0, ...Object.values(statuses).map(({ resetMs }) => resetMs))
    return { allowed: false, violations: [], retryAfterMs, limits: statuses }
  }

  /** The caller has cancelled, or its deadline has passed: it knows of no decision. */
  private async giveBack(decisions: readonly Decision[]): Promise<void> {
    const leases = decisions.flatMap((one) => (one !== 'unconfigured' && one.allowed ? [one.leaseId] : []))
    await Promise.all(leases.map((leaseId) => this.limits.giveBack(leaseId)))
  }

  private responseOf(decisions: readonly Decision[]): RateLimitResponse {
    const { unconfigured, responseHeaders } = this.settings
    const none: DescriptorStatus = {
      code: unconfigured === 'deny' ? RATE_LIMIT_CODE.OVER_LIMIT : RATE_LIMIT_CODE.OK,
    }
    const statuses = decisions.map((one) => (one === 'unconfigured' ? none : statusOf(one)))
    const isOver = statuses.some(({ code }) => code === RATE_LIMIT_CODE.OVER_LIMIT)
    const response = { overallCode: isOver ? RATE_LIMIT_CODE.OVER_LIMIT : RATE_LIMIT_CODE.OK, statuses }
    if (!responseHeaders) return response
    const responseHeadersToAdd = headersOf(decisions.filter((one) => one !== 'unconfigured'))
    return { ...response, responseHeadersToAdd }
  }
}
