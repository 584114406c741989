import { randomUUID } from 'node:crypto'
import type { LimitCost, LimitStore, Taken } from '../rate-limit/port.js'
import { compileRule, type Rule } from '../rate-limit/rule.js'
import type { CodeOptions } from './options.js'

const ISSUE = 'otp.issue'
const VERIFY = 'otp.verify'

type Within = <T>(work: Promise<T>) => Promise<T>

/** What was taken, so that it can be given back. */
export interface Held {
  resource: string
  entity: string
  limits: readonly LimitCost[]
  at: number
}

interface Look {
  failures: number
  lockedForMs?: number
  lockedUntil?: number
}

export type Admission = { held: Held; isLast: boolean } | { violated: string[]; retryAfterMs: number }

/**
 * Limits how often a code may be issued and guessed, with the counters of the rate
 * limiter. It calls the counters directly, because no stored configuration, no tokens
 * taken in advance and no `onUnavailable: allow` may loosen these limits.
 */
export class CodeLimits {
  private readonly issue: readonly LimitCost[]
  private readonly failures: Rule
  private readonly lock: Rule
  private readonly guess: readonly LimitCost[]

  constructor(
    private readonly counters: LimitStore,
    private readonly options: CodeOptions,
    private readonly within: Within,
  ) {
    const { issuesPerMinute, issuesPerHour, maxFailures, lockMs } = options
    this.issue = [
      one('minute', window(issuesPerMinute, 60_000)),
      one('hour', window(issuesPerHour, 3_600_000)),
    ]
    this.failures = window(maxFailures, lockMs)
    this.lock = window(1, lockMs)
    this.guess = [one('failures', this.failures), { ...one('lock', this.lock), cost: 0 }]
  }

  /** Issues nothing for a locked address: a code that cannot be used is not worth sending. */
  async takeIssue(entity: string, now: number): Promise<Admission> {
    const [admission, { lockedForMs }] = await Promise.all([
      this.take(entity, ISSUE, this.issue, now),
      this.look(entity, now),
    ])
    if (lockedForMs === undefined) return admission
    if ('held' in admission) await this.giveBack(admission.held, now)
    return { violated: ['lock'], retryAfterMs: lockedForMs }
  }

  /**
   * Takes the failure before the comparison, so that concurrent guesses count too. Takes nothing if the guess is
   * denied, or if the address was locked by the last permitted failure.
   */
  async takeGuess(entity: string, now: number): Promise<Admission> {
    const taken = await this.within(
      this.counters.take([{ entity, resource: VERIFY, limits: this.guess }], now),
    )
    const admission = admissionOf(entity, VERIFY, this.guess, taken)
    const [, lock] = taken.views[0]!
    if (lock!.remaining > 0) return admission
    if ('held' in admission) await this.giveBack(admission.held, now)
    return { violated: ['lock'], retryAfterMs: lock!.resetMs }
  }

  /** The lock starts now, not at the first failure. */
  async lockUp({ entity }: Held, now: number): Promise<void> {
    const limits = [one('lock', this.lock)]
    await this.within(this.counters.take([{ entity, resource: VERIFY, limits }], now))
  }

  /** The counts of an address, without taking anything. */
  async look(entity: string, now: number): Promise<Look> {
    const limits = this.guess.map((limit) => ({ ...limit, cost: 0 }))
    const taken = await this.within(this.counters.take([{ entity, resource: VERIFY, limits }], now))
    const [failed, lock] = taken.views[0]!
    const failures = this.options.maxFailures - failed!.remaining
    const locking = lock!.remaining > 0 ? (failed!.remaining > 0 ? undefined : failed) : lock
    if (locking === undefined) return { failures }
    return { failures, lockedForMs: locking!.resetMs, lockedUntil: taken.at + locking!.resetMs }
  }

  /** Deletes failures and lifts the lock. False if there was neither. */
  unlock(entity: string): Promise<boolean> {
    return this.within(this.counters.reset({ entity, resource: VERIFY }))
  }

  async giveBack({ entity, resource, limits, at }: Held, now: number): Promise<void> {
    const taken = limits.filter(({ cost }) => cost > 0).map((limit) => ({ ...limit, delta: 0 }))
    const expiresAt = at + this.options.lockMs + 3_600_000
    const lease = {
      id: randomUUID(),
      takenAt: at,
      expiresAt,
      subjects: [{ entity, resource, limits: taken }],
    }
    await this.within(this.counters.giveBack(lease, now))
  }

  private async take(
    entity: string,
    resource: string,
    limits: readonly LimitCost[],
    now: number,
  ): Promise<Admission> {
    return admissionOf(
      entity,
      resource,
      limits,
      await this.within(this.counters.take([{ entity, resource, limits }], now)),
    )
  }
}

function admissionOf(
  entity: string,
  resource: string,
  limits: readonly LimitCost[],
  { allowed, at, views }: Taken,
): Admission {
  const [own] = views as [(typeof views)[number]]
  if (allowed) return { held: { entity, resource, limits, at }, isLast: own[0]!.remaining === 0 }
  const denying = limits.filter((_, i) => own[i]!.retryAfterMs > 0).map(({ name }) => name)
  return { violated: denying, retryAfterMs: Math.max(...own.map(({ retryAfterMs }) => retryAfterMs)) }
}

const one = (name: string, rule: Rule): LimitCost => ({ name, rule, cost: 1, shadow: false })

const window = (capacity: number, periodMs: number): Rule =>
  compileRule('limit', {
    algorithm: 'sliding-window',
    capacity,
    burst: capacity,
    refillAmount: capacity,
    refillPeriodSeconds: periodMs / 1000,
  })
