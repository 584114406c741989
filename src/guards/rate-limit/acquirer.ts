import { refuseAborted } from '../../core/abort.js'
import type { Clock } from '../../core/clock.js'
import { type Deadlines, isUnavailable, unavailability } from '../../core/deadlines.js'
import { CatracaError, invalid, isCatracaError } from '../../core/errors.js'
import { type Fields, KnownFields } from '../../core/fields.js'
import type { NamedCounts } from '../../core/figures.js'
import { identifier } from '../../core/identifiers.js'
import { Admission } from './admission.js'
import { type CallCosts, denial, leaseOf, parentOf, statusesOf, violationsOf } from './answers.js'
import { areCosts, costsOf, parentCostsOf } from './costs.js'
import { DeniedTop } from './denied-top.js'
import type { EngineStart } from './engine-start.js'
import { Exhausted } from './exhausted.js'
import { type Leases, NO_LEASE } from './leases.js'
import { parseLimits } from './level-config.js'
import { resourceName } from './levels.js'
import type { LimitOptions } from './options.js'
import { type AcquireCall, PendingAcquire } from './pending-acquire.js'
import type { Policies, ResolvedSubject } from './policies.js'
import type { LimitStore, SubjectCosts, Taken } from './port.js'
import type {
  AcquireAnswer,
  AcquireRequest,
  Admitted,
  Denied,
  EntityRecord,
  InlineLimits,
  LimitStatus,
  Limits,
  OnUnavailable,
  Subject,
  TopDenied,
  Violation,
} from './types.js'
import type { UsageCounter } from './usage.js'

export interface LimitCounts {
  admitted: number
  denied: number
  /** Denials decided in memory, without calling the engine. */
  deniedHere: number
  /** Admitted, although a limit in shadow mode would have denied. */
  shadowDenied: number
  /** The engine did not answer: the call was admitted, or refused with an error. */
  degradedAllowed: number
  degradedBlocked: number
}

export const LIMIT_OUTCOMES = [
  'allowed',
  'denied',
  'shadow_denied',
  'degraded_allowed',
  'degraded_blocked',
] as const
/** Outcome of an acquire. `shadow_denied`: admitted, but a shadow limit would have denied. */
export type LimitOutcome = (typeof LIMIT_OUTCOMES)[number]

export interface AcquirerParts {
  counters: LimitStore
  /** Decides with tokens taken in advance, if there are enough. */
  takeHere: ((subject: SubjectCosts, now: number) => Taken | undefined) | undefined
  policies: Policies
  leases: Leases
  beginning: EngineStart
  deadlines: Deadlines
  usage: UsageCounter
  clock: Clock
  options: LimitOptions
  decisions: NamedCounts<LimitOutcome>
}

/** The fields of an acquire request. */
export const ACQUIRE_FIELDS: Fields<AcquireRequest> = {
  ...{ entity: true, resource: true, consume: true, limits: true, cascade: true, signal: true },
}
const KNOWN_OF_ACQUIRE = new KnownFields(ACQUIRE_FIELDS)

/**
 * Turns a request into an answer: reads the configuration, computes the costs, calls the engine, and handles an
 * engine that does not answer.
 */
export class Acquirer {
  readonly exhausted: Exhausted
  private readonly top: DeniedTop
  readonly counts: LimitCounts = {
    admitted: 0,
    denied: 0,
    deniedHere: 0,
    shadowDenied: 0,
    degradedAllowed: 0,
    degradedBlocked: 0,
  }

  constructor(private readonly parts: AcquirerParts) {
    this.top = new DeniedTop(parts.clock.now())
    this.exhausted = new Exhausted(parts.options.configCacheMs, (subject, limit, denied, at) =>
      this.top.add(subject.entity, subject.resource, limit, denied, at),
    )
  }

