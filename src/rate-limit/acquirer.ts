import type { Clock } from '../clock.js'
import { type Deadlines, isUnavailable } from '../deadlines.js'
import { CatracaError, isCatracaError } from '../errors.js'
import { identifier, plainName } from '../key.js'
import { Admission } from './admission.js'
import { denial, leaseOf, parentOf, statusesOf, violationsOf, type Wanted } from './answers.js'
import type { Beginning } from './beginning.js'
import { areCosts, costsOf, parentCostsOf } from './costs.js'
import { Exhausted } from './exhausted.js'
import { type Leases, NO_LEASE } from './leases.js'
import { parseLimits } from './level-config.js'
import type { LimitOptions } from './options.js'
import type { Policies } from './policies.js'
import type { LimitStore, SubjectCosts, Taken } from './port.js'
import type {
  AcquireAnswer,
  AcquireRequest,
  Admitted,
  Denied,
  EntityRecord,
  LimitStatus,
  Limits,
  OnUnavailable,
  Subject,
} from './types.js'
import type { UsageCounter } from './usage.js'

export interface LimitCounts {
  admitted: number
  denied: number
  /** Of those denied: without asking the engine. */
  deniedHere: number
  /** Admitted although a limit in shadow mode would have denied. */
  shadowDenied: number
  /** Answered without the engine, which did not answer: let through, or refused with an error. */
  degradedAllowed: number
  degradedBlocked: number
}

export interface AcquirerParts {
  counters: LimitStore
  /** Decides with tokens taken ahead, where there are enough. */
  takeHere: ((subject: SubjectCosts, now: number) => Taken | undefined) | undefined
  policies: Policies
  leases: Leases
  beginning: Beginning
  deadlines: Deadlines
  usage: UsageCounter
  clock: Clock
  options: LimitOptions
}

interface Asked {
  /** The version of what is remembered before; undefined where limits of the call decide, which is not remembered. */
  since: number | undefined
  begunAt: number
  onUnavailable: OnUnavailable
}

/** From a request to an answer: configuration, costs, the engine's decision, and what to say when there is none. */
export class Acquirer {
  readonly exhausted: Exhausted
  readonly counts: LimitCounts = {
    admitted: 0,
    denied: 0,
    deniedHere: 0,
    shadowDenied: 0,
    degradedAllowed: 0,
    degradedBlocked: 0,
  }

  constructor(private readonly parts: AcquirerParts) {
    this.exhausted = new Exhausted(parts.options.configCacheMs)
  }

  acquire(request: AcquireRequest): Promise<AcquireAnswer> {
    const { entity, resource, consume, limits, signal } = request
    const isPlain = limits === undefined && consume !== null && (signal === undefined || !signal.aborted)
    if (isPlain && typeof entity === 'string') {
      const now = this.parts.clock.now()
      const denied = this.exhausted.find(entity, resource, consume, now)
      if (denied !== undefined) return Promise.resolve(this.denyHere(denied, request, now))
      try {
        const admitted = this.parts.takeHere === undefined ? undefined : this.admitHere(request, now)
        if (admitted !== undefined) return Promise.resolve(admitted)
      } catch (error) {
        return Promise.reject(error)
      }
    }
    return this.acquireFromEngine(request)
  }

  private denyHere(denied: Denied, request: AcquireRequest, now: number): Denied {
    this.counts.denied++
    this.counts.deniedHere++
    const { consume } = request
    for (const name in denied.limits) {
      const cost = consume === undefined ? 1 : Object.hasOwn(consume, name) ? consume[name]! : 0
      if (cost > 0) this.parts.usage.add(request, name, cost, false, now)
    }
    return denied
  }

  /** With tokens taken ahead, and everything else known: without a turn. Undefined where that is not so. */
  private admitHere(
    { entity, resource, consume, cascade }: AcquireRequest,
    now: number,
  ): Admitted | undefined {
    const { policies, beginning, takeHere } = this.parts
    const found = beginning.isDone ? policies.findHere(entity, resource) : undefined
    if (found === undefined || (consume !== undefined && !areCosts(found.policy, consume))) return undefined
    if (found.record !== undefined && (cascade ?? found.record.cascade)) return undefined
    const { policy } = found
    const wanted = { entity, resource, limits: costsOf(policy, consume), policies: policy.told }
    const taken = takeHere!(wanted, now)
    return taken === undefined ? undefined : this.admit([wanted], taken)
  }

  private async acquireFromEngine(request: AcquireRequest): Promise<AcquireAnswer> {
    request.signal?.throwIfAborted()
    const since = this.exhausted.version
    let begunAt = performance.now()
    const subject = {
      entity: identifier('entity', request.entity),
      resource: plainName('resource', request.resource),
    }
    const callLimits = request.limits === undefined ? undefined : parseLimits(request.limits)
    let onUnavailable: OnUnavailable | undefined
    try {
      const found = this.parts.policies.find(subject, callLimits)
      const { policy, record } = found instanceof Promise ? await found : found
      onUnavailable = policy.onUnavailable
      const costs = costsOf(policy, request.consume)
      const { entity, resource } = subject
      const own: Wanted = { entity, resource, limits: costs, policies: policy.told }
      const beginning = this.parts.beginning.ready()
      if (beginning !== undefined) {
        await beginning
        begunAt = performance.now()
      }
      const wanted = [own]
      const cascade = request.cascade ?? record?.cascade ?? false
      if (cascade && record !== undefined) {
        await this.parts.deadlines.within(this.addParent(wanted, record, callLimits), begunAt)
      }
      const asked = { since: callLimits === undefined ? since : undefined, begunAt, onUnavailable }
      return await this.ask(wanted, request.signal, asked)
    } catch (error) {
      if (!isUnavailable(error)) throw error
      return this.degraded(error, onUnavailable ?? this.parts.policies.onUnavailableOf(subject))
    }
  }

