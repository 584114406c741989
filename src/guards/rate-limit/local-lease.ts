import { randomUUID } from 'node:crypto'
import type { Clock } from '../../core/clock.js'
import { invalid, isCatracaError } from '../../core/errors.js'
import { every } from '../../core/timers.js'
import type { Freed, LeaseOutcome, LeaseUse, LimitCost, LimitStore, SubjectCosts, Taken } from './port.js'
import { type Rule, sameRule } from './rule.js'
import type { Subject } from './types.js'

export interface LocalLease {
  /** Tokens that a process takes in advance from each limit. */
  tokens: number
  /** How long it may hold them. */
  ms: number
}

/** Tokens of one limit that this process holds: taken from the engine and not yet used. */
interface HeldTokens {
  rule: Rule
  tokens: number
  /** By the engine's clock. */
  takenAt: number
  /** By this process's clock: when they were requested, and until when they may be used. */
  since: number
  until: number
  /** As the engine returned them when the tokens were taken. */
  remaining: number
  resetAt: number
}

interface SubjectHands {
  heldTokens: Map<string, HeldTokens>
  /** Where they were taken from, if the engine stores the subject in parts. */
  from: SubjectCosts | undefined
  filling: Promise<Taken> | undefined
}

const GIVE_BACK_MS = 60_000
/** Also the longest delay of a timer. */
const MAX_LEASED = 1_000_000_000

/**
 * Takes tokens of buckets and fixed windows in advance, decides in memory while they last, and gives unused tokens back
 * in time. The engine counts them as used, so the limit is never exceeded. Tokens that a process holds without using
 * them are denied to others for at most `ms`. A token may be used up to `ms` after it was taken, so a bucket's bound
 * holds for intervals longer by `ms`. Tokens of a fixed window are used within that window or given back.
 */
export class PrefetchingCounters implements LimitStore {
  private readonly subjects = new Map<string, Map<string, SubjectHands>>()
  private readonly timer: NodeJS.Timeout

  constructor(
    private readonly counters: LimitStore,
    private readonly lease: LocalLease,
    private readonly clock: Clock,
  ) {
    for (const field of ['tokens', 'ms'] as const) {
      const value = lease[field]
      if (!Number.isSafeInteger(value) || value < 1 || value > MAX_LEASED) {
        throw invalid(`limits.localLease.${field}`, `must be a whole number from 1 to ${MAX_LEASED}`)
      }
    }
    this.timer = every(() => this.giveOldBack(this.clock.now()), lease.ms).unref()
  }

  take(subjects: readonly SubjectCosts[], now: number): Promise<Taken> {
    const [subject] = subjects
    if (subjects.length !== 1 || !subject!.limits.every(canBeLeased) || subject!.limits.every(onlyLooks)) {
      return this.counters.take(subjects, now)
    }
    return this.takeOne(subject!, now)
  }

  /** Decides with the tokens held here. Undefined if there are not enough. */
  readonly takeHere = (subject: SubjectCosts, now: number): Taken | undefined => {
    const known = this.subjects.get(subject.resource)?.get(subject.entity)
    return known === undefined || !subject.limits.every(canBeLeased)
      ? undefined
      : takeInHand(subject, known, now)
  }

  private takeOne(subject: SubjectCosts, now: number): Promise<Taken> {
    const known = this.handsOf(subject)
    const taken = takeInHand(subject, known, now)
    if (taken !== undefined) return Promise.resolve(taken)
    // One caller fetches tokens. The others wait for it and try again.
    if (known.filling !== undefined) {
      const again = () => this.takeOne(subject, this.clock.now())
      return known.filling.then(again, again)
    }
    known.filling = this.fill(subject, known, now).finally(() => {
      known.filling = undefined
    })
    return known.filling
  }

  private async fill(subject: SubjectCosts, known: SubjectHands, now: number): Promise<Taken> {
    const hands = known.heldTokens
    await this.returnHands(subject, known, () => true)
    const ahead = subject.limits.map(({ cost, rule }) => {
      return cost === 0 ? 0 : Math.min(this.lease.tokens, rule.capacity - cost)
    })
    const limits = subject.limits.map((limit, i) => ({ ...limit, cost: limit.cost + ahead[i]! }))
    const batch = await this.counters.take([{ ...subject, limits }], now).catch(unlessTooLarge)
    // The engine has not enough tokens for an advance, so take only the requested cost.
    if (!batch?.allowed) return this.counters.take([subject], now)
    known.from = batch.from?.[0]
    subject.limits.forEach(({ name, rule }, i) => {
      const { remaining, resetMs } = batch.views[0]![i]!
      // The engine's clock may differ. It decided after it was called, so counting from the call is never too late.
      const resetAt = now + resetMs
      const end = rule.algorithm === 'fixed-window' ? resetAt : Number.POSITIVE_INFINITY
      const until = Math.min(now + this.lease.ms, end)
      const tokens = ahead[i]!
      hands.set(name, { rule, tokens, takenAt: batch.at, since: now, until, remaining, resetAt })
    })
    const from = batch.from?.map((part) => ({
      ...part,
      limits: part.limits.map((limit, i) => ({ ...limit, cost: subject.limits[i]!.cost })),
    }))
    return { ...batch, ...(from && { from }), views: [viewsOf(subject, hands, now)] }
  }

