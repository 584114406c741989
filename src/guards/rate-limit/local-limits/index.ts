import { randomBytes } from 'node:crypto'
import { ALGORITHM } from '../algorithms/index.js'
import type { CallCosts } from '../answers.js'
import type { PolicyCost } from '../costs.js'
import { correct, decide, expiresAt, type SubjectState } from '../decide.js'
import { costNameOf } from '../policy.js'
import type { LeasedLimit, LimitCost, Taken } from '../port.js'
import type { Rule } from '../rule.js'
import type { LeaseChange, Subject } from '../types.js'
import { shareOf } from './share.js'

/** Subjects, and leases on them, that are held in memory. */
const MAX_SUBJECTS = 10_000
const MAX_LEASES = 10_000
const SWEEP_EVERY_MS = 1000
const LEASE_PREFIX = 'local.'

/** What this process admitted of one subject while the store was away. */
export interface LocalSubject extends Subject {
  /** What is used of the shares. It outlives the outage: a second one soon after must not bring a second share. */
  state: SubjectState
  /** The part of it that the store has not been charged. */
  owed: SubjectState
  /** By limit: the configured rule, and the part of it that is enforced here. */
  readonly rules: Map<string, { whole: Rule; part: Rule }>
}

interface LocalLease {
  takenAt: number
  /** The store was told: what is given back stays charged there. */
  isCharged: boolean
  subjects: { subject: LocalSubject; limits: { name: string; rule: Rule; cost: number }[] }[]
}

export type LocalAnswer =
  | { taken: Taken; wanted: readonly CallCosts[]; leaseId: string }
  /** Memory is full. */
  | undefined

/** Enforces a share of each limit in this process while the store is away. */
export class LocalLimits {
  private readonly resources = new Map<string, Map<string, LocalSubject>>()
  private readonly leases = new Map<string, LocalLease>()
  private count = 0
  private readonly owing = new Set<LocalSubject>()
  private sweptAt = Number.NEGATIVE_INFINITY

  constructor(
    private readonly share: number,
    private readonly maxSubjects = MAX_SUBJECTS,
  ) {}

  get size(): number {
    return this.count
  }

  /** Whether the store must be told of anything. */
  get owes(): boolean {
    return this.owing.size > 0
  }

  static isLease(leaseId: string): boolean {
    return leaseId.startsWith(LEASE_PREFIX)
  }

  /** Takes from the shares of all limits, or from none. */
  take(wanted: readonly CallCosts[], now: number): LocalAnswer {
    const subjects: LocalSubject[] = []
    for (const { entity, resource, limits } of wanted) {
      const subject = this.subjectOf({ entity, resource }, now)
      if (subject === undefined) return undefined
      for (const { name, rule } of limits) subject.rules.set(name, { whole: rule, part: this.partOf(rule) })
      subjects.push(subject)
    }
    const parts = wanted.map((one) => ({ ...one, limits: one.limits.map((limit) => this.costOf(limit)) }))
    const isOver = parts.some(({ limits }) =>
      limits.some(({ isOversized, shadow }) => isOversized && !shadow),
    )
    // A cost that is above the share never passes here. Everything is only read then.
    const asked = isOver ? parts.map(reading) : parts
    const before = subjects.map(({ state }) => state)
    const { allowed, views, states } = decide(before, asked, now)
    if (!isOver) {
      states.forEach((state, i) => {
        if (state !== undefined) subjects[i]!.state = state
      })
    }
    if (allowed && !isOver) {
      subjects.forEach((subject, i) => {
        const taken = parts[i]!.limits.filter((_, j) => views[i]![j]!.retryAfterMs === 0)
        this.owe(
          subject,
          taken.map(({ name, rule, cost }) => ({ name, rule, used: cost })),
          now,
        )
      })
    }
    const taken = { allowed: allowed && !isOver, at: now, views }
    return { taken, wanted: parts, leaseId: taken.allowed ? this.lease(subjects, parts, taken) : '' }
  }

  /** Gives a lease back, or corrects it. Not applied: the store was told of it, or it was not made here. */
  change(leaseId: string, delta: Record<string, number> | 'all', now: number): LeaseChange {
    const lease = this.leases.get(leaseId)
    if (lease === undefined) return { applied: false }
    if (delta === 'all') this.leases.delete(leaseId)
    let applied = !lease.isCharged
    for (const { subject, limits } of lease.subjects) {
      const amounts = limits.map((limit) => {
        const amount = delta === 'all' ? -limit.cost : (delta[costNameOf(limit.name)] ?? 0)
        const most = Math.max(amount, -limit.cost)
        // Slots are never charged, so they end here whenever their work does.
        if (lease.isCharged && limit.rule.algorithm !== 'concurrency') return 0
        limit.cost += most
        applied ||= most !== 0
        return most
      })
      const leased: LeasedLimit[] = limits.map((limit) => ({ ...limit, delta: 0 }))
      subject.state = correct(subject.state, leased, amounts, lease.takenAt, now) ?? subject.state
      subject.owed = correct(subject.owed, leased, amounts, lease.takenAt, now) ?? subject.owed
    }
    return { applied }
  }