  /** What is there now, taking nothing. */
  async look(subject: Subject): Promise<Record<string, LimitStatus>> {
    const { policies, counters, deadlines, clock, beginning } = this.parts
    await beginning.ready()
    const { policy } = await policies.find(subject, undefined)
    const wanted = { ...subject, limits: costsOf(policy, {}), policies: policy.told }
    try {
      const { views } = await deadlines.within(counters.take([wanted], clock.now()))
      return statusesOf(wanted, views[0]!)
    } catch (error) {
      // Nothing was to be changed, so no outcome is unknown.
      if (!isCatracaError(error, 'UNKNOWN_OUTCOME')) throw error
      throw new CatracaError('ENGINE_UNAVAILABLE', 'the engine did not answer', { cause: error })
    }
  }

  private async addParent(wanted: Wanted[], record: EntityRecord, callLimits: Limits | undefined) {
    const [{ resource, limits }] = wanted as [Wanted]
    const parent = { entity: record.parent, resource }
    const policy = await this.parts.policies.findParent(parent, callLimits)
    if (policy === undefined) return
    wanted.push({ ...parent, limits: parentCostsOf(policy, limits), policies: policy.told })
  }

  private async ask(
    wanted: readonly Wanted[],
    signal: AbortSignal | undefined,
    { since, begunAt, onUnavailable }: Asked,
  ): Promise<AcquireAnswer> {
    const { counters, deadlines, clock } = this.parts
    if (deadlines.isOver(begunAt)) throw deadlines.late()
    const deciding = counters.take(wanted, clock.now())
    let taken: Taken
    try {
      taken = await deadlines.within(deciding, begunAt)
    } catch (error) {
      // A caller who is turned away has taken nothing: should the engine decide after all, it is given back.
      if (onUnavailable === 'block') deciding.then((late) => this.returnAll(wanted, late)).catch(() => {})
      throw error
    }
    if (signal?.aborted) {
      // Who has gone hears of nothing else, should it fail.
      await this.returnAll(wanted, taken).catch(() => {})
      throw signal.reason
    }
    return taken.allowed ? this.admit(wanted, taken) : this.deny(wanted, taken, since)
  }

  private async returnAll(wanted: readonly Wanted[], taken: Taken): Promise<void> {
    if (!taken.allowed) return
    const { leases, options } = this.parts
    const content = leaseOf(wanted, taken, options.leaseMs)
    await leases.giveBack(leases.leaseOf(leases.reserve(), content))
  }

  private admit(wanted: readonly Wanted[], taken: Taken): Admitted {
    const { leases, options } = this.parts
    this.counts.admitted++
    this.countUsage(wanted, taken)
    const answer = new Admission(leases, options.leaseMs, wanted, taken)
    if (wanted.length > 1) Object.assign(answer, parentOf(wanted, taken))
    const shadowViolations = violationsOf(wanted, taken, true)
    if (shadowViolations.length > 0) {
      this.counts.shadowDenied++
      answer.shadowViolations = shadowViolations
    }
    return answer
  }

  private deny(wanted: readonly Wanted[], taken: Taken, since: number | undefined): Denied {
    this.counts.denied++
    this.countUsage(wanted, undefined)
    const denied = denial(wanted, taken)
    const [own] = wanted as [Wanted]
    const usedUp = own.limits.flatMap(({ name, rule, cost, shadow }, i) => {
      const { retryAfterMs } = taken.views[0]![i]!
      // Slots are given back all the time: to deny by memory would keep many out for no reason.
      const isKept = retryAfterMs > 0 && !shadow && rule.algorithm !== 'concurrency'
      return isKept ? [{ name, cost, retryAfterMs }] : []
    })
    if (since !== undefined && usedUp.length > 0) {
      const { entity, resource, policies } = own
      const statuses = denied.limits
      const exhaustion = { entity, resource, limits: usedUp, statuses, policies }
      this.exhausted.note(exhaustion, this.parts.clock.now(), since)
    }
    return denied
  }

  private countUsage(wanted: readonly Wanted[], taken: Taken | undefined): void {
    const now = this.parts.clock.now()
    for (let i = 0; i < wanted.length; i++) {
      const subject = wanted[i]!
      for (let j = 0; j < subject.limits.length; j++) {
        const { name, cost } = subject.limits[j]!
        if (cost === 0) continue
        const isTaken = taken !== undefined && taken.views[i]![j]!.retryAfterMs === 0
        this.parts.usage.add(subject, name, cost, isTaken, now)
      }
    }
  }

  private degraded(error: unknown, onUnavailable: OnUnavailable): AcquireAnswer {
    if (onUnavailable === 'block') {
      this.counts.degradedBlocked++
      const message = 'limits cannot be decided, and the configuration says to block'
      throw new CatracaError('ENGINE_UNAVAILABLE', message, { cause: error, facts: { degraded: true } })
    }
    this.counts.degradedAllowed++
    return { allowed: true, degraded: true, leaseId: NO_LEASE, limits: {} }
  }
}
