import { compileRule, type Rule } from './rule.js'
import type { EffectiveLimit, LimitPolicy, OnUnavailable, ResolvedConfig } from './types.js'

/** One limit of a subject, ready to be asked for. */
export interface PolicyLimit {
  name: string
  /** What calls say when they name its cost. */
  costName: string
  rule: Rule
  shadow: boolean
}

/** A resolved configuration in the form that each acquire needs. */
export interface Policy {
  limits: readonly PolicyLimit[]
  /** Told with each answer. */
  told: Record<string, LimitPolicy>
  onUnavailable: OnUnavailable
  /** Limits of which a stored record cannot be used, with what is wrong. */
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
  // Who spreads calls evenly over it keeps to the limit: of a bucket that is the time to fill it, not the period.
  const windowMs = algorithm === 'token-bucket' ? (capacity * unitsPerToken) / unitsPerMs : periodMs
  return { isConcurrency: false, windowSeconds: Math.ceil(windowMs / 1000) }
}

function policyLimit(name: string, limit: EffectiveLimit): PolicyLimit {
  const rule = compileRule(`limits.${name}`, limit)
  return { name, costName: name, rule, shadow: limit.mode === 'shadow' }
}

/** Behind the name of a limit: what a call adds to it counts by itself. No configured limit is called so. */
const ADDED = '*'
export const costNameOf = (name: string): string =>
  name.endsWith(ADDED) ? name.slice(0, -ADDED.length) : name

/**
 * A policy with further limits, which can only deny more: they have counters of their own, so that nothing of the
 * configured ones is forgotten or counted by another rule.
 */
export function withAdded(policy: Policy, added: readonly PolicyLimit[]): Policy {
  const further = added.map((limit) => ({ ...limit, name: limit.name + ADDED }))
  return {
    ...policy,
    limits: [...policy.limits, ...further],
    told: { ...policy.told, ...Object.fromEntries(further.map(({ name, rule }) => [name, tell(rule)])) },
  }
}
