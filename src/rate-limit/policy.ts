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
  return {
    onUnavailable,
    told: Object.fromEntries(Object.entries(limits).map(([name, limit]) => [name, tell(limit)])),
    limits: Object.entries(limits).map(([name, limit]) => policyLimit(name, limit)),
  }
}

function tell({ algorithm, refillPeriodSeconds }: EffectiveLimit): LimitPolicy {
  if (algorithm === 'concurrency') return { isConcurrency: true }
  return { isConcurrency: false, windowSeconds: refillPeriodSeconds }
}

function policyLimit(name: string, limit: EffectiveLimit): PolicyLimit {
  return { name, rule: compileRule(`limits.${name}`, limit), shadow: limit.mode === 'shadow' }
}
