import { compileRule, type Rule } from './rule.js'
import type { EffectiveLimit, LimitPolicy, LimitsOnUnavailable, ResolvedConfig } from './types.js'

/** One limit of a subject, with its compiled rule. */
export interface PolicyLimit {
  name: string
  /** The name by which calls give its cost. */
  costName: string
  rule: Rule
  shadow: boolean
}

/** A resolved configuration in the form that `acquire` needs. */
export interface Policy {
  limits: readonly PolicyLimit[]
  /** Returned with each answer. */
  told: Record<string, LimitPolicy>
  onUnavailable: LimitsOnUnavailable
  /** Limits whose stored record cannot be used, with the reason. */
  unreadable: Record<string, string> | undefined
}

export function toPolicy({ limits, onUnavailable, unreadable }: ResolvedConfig): Policy {
  const compiled = Object.entries(limits).map(([name, limit]) => policyLimit(name, limit))
  return {
    onUnavailable,
    unreadable,
    told: Object.fromEntries(compiled.map(({ name, rule }) => [name, tell(rule)])),
    limits: compiled,
  }
}

function tell({ algorithm, capacity, periodMs, unitsPerMs, unitsPerToken }: Rule): LimitPolicy {
  if (algorithm === 'concurrency') return { isConcurrency: true }
  // A caller that spreads its calls evenly over this window stays within the limit. For a bucket that is the time
  // to fill it, not the period.
  const windowMs = algorithm === 'token-bucket' ? (capacity * unitsPerToken) / unitsPerMs : periodMs
  return { isConcurrency: false, windowSeconds: Math.ceil(windowMs / 1000) }
}

function policyLimit(name: string, limit: EffectiveLimit): PolicyLimit {
  const rule = compileRule(`limits.${name}`, limit)
  return { name, costName: name, rule, shadow: limit.mode === 'shadow' }
}

/** Suffix of a limit that a call adds, so that it has its own counter. No configured limit can have this name. */
const ADDED = '*'
export const costNameOf = (name: string): string =>
  name.endsWith(ADDED) ? name.slice(0, -ADDED.length) : name

/**
 * A policy with further limits, which can only deny more. They have their own counters, so the counts of the
 * configured limits are not lost or counted by another rule.
 */
export function withAdded(policy: Policy, added: readonly PolicyLimit[]): Policy {
  const further = added.map((limit) => ({ ...limit, name: limit.name + ADDED }))
  return {
    ...policy,
    limits: [...policy.limits, ...further],
    told: { ...policy.told, ...Object.fromEntries(further.map(({ name, rule }) => [name, tell(rule)])) },
  }
}
