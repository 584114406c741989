import assert from 'node:assert/strict'
import type { LeaseUse, LimitCost, LimitStore, SubjectCosts } from '../../guards/rate-limit/port.js'
import { type Algorithm, compileRule } from '../../guards/rate-limit/rule.js'
import { NOW } from '../support.js'

export const MINUTE_MS = 60_000
export const HOUR_MS = 3_600_000
const LEASE_MS = 600_000

export const ruleOf = (algorithm: Algorithm, capacity: number, refillPeriodSeconds = 60) =>
  compileRule('limit', {
    algorithm,
    capacity,
    burst: capacity,
    refillAmount: capacity,
    refillPeriodSeconds,
  })

export const bucket = (capacity: number) => ruleOf('token-bucket', capacity)
export const cost = (name: string, rule: LimitCost['rule'], amount: number, shadow = false): LimitCost => ({
  name,
  rule,
  cost: amount,
  shadow,
})
export const of = (entity: string, ...limits: LimitCost[]): SubjectCosts => ({
  entity,
  resource: 'gpt-4',
  limits,
})

export async function remaining(store: LimitStore, subject: SubjectCosts, now = NOW): Promise<number[]> {
  const limits = subject.limits.map((limit) => ({ ...limit, cost: 0 }))
  const { allowed, views } = await store.take([{ ...subject, limits }], now)
  assert.equal(allowed, true)
  return views[0]!.map((view) => view.remaining)
}

let leases = 0
/** The lease of a take, with a delta by limit. */
export function lease(
  subjects: SubjectCosts[],
  deltas: Record<string, number> = {},
  takenAt = NOW,
): LeaseUse {
  return {
    id: `lease-${++leases}`,
    takenAt,
    expiresAt: takenAt + LEASE_MS,
    subjects: subjects.map(({ entity, resource, limits }) => ({
      entity,
      resource,
      limits: limits.map(({ name, rule, cost }) => ({ name, rule, cost, delta: deltas[name] ?? 0 })),
    })),
  }
}

export const view = (left: number, resetMs: number, retryAfterMs = 0) => ({
  remaining: left,
  resetMs,
  retryAfterMs,
})
