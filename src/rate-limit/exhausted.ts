import type { LimitStatus, Subject } from './types.js'

interface Known {
  /** Until then costs from this one on are denied. */
  until: number
  cost: number
}

interface KnownSubject {
  limits: Map<string, Known>
  statuses: Record<string, LimitStatus>
  /** When the statuses were told. */
  at: number
}

const MAX_SUBJECTS = 100_000

/**
 * What is known to be used up, so that the engine need not be asked: a cost that was denied until T is denied until T,
 * and so is every higher one. May deny for a moment what somebody has just freed; admits nothing.
 */
export class Exhausted {
  private readonly subjects = new Map<string, Map<string, KnownSubject>>()
  private size = 0

  note(
    { entity, resource }: Subject,
    limits: readonly { name: string; cost: number; retryAfterMs: number }[],
    statuses: Record<string, LimitStatus>,
    now: number,
  ): void {
    if (this.size >= MAX_SUBJECTS) this.clear()
    let ofResource = this.subjects.get(resource)
    if (ofResource === undefined) this.subjects.set(resource, (ofResource = new Map()))
    if (!ofResource.has(entity)) this.size++
    const known = limits.map(({ name, cost, retryAfterMs }): [string, Known] => {
      return [name, { until: now + retryAfterMs, cost }]
    })
    ofResource.set(entity, { limits: new Map(known), statuses, at: now })
  }

  /** The limits that deny these costs, and what was told of all; undefined when the engine has to be asked. */
  find(
    { entity, resource }: Subject,
    costs: readonly { name: string; cost: number }[],
    now: number,
  ): { limits: { name: string; retryAfterMs: number }[]; statuses: Record<string, LimitStatus> } | undefined {
    const known = this.subjects.get(resource)?.get(entity)
    if (known === undefined) return undefined
    const limits: { name: string; retryAfterMs: number }[] = []
    for (const { name, cost } of costs) {
      const one = known.limits.get(name)
      if (one !== undefined && cost >= one.cost && now < one.until && now >= known.at) {
        limits.push({ name, retryAfterMs: one.until - now })
      }
    }
    return limits.length === 0 ? undefined : { limits, statuses: later(known, now) }
  }

  forget({ entity, resource }: Subject): void {
    if (this.subjects.get(resource)?.delete(entity) === true) this.size--
  }

  clear(): void {
    this.subjects.clear()
    this.size = 0
  }
}

function later({ statuses, at }: KnownSubject, now: number): Record<string, LimitStatus> {
  if (now === at) return statuses
  const told = Object.entries(statuses).map(([name, status]) => {
    return [name, { ...status, resetMs: Math.max(0, status.resetMs - (now - at)) }]
  })
  return Object.fromEntries(told) as Record<string, LimitStatus>
}
