import { CatracaError, isCatracaError } from '../../../core/errors.js'
import type { LeasedLimit, LeaseOutcome, LeaseUse, SubjectCosts } from '../../../guards/rate-limit/port.js'
import type { Subject } from '../../../guards/rate-limit/types.js'
import type { Redis } from '../link/redis.js'
import { defineScript } from '../link/script.js'
import { leaseKey, logKey, rowKey } from './keys.js'
import type { Notices } from './notices.js'
import { DECIDING, leasePlan } from './plan.js'

const CORRECT = defineScript('limit-correct', {
  keys: ['string', 'zset', 'string'],
  write: true,
  ...DECIDING,
})

type Verb = 'adjust' | 'back' | 'undo'
type Corrected = [isDone: number, isFreed: number]

/**
 * Corrects consumed amounts. The state of a lease is stored with each subject that it consumed from, and is checked
 * there.
 */
export class Corrections {
  constructor(
    private readonly redis: Redis,
    private readonly notices: Notices,
    private readonly how: (now: number) => string,
  ) {}

  /**
   * Changes one subject after the other; the first one decides. If the caller dies in between, only some are changed.
   * Repeating the same call changes the rest.
   */
  async use(
    verb: 'adjust' | 'back',
    lease: LeaseUse,
    adjustment: string,
    now: number,
  ): Promise<LeaseOutcome> {
    const { id, takenAt, expiresAt, subjects } = lease
    let outcome: LeaseOutcome | undefined
    for (const { limits, ...subject } of subjects) {
      const row = rowKey(subject)
      const keys = [row, logKey(row), leaseKey(row, id)]
      const correcting = this.correct(verb, subject, keys, limits, [takenAt, expiresAt, adjustment], now)
      // The first part is done. Repeating the call does the rest.
      const isDone = await (outcome === undefined ? correcting : correcting.catch(unknown))
      outcome ??= isDone ? 'done' : 'given-back'
      if (verb === 'adjust' && !isDone) break
    }
    return outcome ?? 'done'
  }

  /** Undoes what was consumed a moment ago, without a lease. */
  async undo({ limits, ...subject }: SubjectCosts, row: string, takenAt: number, now: number): Promise<void> {
    const taken = limits.map(({ name, rule, cost }) => ({ name, rule, cost, delta: 0 }))
    await this.correct('undo', subject, [row, logKey(row), leaseKey(row, '')], taken, [takenAt, 0, ''], now)
  }

  private async correct(
    verb: Verb,
    subject: Subject,
    keys: readonly string[],
    limits: readonly LeasedLimit[],
    [takenAt, expiresAt, adjustment]: readonly [number, number, string],
    now: number,
  ): Promise<boolean> {
    const args = [verb, leasePlan(limits), String(takenAt), String(expiresAt), this.how(now), adjustment]
    const [isDone, isFreed] = (await this.redis.run(CORRECT, keys, args)) as Corrected
    // The correction is done. Instances that miss the notice deny no longer than their retry time.
    if (isFreed === 1) await this.notices.publishFreed(subject).catch(() => {})
    return isDone === 1
  }
}

function unknown(cause: unknown): never {
  if (!isCatracaError(cause, 'ENGINE_UNAVAILABLE')) throw cause
  throw new CatracaError('UNKNOWN_OUTCOME', 'of two subjects one was changed', { cause })
}