  private owe(
    subject: LocalSubject,
    taken: readonly { name: string; rule: Rule; used: number }[],
    now: number,
  ): void {
    const limits = taken.map(({ name, rule, used }) => ({ name, rule, cost: used, delta: 0 }))
    const amounts = limits.map(({ cost }) => cost)
    subject.owed = correct(subject.owed, limits, amounts, now, now) ?? subject.owed
    this.owing.add(subject)
  }

  /** What the store must be told of, each subject with what of its shares is in use now. It is owed no more. */
  settle(now: number): { subject: LocalSubject; limits: { name: string; rule: Rule; used: number }[] }[] {
    const settled = [...this.owing].map((subject) => {
      const limits = inUse(subject, now)
      subject.owed = []
      return { subject, limits }
    })
    this.owing.clear()
    for (const lease of this.leases.values()) lease.isCharged = true
    return settled.filter(({ limits }) => limits.length > 0)
  }

  /** The store could not be told. */
  oweAgain(subject: LocalSubject, limits: readonly { name: string; used: number }[], now: number): void {
    const parts = limits.map(({ name, used }) => ({ name, rule: subject.rules.get(name)!.part, used }))
    this.owe(subject, parts, now)
  }

  private subjectOf({ entity, resource }: Subject, now: number): LocalSubject | undefined {
    let ofResource = this.resources.get(resource)
    const known = ofResource?.get(entity)
    if (known !== undefined) return known
    if (this.count >= this.maxSubjects) this.sweep(now)
    // A new subject in the place of one that has used its share would let that one use it twice.
    if (this.count >= this.maxSubjects) return undefined
    ofResource = this.resources.get(resource)
    if (ofResource === undefined) this.resources.set(resource, (ofResource = new Map()))
    const made: LocalSubject = { entity, resource, state: [], owed: [], rules: new Map() }
    ofResource.set(entity, made)
    this.count++
    return made
  }

  /** Forgets subjects whose share is whole again. */
  private sweep(now: number): void {
    if (now - this.sweptAt < SWEEP_EVERY_MS && now >= this.sweptAt) return
    this.sweptAt = now
    for (const [resource, ofResource] of this.resources) {
      for (const [entity, subject] of ofResource) {
        const { state, rules } = subject
        const limits = [...rules].map(([name, { part }]) => ({ name, rule: part }))
        if (expiresAt(state, limits, now) > now) continue
        ofResource.delete(entity)
        this.owing.delete(subject)
        this.count--
      }
      if (ofResource.size === 0) this.resources.delete(resource)
    }
  }

  private lease(subjects: LocalSubject[], parts: readonly CallCosts[], { at, views }: Taken): string {
    const id = `${LEASE_PREFIX}${randomBytes(12).toString('base64url')}`
    if (this.leases.size >= MAX_LEASES) this.leases.delete(this.leases.keys().next().value!)
    const taken = parts.map(({ limits }, i) => ({
      subject: subjects[i]!,
      limits: limits.map(({ name, rule, cost }, j) => ({
        ...{ name, rule },
        cost: views[i]![j]!.retryAfterMs > 0 ? 0 : cost,
      })),
    }))
    this.leases.set(id, { takenAt: at, isCharged: false, subjects: taken })
    return id
  }

  private costOf(limit: PolicyCost): PolicyCost {
    const rule = this.partOf(limit.rule)
    const isOversized = limit.isOversized || limit.cost > rule.capacity
    return { ...limit, rule, isOversized, cost: isOversized ? 0 : limit.cost }
  }

  private readonly parts = new WeakMap<Rule, Rule>()

  private partOf(rule: Rule): Rule {
    let part = this.parts.get(rule)
    if (part === undefined) this.parts.set(rule, (part = shareOf(rule, this.share)))
    return part
  }
}

/** What of the shares is in use and was not charged, in whole tokens. Slots of concurrency limits end with their work. */
function inUse({ owed, rules }: LocalSubject, now: number): { name: string; rule: Rule; used: number }[] {
  return [...rules].flatMap(([name, { whole, part }]) => {
    const known = owed.find(([limit]) => limit === name)?.[1]
    if (known === undefined || part.algorithm === 'concurrency') return []
    const { remaining } = ALGORITHM[part.algorithm].take(known, part, 0, now)
    const used = part.capacity - remaining
    return used > 0 ? [{ name, rule: whole, used }] : []
  })
}

const reading = (one: CallCosts): CallCosts => ({ ...one, limits: one.limits.map(onlyReading) })
const onlyReading = <T extends LimitCost>(limit: T): T => ({ ...limit, cost: 0 })
