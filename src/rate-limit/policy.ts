import { compileRule, type Rule } from './rule.js'
import type { EffectiveLimit, OnUnavailable, ResolvedConfig } from './types.js'

/** One limit of a subject, ready to be asked for. */
export interface PolicyLimit {
  name: string
  rule: Rule
  shadow: boolean
  /** The most that can be there. */
  limit: number
  periodSeconds: number
}

/** A resolved configuration in the form that each acquire needs. */
export interface Policy {
  limits: readonly PolicyLimit[]
  onUnavailable: OnUnavailable
}

export function toPolicy({ limits, onUnavailable }: ResolvedConfig): Policy {
  return {
    onUnavailable,
    limits: Object.entries(limits).map(([name, limit]) => policyLimit(name, limit)),
  }
}

function policyLimit(name: string, limit: EffectiveLimit): PolicyLimit {
  const rule = compileRule(`limits.${name}`, limit)
  return {
    name,
    rule,
    shadow: limit.mode === 'shadow',
    limit: rule.capacity,
    periodSeconds: limit.refillPeriodSeconds,
  }
}
