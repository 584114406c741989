import { KIND } from '../../../guards/rate-limit/algorithms/algorithm.js'
import type { LeasedLimit, LimitCost } from '../../../guards/rate-limit/port.js'
import type { Algorithm, Rule } from '../../../guards/rate-limit/rule.js'

const KIND_OF: Record<Algorithm, number> = {
  'token-bucket': KIND.bucket,
  'fixed-window': KIND.fixed,
  'sliding-window-counter': KIND.counter,
  'sliding-window': KIND.log,
  concurrency: KIND.slots,
}

/** The files of scripts that decide. Only the algorithms that a plan names are run. */
export const DECIDING = {
  offers: ['limit-bucket', 'limit-fixed', 'limit-windows', 'limit-log', 'limit-row'],
  uses: ['limit-plan', 'limit-row-one'],
} as const

/** Limits in the format of `lua/limit-plan.lua`. */
export interface Plan {
  text: string
  /** The arguments of the usual call. */
  args: readonly [how: string, text: string]
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
      hasLog: limits.some(({ rule }) => KIND_OF[rule.algorithm] >= KIND.log),
    }
    plans.set(limits, plan)
  }
  return plan
}

export function leasePlan(limits: readonly LeasedLimit[]): string {
  return limits.map(({ name, rule, cost, delta }) => `${ruleText(name, rule)} ${cost} ${delta}`).join(';')
}

function ruleText(name: string, rule: Rule): string {
  const { algorithm, capacity, periodMs, unitsPerMs, unitsPerToken } = rule
  return `${name} ${KIND_OF[algorithm]} ${capacity} ${periodMs} ${unitsPerMs} ${unitsPerToken}`
}