  private handsOf({ entity, resource }: Subject): SubjectHands {
    let ofResource = this.subjects.get(resource)
    if (ofResource === undefined) this.subjects.set(resource, (ofResource = new Map()))
    let known = ofResource.get(entity)
    if (known === undefined)
      ofResource.set(entity, (known = { heldTokens: new Map(), from: undefined, filling: undefined }))
    return known
  }

  private async giveOldBack(now: number): Promise<void> {
    for (const [resource, entities] of this.subjects) {
      for (const [entity, known] of entities) {
        const { heldTokens: hands } = known
        await this.returnHands({ entity, resource }, known, ({ until }) => until <= now).catch(() => {})
        // Keep the entry while a fill is in flight: its tokens go there.
        if (hands.size === 0 && known.filling === undefined) entities.delete(entity)
      }
      if (entities.size === 0) this.subjects.delete(resource)
    }
  }

  private async returnHands(
    subject: Subject,
    { heldTokens: hands, from }: SubjectHands,
    isDue: (hand: HeldTokens) => boolean,
  ): Promise<void> {
    const now = this.clock.now()
    const due = [...hands].filter(([, hand]) => isDue(hand))
    for (const [name] of due) hands.delete(name)
    const rest = due.filter(([, { tokens }]) => tokens > 0)
    for (const [name, { rule, tokens, takenAt }] of rest) {
      const stored = from?.limits.find((limit) => limit.name === name)
      const limits = [{ name, rule: stored?.rule ?? rule, cost: tokens, delta: 0 }]
      const { entity, resource } = from ?? subject
      const subjects = [{ entity, resource, limits }]
      const expiresAt = takenAt + this.lease.ms + GIVE_BACK_MS
      await this.counters.giveBack({ id: randomUUID(), takenAt, expiresAt, subjects }, now)
    }
  }

  adjust(lease: LeaseUse, adjustment: string, now: number): Promise<LeaseOutcome> {
    return this.counters.adjust(lease, adjustment, now)
  }

  giveBack(lease: LeaseUse, now: number): Promise<LeaseOutcome> {
    return this.counters.giveBack(lease, now)
  }

  list(...args: Parameters<LimitStore['list']>): ReturnType<LimitStore['list']> {
    return this.counters.list(...args)
  }

  async reset(subject: Subject): Promise<boolean> {
    // The reset also covers the tokens held here. Using them would admit twice.
    this.subjects.get(subject.resource)?.delete(subject.entity)
    return this.counters.reset(subject)
  }

  watch(listener: (freed: Freed) => void): () => void {
    return this.counters.watch(listener)
  }

  sweep(now: number): Promise<{ swept: number; more: boolean }> {
    return this.counters.sweep(now)
  }

  /** Gives back all tokens. */
  async close(): Promise<void> {
    clearInterval(this.timer)
    await this.giveOldBack(Number.POSITIVE_INFINITY)
  }
}

const onlyLooks = ({ cost }: LimitCost): boolean => cost === 0
const canBeLeased = ({ rule, shadow }: LimitCost): boolean =>
  !shadow && (rule.algorithm === 'token-bucket' || rule.algorithm === 'fixed-window')

/** An advance may be more than one part of a limit holds. If the cost alone is too much, the next call says so. */
function unlessTooLarge(error: unknown): undefined {
  if (!isCatracaError(error, 'INVALID_INPUT')) throw error
}

function takeInHand(
  { limits }: SubjectCosts,
  { heldTokens: hands, from }: SubjectHands,
  now: number,
): Taken | undefined {
  let at = now
  for (const { name, rule, cost } of limits) {
    const hand = hands.get(name)
    // Tokens taken under another rule are given back first.
    if (hand === undefined || !sameRule(hand.rule, rule) || hand.tokens < cost) return undefined
    if (now >= hand.until || now < hand.since) return undefined
    at = hand.takenAt
  }
  for (const { name, cost } of limits) hands.get(name)!.tokens -= cost
  const views = [viewsOf({ limits }, hands, now)]
  if (from === undefined) return { allowed: true, at, views }
  const taken = limits.map(({ name, cost }) => ({ ...from.limits.find((one) => one.name === name)!, cost }))
  return { allowed: true, at, views, from: [{ ...from, limits: taken }] }
}

function viewsOf({ limits }: Pick<SubjectCosts, 'limits'>, hands: Map<string, HeldTokens>, now: number) {
  return limits.map(({ name }) => {
    const { remaining, tokens, resetAt } = hands.get(name)!
    return { remaining: remaining + tokens, resetMs: Math.max(0, resetAt - now), retryAfterMs: 0 }
  })
}
