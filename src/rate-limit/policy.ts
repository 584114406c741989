import { compileRule, type Rule } from './rule.js'
import type { EffectiveLimit, LimitPolicy, OnUnavailable, ResolvedConfig } from './types.js'

/** One limit of a subject, ready to be asked for. */
export interface PolicyLimit {
  name: string
  rule: Rule
  shadow: boolean
}

/** A resolved configuration in the form that each acquire needs. */
export interface Policy {
  limits: readonly PolicyLimit[]
  /** Told with each answer. */
  told: Record<string, LimitPolicy>
  onUnavailable: OnUnavailable
}

export function toPolicy({ limits, onUnavailable }: ResolvedConfig): Policy {
  const compiled = Object.entries(limits).map(([name, limit]) => policyLimit(name, limit))
  return {
    onUnavailable,
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
  return { name, rule: compileRule(`limits.${name}`, limit), shadow: limit.mode === 'shadow' }
}
