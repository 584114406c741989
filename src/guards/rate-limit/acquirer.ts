import { refuseAborted } from '../../core/abort.js'
import type { Clock } from '../../core/clock.js'
import { type Deadlines, isUnavailable } from '../../core/deadlines.js'
import { invalid } from '../../core/errors.js'
import { type Fields, KnownFields } from '../../core/fields.js'
import { identifier } from '../../core/identifiers.js'
import type { AcquireAnswers } from './acquire-answers.js'
import type { AcquireCall, CallCosts } from './answers.js'
import { areCosts, costsOf, parentCostsOf } from './costs.js'
import type { EngineStart } from './engine-start.js'
import type { Exhausted } from './exhausted.js'
import { parseLimits } from './level-config.js'
import { resourceName } from './levels.js'
import { PendingAcquire } from './pending-acquire.js'
import type { Policies, ResolvedSubject } from './policies.js'
import type { LimitStore, SubjectCosts, Taken } from './port.js'
import type {
  AcquireAnswer,
  AcquireRequest,
  EntityRecord,
  InlineLimits,
  Limits,
  LimitsOnUnavailable,
  Subject,
} from './types.js'

interface AcquirerParts {
  counters: LimitStore
  /** Decides with tokens taken in advance, if there are enough. */
  takeHere: ((subject: SubjectCosts, now: number) => Taken | undefined) | undefined
  policies: Policies
  exhausted: Exhausted
  answers: AcquireAnswers
  beginning: EngineStart
  deadlines: Deadlines
  clock: Clock
}

/** The fields of an acquire request. */
export const ACQUIRE_FIELDS: Fields<AcquireRequest> = {
  ...{ entity: true, resource: true, consume: true, limits: true, cascade: true, signal: true },
}
const KNOWN_OF_ACQUIRE = new KnownFields(ACQUIRE_FIELDS)

/** Reads the configuration that applies to a request, computes the costs, and calls the engine. */
export class Acquirer {
  constructor(private readonly parts: AcquirerParts) {}

  /** A denial from memory takes nothing, so the fields of the request are validated only after it. */
  acquire(request: AcquireRequest, inline: InlineLimits): Promise<AcquireAnswer> {
    if (request === undefined || request === null) throw invalid('arguments[0]', 'must be an object')
    const { entity, resource, consume, limits, signal } = request
    const isPlain = limits === undefined && consume !== null && (signal === undefined || !signal.aborted)
    const now = isPlain && typeof entity === 'string' ? this.parts.clock.now() : undefined
    if (now !== undefined) {
      const denied = this.parts.exhausted.find(entity, resource, consume, now)
      if (denied !== undefined) return Promise.resolve(this.parts.answers.deniedHere(denied, request, now))
    }
    KNOWN_OF_ACQUIRE.check(request)
    if (now !== undefined) {
      const known = this.findCached(request, now)
      if (known !== undefined) return this.decide(known, request, now)
    }
    return this.acquireSlowly(request, inline)
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
    const { takeHere, answers, exhausted } = this.parts
    const { entity, resource, consume, signal } = request
    const { told, onUnavailable } = known.policy
    const own = { entity, resource, limits: costsOf(known.policy, consume), policies: told, known }
    const wanted = [own]
    const taken = takeHere === undefined ? undefined : takeHere(own, now)
    if (taken !== undefined) return Promise.resolve(answers.admit(wanted, taken, now))
    return this.callEngine({ wanted, signal, since: exhausted.since(), onUnavailable }, now)
  }

  private async acquireSlowly(request: AcquireRequest, inline: InlineLimits): Promise<AcquireAnswer> {
    if (request.signal !== undefined) refuseAborted(request.signal)
    const since = this.parts.exhausted.since()
    let begunAt = performance.now()
    const subject = {
      entity: identifier('entity', request.entity),
      resource: resourceName('resource', request.resource),
    }
    const callLimits = inlineLimits(request.limits, inline)
    // Limits that may only tighten do not apply to the parent.
    const parentLimits = inline === 'any' ? callLimits : undefined
    let onUnavailable: LimitsOnUnavailable | undefined
    let wanted: CallCosts[] = []
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
      onUnavailable ??= this.parts.policies.onUnavailableOf(subject)
      const { resource } = subject
      if (onUnavailable !== 'local') return this.parts.answers.degraded(error, { resource, onUnavailable })
      wanted = this.lastKnownCosts(subject, request, callLimits, inline)
      return this.parts.answers.degraded(error, {
        resource,
        onUnavailable,
        ...(wanted.length > 0 && { wanted }),
      })
    }
    const { signal } = request
    const asked = { wanted, signal, since: callLimits === undefined ? since : undefined, onUnavailable }
    return this.callEngine(asked, this.parts.clock.now(), begunAt)
  }

  /** The costs by the configuration as last known. Empty if it is not known, also of the parent. */
  private lastKnownCosts(
    subject: Subject,
    request: AcquireRequest,
    callLimits: Limits | undefined,
    inline: InlineLimits,
  ): CallCosts[] {
    const { policies } = this.parts
    const found = policies.findLastKnown(subject, callLimits, inline)
    if (found === undefined) return []
    const { policy, record } = found
    const limits = costsOf(policy, request.consume)
    const own = { ...subject, limits, policies: policy.told, known: undefined }
    if (record === undefined || !(request.cascade ?? record.cascade)) return [own]
    const parent = { entity: record.parent, resource: subject.resource }
    const above = policies.findLastKnown(parent, inline === 'any' ? callLimits : undefined)?.policy
    if (above === undefined) return []
    return [own, { ...parent, limits: parentCostsOf(above, limits), policies: above.told, known: undefined }]
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
    const { counters, deadlines, answers } = this.parts
    return new Promise((resolve, reject) => {
      const deciding = counters.take(question.wanted, now)
      const asking = new PendingAcquire(answers, deadlines, question, deciding, resolve, reject)
      deadlines.begin(asking, begunAt)
      deciding.then(
        (taken) => asking.onTaken(taken),
        (error) => asking.onFailed(error),
      )
    })
  }
}

/** Validates the limits that a call brings itself. */
export function inlineLimits(limits: Limits | undefined, inline: InlineLimits): Limits | undefined {
  if (limits === undefined) return undefined
  if (inline === 'never') throw invalid('limits', 'are not accepted: the setting limits.inline is never')
  return parseLimits(limits)
}
