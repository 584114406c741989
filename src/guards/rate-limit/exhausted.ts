import type { DeniedTop } from './denied-top.js'
import type { LimitStore } from './port.js'
import type { Denied, LimitPolicy, LimitStatus, Subject } from './types.js'

interface Known {
  name: string
  /** Costs of at least `cost` are denied until this time. */
  until: number
  cost: number
  /** Denials not yet added to the top list: to add each one would be half of the work. */
  denied: number
}

interface KnownSubject extends Subject {
  limits: readonly Known[]
  statuses: Record<string, LimitStatus>
  policies: Record<string, LimitPolicy>
  /** When the engine returned the statuses. */
  at: number
  /** The last denial. Within one millisecond it is reused for all calls that take 1 of each limit. */
  last: Denied | undefined
  lastAt: number
  /** The limits that denied in the last answer, and its time. */
  denying: readonly Known[]
  deniedAt: number
}

const MAX_SUBJECTS = 100_000
/** For the last changes, the subject is remembered. */
const REMEMBERED_CHANGES = 64

/** What the engine returned for an exhausted subject. */
export interface Exhaustion extends Subject {
  limits: readonly { name: string; cost: number; retryAfterMs: number }[]
  statuses: Record<string, LimitStatus>
  policies: Record<string, LimitPolicy>
}

/**
 * Caches exhausted limits, so that the engine need not be called: if a cost is denied until T, then it and every
 * higher cost are denied until T. May deny for a moment although capacity was just freed; never admits.
 */
export class Exhausted {
  private readonly subjects = new Map<string, Map<string, KnownSubject>>()
  private size = 0
  private changes = 0
  private readonly changed: (Subject | undefined)[] = []

  private unwatch: (() => void) | undefined

  constructor(
    private readonly counters: Pick<LimitStore, 'watch'>,
    /** The longest time that a denial is cached, in case the notification of a change is lost. */
    private readonly maxMs: number,
    private readonly top: DeniedTop,
  ) {}

  /**
   * Call this before the engine is called. The number increases with every change that makes a cached denial invalid.
   * Before the first call, memory holds nothing that another process could have changed.
   */
  since(): number {
    this.unwatch ??= this.counters.watch((freed) => (freed === undefined ? this.clear() : this.forget(freed)))
    return this.changes
  }

  /**
   * `since`: the number before the engine was called. If capacity was freed since then, the engine may have
   * decided before that, so the denial is not cached.
   */
  note(exhaustion: Exhaustion, now: number, since: number): void {
    const { entity, resource, limits, statuses, policies } = exhaustion
    if (this.isChangedSince(since, exhaustion)) return
    if (this.size >= MAX_SUBJECTS) this.drop()
    let ofResource = this.subjects.get(resource)
    if (ofResource === undefined) this.subjects.set(resource, (ofResource = new Map()))
    const before = ofResource.get(entity)
    if (before === undefined) this.size++
    else this.flushDenials(before)
    const known = limits.map(({ name, cost, retryAfterMs }) => {
      return { name, until: now + Math.min(retryAfterMs, this.maxMs), cost, denied: 0 }
    })
    ofResource.set(entity, {
      entity,
      resource,
      limits: known,
      statuses,
      policies,
      at: now,
      last: undefined,
      lastAt: 0,
      denying: known,
      deniedAt: now,
    })
  }

  /** The cached denial. Undefined if the engine must be called, or if `consume` is invalid. */
  find(
    entity: string,
    resource: string,
    consume: Record<string, number> | undefined,
    now: number,
  ): Denied | undefined {
    // Mostly nothing is exhausted.
    const known = this.size === 0 ? undefined : this.subjects.get(resource)?.get(entity)
    if (known === undefined || now < known.at) return undefined
    if (consume === undefined && known.last !== undefined && known.lastAt === now) {
      const { denying } = known
      for (let i = 0; i < denying.length; i++) denying[i]!.denied++
      return known.last
    }
    if (consume !== undefined && !isValid(consume, known.statuses)) return undefined
    const denying = known.limits.filter(
      ({ name, until, cost }) => now < until && costOf(consume, name) >= cost,
    )
    if (denying.length === 0) return undefined
    const denied = denialOf(known, denying, now)
    for (let i = 0; i < denying.length; i++) denying[i]!.denied++
    known.deniedAt = now
    if (consume === undefined) {
      known.denying = denying
      known.last = denied
      known.lastAt = now
    }
    return denied
  }

  forget(subject: Subject): void {
    this.change(subject)
    const ofResource = this.subjects.get(subject.resource)
    const known = ofResource?.get(subject.entity)
    if (known === undefined) return
    this.flushDenials(known)
    ofResource!.delete(subject.entity)
    this.size--
  }

  clear(): void {
    this.change(undefined)
    this.drop()
  }

  /** Adds all pending denial counts to the top list. */
  flushAllDenials(): void {
    for (const ofResource of this.subjects.values())
      for (const known of ofResource.values()) this.flushDenials(known)
  }

  private flushDenials(known: KnownSubject): void {
    for (const limit of known.limits) {
      if (limit.denied === 0) continue
      this.top.add(known.entity, known.resource, limit.name, limit.denied, known.deniedAt)
      limit.denied = 0
    }
  }

  close(): void {
    this.unwatch?.()
  }

  private drop(): void {
    this.flushAllDenials()
    this.subjects.clear()
    this.size = 0
  }

  private change(subject: Subject | undefined): void {
    this.changed[this.changes++ % REMEMBERED_CHANGES] = subject
  }

  private isChangedSince(since: number, { entity, resource }: Subject): boolean {
    if (this.changes - since > REMEMBERED_CHANGES) return true
    for (let i = since; i < this.changes; i++) {
      const subject = this.changed[i % REMEMBERED_CHANGES]
      if (subject === undefined || (subject.entity === entity && subject.resource === resource)) return true
    }
    return false
  }
}

/** Invalid costs are reported later, by the code that knows the configuration. */
function isValid(consume: Record<string, number>, statuses: Record<string, LimitStatus>): boolean {
  return Object.entries(consume).every(([name, cost]) => {
    const limit = Object.hasOwn(statuses, name) ? statuses[name]!.limit : -1
    return Number.isSafeInteger(cost) && cost >= 0 && cost <= limit
  })
}

function denialOf(
  { entity, statuses, policies, at }: KnownSubject,
  denying: readonly Known[],
  now: number,
): Denied {
  const violations = denying.map(({ name, until }) => ({ entity, limit: name, retryAfterMs: until - now }))
  return {
    allowed: false,
    violations,
    retryAfterMs: Math.max(...violations.map((violation) => violation.retryAfterMs)),
    limits: later(statuses, now - at),
    policies,
  }
}

function costOf(consume: Record<string, number> | undefined, name: string): number {
  if (consume === undefined) return 1
  return Object.hasOwn(consume, name) ? consume[name]! : 0
}

function later(statuses: Record<string, LimitStatus>, elapsedMs: number): Record<string, LimitStatus> {
  const told: Record<string, LimitStatus> = {}
  for (const [name, { limit, remaining, resetMs }] of Object.entries(statuses)) {
    told[name] = { limit, remaining, resetMs: Math.max(0, resetMs - elapsedMs) }
  }
  return told
}
