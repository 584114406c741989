import type { LimitView } from './algorithms/algorithm.js'
import type { PolicyCost } from './costs.js'
import type { LeaseContent } from './lease-token.js'
import type { ResolvedSubject } from './policies.js'
import type { Taken } from './port.js'
import type { Denied, LimitPolicy, LimitStatus, LimitsOnUnavailable, Subject, Violation } from './types.js'

/** A subject and what a call takes from it. */
export interface CallCosts extends Subject {
  limits: readonly PolicyCost[]
  policies: Record<string, LimitPolicy>
  /** The cached configuration of the subject, if it was at hand. */
  known: ResolvedSubject | undefined
}

/** A call to the engine, and what to do when it does not answer. */
export interface AcquireCall {
  wanted: readonly CallCosts[]
  signal: AbortSignal | undefined
  /**
   * The version of `Exhausted` before the call. Absent if the call had its own limits: then the denial is not cached.
   */
  since: number | undefined
  onUnavailable: LimitsOnUnavailable
}

export function statusesOf({ limits }: CallCosts, views: readonly LimitView[]): Record<string, LimitStatus> {
  const statuses: Record<string, LimitStatus> = {}
  for (let i = 0; i < limits.length; i++) {
    const { name, rule } = limits[i]!
    const { remaining, resetMs } = views[i]!
    statuses[name] = { limit: rule.capacity, remaining, resetMs }
  }
  return statuses
}

/** Violations of the enforcing limits, or of those in shadow mode. */
export function violationsOf(wanted: readonly CallCosts[], { views }: Taken, shadow: boolean): Violation[] {
  const violations: Violation[] = []
  for (let i = 0; i < wanted.length; i++) {
    const { entity, limits } = wanted[i]!
    for (let j = 0; j < limits.length; j++) {
      const cost = limits[j]!
      const { retryAfterMs, resetMs } = views[i]![j]!
      if (cost.shadow !== shadow || (retryAfterMs === 0 && !cost.isOversized)) continue
      violations.push({ entity, limit: cost.name, retryAfterMs: cost.isOversized ? resetMs : retryAfterMs })
    }
  }
  return violations
}

export function denial(wanted: readonly CallCosts[], taken: Taken): Denied {
  const violations = violationsOf(wanted, taken, false)
  return {
    allowed: false,
    violations,
    retryAfterMs: violations.reduce((longest, { retryAfterMs }) => Math.max(longest, retryAfterMs), 0),
    limits: statusesOf(wanted[0]!, taken.views[0]!),
    policies: wanted[0]!.policies,
    ...parentOf(wanted, taken),
  }
}

export function parentOf(
  [, parent]: readonly CallCosts[],
  { views }: Taken,
): { parent?: { entity: string; limits: Record<string, LimitStatus> } } {
  if (parent === undefined) return {}
  return { parent: { entity: parent.entity, limits: statusesOf(parent, views[1]!) } }
}

/** What was actually taken: nothing from a shadow limit that would have denied. Such limits can still be adjusted. */
export function leaseOf(
  wanted: readonly CallCosts[],
  { at, views, from = wanted }: Taken,
  leaseMs: number,
): LeaseContent {
  const subjects = from.map(({ entity, resource, limits }, i) => ({
    entity,
    resource,
    limits: limits.map(({ name, rule, cost }, j) => ({
      name,
      rule,
      cost: views[i]![j]!.retryAfterMs > 0 ? 0 : cost,
    })),
  }))
  return { takenAt: at, expiresAt: at + leaseMs, subjects }
}
