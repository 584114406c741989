import { CatracaError, type FieldError, invalid } from '../../core/errors.js'
import type { Policy, PolicyLimit } from './policy.js'
import type { LimitCost } from './port.js'
import { refusal } from './refusal.js'
import { MAX_AMOUNT } from './rule.js'

/** What a call takes from one limit. */
export interface PolicyCost extends LimitCost {
  /**
   * In shadow mode: the cost is more than the limit can ever hold. Nothing is taken, and it is reported as a violation.
   */
  isOversized: boolean
}

/** The cost of every limit of the policy. Without `consume`, 1 of each. A limit that is not named costs 0. */
export function costsOf(policy: Policy, consume: Record<string, number> | undefined): readonly PolicyCost[] {
  if (policy.unreadable !== undefined) refuseUnreadable(policy.unreadable, consume)
  if (consume === undefined) return onesOf(policy)
  if (typeof consume !== 'object' || consume === null) {
    throw invalid('consume', 'must be an object of costs by limit')
  }
  const errors: FieldError[] = []
  const costs = policy.limits.map((limit) => costOf(limit, own(consume, limit.costName), errors))
  for (const name of Object.keys(consume)) {
    if (policy.limits.some((limit) => limit.costName === name)) continue
    errors.push({ path: `consume.${name.slice(0, 64)}`, message: 'is not a configured limit' })
  }
  if (errors.length > 0) throw refusal(errors)
  return costs
}

/** A call cannot take from an unreadable limit, but it can take from the other limits. */
function refuseUnreadable(unreadable: Record<string, string>, consume: Record<string, number> | undefined) {
  const wanted = Object.keys(unreadable).find((name) =>
    consume === undefined ? true : own(consume, name) > 0,
  )
  if (wanted !== undefined) throw new CatracaError('LIMIT_UNREADABLE', unreadable[wanted]!)
}

/** The usual costs, computed once per policy. */
const ones = new WeakMap<Policy, readonly PolicyCost[]>()

function onesOf(policy: Policy): readonly PolicyCost[] {
  let costs = ones.get(policy)
  if (costs === undefined) ones.set(policy, (costs = policy.limits.map((limit) => costOf(limit, 1, []))))
  return costs
}

/** Whether `costsOf` would accept these costs. */
export function areCosts({ limits }: Policy, consume: Record<string, number>): boolean {
  return Object.entries(consume).every(([name, cost]) => {
    const limit = limits.find((one) => one.name === name)
    return limit !== undefined && Number.isSafeInteger(cost) && cost >= 0 && cost <= limit.rule.capacity
  })
}

/**
 * Costs of the parent: the costs of the call for limits that the parent also has. A cost above the parent's
 * capacity is an error too.
 */
export function parentCostsOf(policy: Policy, own: readonly PolicyCost[]): PolicyCost[] {
  const errors: FieldError[] = []
  const costs = policy.limits.map((limit) => {
    const same = own.find(({ name }) => name === limit.costName)
    const cost = same === undefined ? 0 : same.isOversized ? limit.rule.capacity + 1 : same.cost
    return costOf(limit, cost, errors)
  })
  if (errors.length > 0) throw refusal(errors)
  return costs
}

function costOf(limit: PolicyLimit, cost: number, errors: FieldError[]): PolicyCost {
  const { name, costName, rule, shadow } = limit
  const path = `consume.${costName}`
  if (!Number.isSafeInteger(cost) || cost < 0 || cost > MAX_AMOUNT) {
    errors.push({ path, message: `must be a whole number from 0 to ${MAX_AMOUNT}` })
  } else if (cost > rule.capacity && !shadow) {
    errors.push({ path, message: `is more than the ${rule.capacity} that the limit can ever hold` })
  }
  const isOversized = cost > rule.capacity
  return { name, rule, shadow, cost: isOversized ? 0 : cost, isOversized }
}

const own = (consume: Record<string, number>, name: string): number =>
  Object.hasOwn(consume, name) ? consume[name]! : 0

/** Validates the deltas of an `adjust`, by limit name. They may be negative. */
export function checkDelta(input: unknown): Record<string, number> {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    throw invalid('delta', 'must be an object of changes by limit')
  }
  const errors = Object.entries(input).flatMap(([name, delta]) =>
    Number.isSafeInteger(delta) && Math.abs(delta) <= MAX_AMOUNT
      ? []
      : [{ path: `delta.${name.slice(0, 64)}`, message: `must be a whole number up to ${MAX_AMOUNT}` }],
  )
  if (errors.length > 0) throw refusal(errors)
  return input as Record<string, number>
}
