import type { Clock } from '../../core/clock.js'
import { unavailability } from '../../core/deadlines.js'
import { CatracaError } from '../../core/errors.js'
import type { NamedCounts } from '../../core/figures.js'
import { Admission } from './admission.js'
import {
  type AcquireCall,
  type CallCosts,
  denial,
  leaseOf,
  parentOf,
  statusesOf,
  violationsOf,
} from './answers.js'
import type { DeniedTop } from './denied-top.js'
import type { Exhausted } from './exhausted.js'
import { type Leases, NO_LEASE } from './leases.js'
import type { LocalLimits } from './local-limits/index.js'
import type { Reconciler } from './local-limits/reconciler.js'
import type { Taken } from './port.js'
import type {
  AcquireAnswer,
  AcquireRequest,
  Admitted,
  Denied,
  LimitsOnUnavailable,
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
  /** The engine did not answer: this process decided by its share of the limits. */
  localAllowed: number
  localDenied: number
}

export const LIMIT_OUTCOMES = [
  'allowed',
  'denied',
  'shadow_denied',
  'degraded_allowed',
  'degraded_blocked',
  'local_allowed',
  'local_denied',
] as const
/** Outcome of an acquire. `shadow_denied`: admitted, but a shadow limit would have denied. */
export type LimitOutcome = (typeof LIMIT_OUTCOMES)[number]

interface AnswerParts {
  exhausted: Exhausted
  top: DeniedTop
  leases: Leases
  leaseMs: number
  usage: UsageCounter
  clock: Clock
  /** Times `local`. */
  steady: Clock
  decisions: NamedCounts<LimitOutcome>
  local: LocalLimits
  /** Charges to the engine what was admitted without it. */
  reconciler: Reconciler
}

/** A call that the engine did not decide. */
export interface Undecided {
  readonly resource: string
  readonly onUnavailable: LimitsOnUnavailable
  /** Absent if it is not known which limits there are. */
  readonly wanted?: readonly CallCosts[] | undefined
}

/** Turns decisions into answers, and counts them. */
export class AcquireAnswers {
  readonly counts: LimitCounts = {
    admitted: 0,
    denied: 0,
    deniedHere: 0,
    shadowDenied: 0,
    degradedAllowed: 0,
    degradedBlocked: 0,
    localAllowed: 0,
    localDenied: 0,
  }

  constructor(private readonly parts: AnswerParts) {}

  /** Counts a denial that memory knew. */
  deniedHere(denied: Denied, request: AcquireRequest, now: number): Denied {
    this.counts.denied++
    this.counts.deniedHere++
    this.parts.decisions.of(request.resource).denied++
    this.parts.usage.addDenied(request, denied.limits, request.consume, now)
    return denied
  }

  /** The answer to a decision of the engine. */
  decided({ wanted, since }: AcquireCall, taken: Taken): AcquireAnswer {
    const now = this.parts.clock.now()
    const { local, reconciler } = this.parts
    if (local.owes) reconciler.start(taken.at)
    return taken.allowed ? this.admit(wanted, taken, now) : this.deny(wanted, taken, since, now)
  }

  admit(wanted: readonly CallCosts[], taken: Taken, now: number): Admitted {
    const { leases, leaseMs } = this.parts
    this.counts.admitted++
    this.countUsage(wanted, taken, now)
    const answer = new Admission(leases, leaseMs, wanted, taken)
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
    for (const { entity, limit } of denied.violations) this.parts.top.add(entity, own.resource, limit, 1, now)
    const usedUp = own.limits.flatMap(({ name, rule, cost, shadow }, i) => {
      const { retryAfterMs } = taken.views[0]![i]!
      // Concurrency slots are given back all the time. Denying from memory would block calls for no reason.
      const isKept = retryAfterMs > 0 && !shadow && rule.algorithm !== 'concurrency'
      return isKept ? [{ name, cost, retryAfterMs }] : []
    })
    if (since !== undefined && usedUp.length > 0) {
      const { entity, resource, policies } = own
      const statuses = denied.limits
      this.parts.exhausted.note({ entity, resource, limits: usedUp, statuses, policies }, now, since)
    }
    return denied
  }

  private countUsage(wanted: readonly CallCosts[], taken: Taken | undefined, now: number): void {
    for (let i = 0; i < wanted.length; i++) {
      const subject = wanted[i]!
      this.parts.usage.add(subject, taken?.views[i], now, subject.known)
    }
  }

  /** The answer when the engine cannot decide. */
  degraded(error: unknown, undecided: Undecided): AcquireAnswer {
    const { resource, onUnavailable } = undecided
    const decided = onUnavailable === 'local' ? this.decideHere(undecided) : undefined
    if (decided !== undefined) return decided
    // Without the store, an unknown resource name may be made up. It must not take a counter from real resources.
    const decisions = this.parts.decisions.ofKnown(resource)
    if (onUnavailable !== 'allow') {
      this.counts.degradedBlocked++
      decisions.degraded_blocked++
      const message = `limits cannot be decided, and onUnavailable is ${onUnavailable}`
      throw new CatracaError(unavailability(error), message, { cause: error, facts: { degraded: true } })
    }
    this.counts.degradedAllowed++
    decisions.degraded_allowed++
    return { allowed: true, degraded: true, leaseId: NO_LEASE, limits: {} }
  }

  /** Decides by the share of the limits that this process has. Undefined if it does not know the limits. */
  private decideHere({ resource, wanted }: Undecided): AcquireAnswer | undefined {
    const { local, clock, steady, decisions } = this.parts
    const decided = wanted && local.take(wanted, steady.now())
    if (decided === undefined) return undefined
    const { taken, wanted: shares, leaseId } = decided
    const counts = decisions.ofKnown(resource)
    this.countUsage(shares, taken.allowed ? taken : undefined, clock.now())
    if (!taken.allowed) {
      this.counts.localDenied++
      counts.local_denied++
      return { ...denial(shares, taken), degraded: true }
    }
    this.counts.localAllowed++
    counts.local_allowed++
    const [{ policies }] = shares as [CallCosts]
    const limits = statusesOf(shares[0]!, taken.views[0]!)
    const shadowViolations = violationsOf(shares, taken, true)
    return {
      ...{ allowed: true, degraded: true, leaseId, limits, policies },
      ...parentOf(shares, taken),
      ...(shadowViolations.length > 0 && { shadowViolations }),
    }
  }

  /** The caller gets no admission of the engine, so its cost is given back. */
  async returnAll(wanted: readonly CallCosts[], taken: Taken): Promise<void> {
    if (!taken.allowed) return
    const { leases, leaseMs } = this.parts
    const content = leaseOf(wanted, taken, leaseMs)
    await leases.giveBack(leases.leaseOf(leases.reserve(), content))
  }
}

const NONE: Violation[] = []
const hasShadow = ({ limits }: CallCosts): boolean => limits.some(({ shadow }) => shadow)