  acquire(request: AcquireRequest, inline: InlineLimits): Promise<AcquireAnswer> {
    try {
      return this.begin(request, inline)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** A denial from memory takes nothing, so the fields of the request are validated only after it. */
  private begin(request: AcquireRequest, inline: InlineLimits): Promise<AcquireAnswer> {
    if (request === undefined || request === null) throw invalid('arguments[0]', 'must be an object')
    const { entity, resource, consume, limits, signal } = request
    const isPlain = limits === undefined && consume !== null && (signal === undefined || !signal.aborted)
    const now = isPlain && typeof entity === 'string' ? this.parts.clock.now() : undefined
    if (now !== undefined) {
      const denied = this.exhausted.find(entity, resource, consume, now)
      if (denied !== undefined) return Promise.resolve(this.denyFromCache(denied, request, now))
    }
    KNOWN_OF_ACQUIRE.check(request)
    if (now !== undefined) {
      const known = this.findCached(request, now)
      if (known !== undefined) return this.decide(known, request, now)
    }
    return this.acquireSlowly(request, inline)
  }

  private denyFromCache(denied: Denied, request: AcquireRequest, now: number): Denied {
    this.counts.denied++
    this.counts.deniedHere++
    this.parts.decisions.of(request.resource).denied++
    this.parts.usage.addDenied(request, denied.limits, request.consume, now)
    return denied
  }

  /** The subject's configuration, if everything needed is in memory, without waiting. Otherwise undefined. */
  private findCached(
    { entity, resource, consume, cascade }: AcquireRequest,
    now: number,
  ): ResolvedSubject | undefined {
    const { policies, beginning } = this.parts
    const known = beginning.isDone ? policies.findHere(entity, resource, now) : undefined
    if (known === undefined || known.policy.unreadable !== undefined) return undefined
    if (consume !== undefined && !areCosts(known.policy, consume)) return undefined
    return known.record !== undefined && (cascade ?? known.record.cascade) ? undefined : known
  }

  private decide(known: ResolvedSubject, request: AcquireRequest, now: number): Promise<AcquireAnswer> {
    const { takeHere } = this.parts
    const { entity, resource, consume, signal } = request
    const { told, onUnavailable } = known.policy
    const own = { entity, resource, limits: costsOf(known.policy, consume), policies: told, known }
    const wanted = [own]
    const taken = takeHere === undefined ? undefined : takeHere(own, now)
    if (taken !== undefined) return Promise.resolve(this.admit(wanted, taken, now))
    return this.callEngine({ wanted, signal, since: this.exhausted.version, onUnavailable }, now)
  }

  private async acquireSlowly(request: AcquireRequest, inline: InlineLimits): Promise<AcquireAnswer> {
    if (request.signal !== undefined) refuseAborted(request.signal)
    const since = this.exhausted.version
    let begunAt = performance.now()
    const subject = {
      entity: identifier('entity', request.entity),
      resource: resourceName('resource', request.resource),
    }
    const callLimits = inlineLimits(request.limits, inline)
    // Limits that may only tighten do not apply to the parent.
    const parentLimits = inline === 'any' ? callLimits : undefined
    let onUnavailable: OnUnavailable | undefined
    const wanted: CallCosts[] = []
    try {
      const found = this.parts.policies.find(subject, callLimits, inline)
      const { policy, record } = found instanceof Promise ? await found : found
      onUnavailable = policy.onUnavailable
      const { entity, resource } = subject
      wanted.push({
        entity,
        resource,
        limits: costsOf(policy, request.consume),
        policies: policy.told,
        known: undefined,
      })
      const beginning = this.parts.beginning.ready()
      if (beginning !== undefined) {
        await beginning
        begunAt = performance.now()
      }
      const cascade = request.cascade ?? record?.cascade ?? false
      if (cascade && record !== undefined) {
        await this.parts.deadlines.within(this.addParent(wanted, record, parentLimits), begunAt)
      }
      if (this.parts.deadlines.isOver(begunAt)) throw this.parts.deadlines.late()
    } catch (error) {
      if (!isUnavailable(error)) throw error
      return this.degraded(
        error,
        onUnavailable ?? this.parts.policies.onUnavailableOf(subject),
        subject.resource,
      )
    }
    const { signal } = request
    const asked = { wanted, signal, since: callLimits === undefined ? since : undefined, onUnavailable }
    return this.callEngine(asked, this.parts.clock.now(), begunAt)
  }

  /** What is left, without taking anything. */
  async look(
    subject: Subject,
    limits: Limits | undefined,
    inline: InlineLimits,
  ): Promise<Record<string, LimitStatus>> {
    const { policies, counters, deadlines, clock, beginning } = this.parts
    await beginning.ready()
    const { policy } = await policies.find(subject, inlineLimits(limits, inline), inline)
    const wanted = { ...subject, limits: costsOf(policy, {}), policies: policy.told, known: undefined }
    try {
      const { views } = await deadlines.within(counters.take([wanted], clock.now()))
      return statusesOf(wanted, views[0]!)
    } catch (error) {
      // The call changes nothing, so its outcome cannot be unknown.
      if (!isCatracaError(error, 'UNKNOWN_OUTCOME')) throw error
      throw new CatracaError('ENGINE_UNAVAILABLE', 'the engine did not answer', { cause: error })
    }
  }

  /** The entities denied most often by this process in the last hour. */
  topDenied(query: { resource?: string; limit?: number }): TopDenied {
    this.exhausted.flushAllDenials()
    return this.top.read(query, this.parts.clock.now())
  }

  private async addParent(wanted: CallCosts[], record: EntityRecord, callLimits: Limits | undefined) {
    const [{ resource, limits }] = wanted as [CallCosts]
    const parent = { entity: record.parent, resource }
    const policy = await this.parts.policies.findParent(parent, callLimits)
    if (policy === undefined) return
    wanted.push({ ...parent, limits: parentCostsOf(policy, limits), policies: policy.told, known: undefined })
  }

  /** Resolves with the engine's decision if it comes in time, otherwise by `onUnavailable`. */
  private callEngine(question: AcquireCall, now: number, begunAt?: number): Promise<AcquireAnswer> {
    const { counters, deadlines } = this.parts
    return new Promise((resolve, reject) => {
      const deciding = counters.take(question.wanted, now)
      const asking = new PendingAcquire(this, deadlines, question, deciding, resolve, reject)
      deadlines.begin(asking, begunAt)
      deciding.then(
        (taken) => asking.onTaken(taken),
        (error) => asking.onFailed(error),
      )
    })
  }

  answer({ wanted, since }: AcquireCall, taken: Taken): AcquireAnswer {
    const now = this.parts.clock.now()
    return taken.allowed ? this.admit(wanted, taken, now) : this.deny(wanted, taken, since, now)
  }

  /** The caller gets an error, so its cost is given back. */
  async returnAll(wanted: readonly CallCosts[], taken: Taken): Promise<void> {
    if (!taken.allowed) return
    const { leases, options } = this.parts
    const content = leaseOf(wanted, taken, options.leaseMs)
    await leases.giveBack(leases.leaseOf(leases.reserve(), content))
  }

  private admit(wanted: readonly CallCosts[], taken: Taken, now: number): Admitted {
    const { leases, options } = this.parts
    this.counts.admitted++
    this.countUsage(wanted, taken, now)
    const answer = new Admission(leases, options.leaseMs, wanted, taken)
    if (wanted.length > 1) Object.assign(answer, parentOf(wanted, taken))
    const decisions = this.parts.decisions.of(wanted[0]!.resource)
    const shadowViolations: Violation[] = wanted.some(hasShadow) ? violationsOf(wanted, taken, true) : NONE
    if (shadowViolations.length > 0) {
      this.counts.shadowDenied++
      decisions.shadow_denied++
      answer.shadowViolations = shadowViolations
    } else decisions.allowed++
    return answer
  }

  private deny(wanted: readonly CallCosts[], taken: Taken, since: number | undefined, now: number): Denied {
    this.counts.denied++
    this.countUsage(wanted, undefined, now)
    const denied = denial(wanted, taken)
    const [own] = wanted as [CallCosts]
    this.parts.decisions.of(own.resource).denied++
    for (const { entity, limit } of denied.violations) this.top.add(entity, own.resource, limit, 1, now)
    const usedUp = own.limits.flatMap(({ name, rule, cost, shadow }, i) => {
      const { retryAfterMs } = taken.views[0]![i]!
      // Concurrency slots are given back all the time. Denying from memory would block calls for no reason.
      const isKept = retryAfterMs > 0 && !shadow && rule.algorithm !== 'concurrency'
      return isKept ? [{ name, cost, retryAfterMs }] : []
    })
    if (since !== undefined && usedUp.length > 0) {
      const { entity, resource, policies } = own
      const statuses = denied.limits
      this.exhausted.note({ entity, resource, limits: usedUp, statuses, policies }, now, since)
    }
    return denied
  }

  private countUsage(wanted: readonly CallCosts[], taken: Taken | undefined, now: number): void {
    for (let i = 0; i < wanted.length; i++) {
      const subject = wanted[i]!
      this.parts.usage.add(subject, taken?.views[i], now, subject.known)
    }
  }

  degraded(error: unknown, onUnavailable: OnUnavailable, resource: string): AcquireAnswer {
    // Without the store, an unknown resource name may be made up. It must not take a counter from real resources.
    const decisions = this.parts.decisions.ofKnown(resource)
    if (onUnavailable === 'block') {
      this.counts.degradedBlocked++
      decisions.degraded_blocked++
      const message = 'limits cannot be decided, and the configuration says to block'
      throw new CatracaError(unavailability(error), message, { cause: error, facts: { degraded: true } })
    }
    this.counts.degradedAllowed++
    decisions.degraded_allowed++
    return { allowed: true, degraded: true, leaseId: NO_LEASE, limits: {} }
  }
}

function inlineLimits(limits: Limits | undefined, inline: InlineLimits): Limits | undefined {
  if (limits === undefined) return undefined
  if (inline === 'never') throw invalid('limits', 'are not taken here: the setting limits.inline is never')
  return parseLimits(limits)
}

const NONE: Violation[] = []
const hasShadow = ({ limits }: CallCosts): boolean => limits.some(({ shadow }) => shadow)
