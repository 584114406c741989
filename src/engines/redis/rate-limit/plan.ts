import { KIND, KIND_OF } from '../../../guards/rate-limit/algorithms/algorithm.js'
import type { LeasedLimit, LimitCost } from '../../../guards/rate-limit/port.js'
import type { Rule } from '../../../guards/rate-limit/rule.js'

/** The files of scripts that decide. Only the algorithms that a plan names are run. */
export const DECIDING = {
  offers: ['limit-bucket', 'limit-fixed', 'limit-windows', 'limit-log', 'limit-row'],
  uses: ['limit-rewound', 'limit-plan', 'limit-row-one'],
} as const

/** Limits in the format of `lua/limit-plan.lua`. */
export interface Plan {
  text: string
  /** The arguments of the usual call. */
  args: readonly [how: string, text: string]
  /** Those of `lua/limit-take-bucket.lua` by the server's clock, if it can decide. */
  bucket: readonly [how: string, ...rule: string[]] | undefined
  /** Whether one of the limits needs the subject's log. */
  hasLog: boolean
}

/** The guard usually passes the same array, so its plan is cached. */
const plans = new WeakMap<readonly LimitCost[], Plan>()

export function planOf(limits: readonly LimitCost[]): Plan {
  let plan = plans.get(limits)
  if (plan === undefined) {
    const text = limits
      .map(({ name, rule, cost, shadow }) => `${ruleText(name, rule)} ${cost} ${shadow ? 1 : 0}`)
      .join(';')
    plan = {
      text,
      args: ['', text],
      bucket: limits.length === 1 ? bucketOf(limits[0]!) : undefined,
      hasLog: limits.some(({ rule }) => KIND_OF[rule.algorithm] >= KIND.log),
    }
    plans.set(limits, plan)
  }
  return plan
}

function bucketOf({ name, rule, cost, shadow }: LimitCost): Plan['bucket'] {
  if (rule.algorithm !== 'token-bucket' || shadow || cost < 1) return undefined
  return ['', name, ...[rule.capacity, rule.unitsPerMs, rule.unitsPerToken, cost].map(String)]
}

export function leasePlan(limits: readonly LeasedLimit[]): string {
  return limits.map(({ name, rule, cost, delta }) => `${ruleText(name, rule)} ${cost} ${delta}`).join(';')
}

function ruleText(name: string, rule: Rule): string {
  const { algorithm, capacity, periodMs, unitsPerMs, unitsPerToken } = rule
  return `${name} ${KIND_OF[algorithm]} ${capacity} ${periodMs} ${unitsPerMs} ${unitsPerToken}`
}
