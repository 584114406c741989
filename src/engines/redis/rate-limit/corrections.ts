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
type Corrected = [outcome: number, isFreed: number]
const OUTCOMES = { 1: 'done', 0: 'given-back', [-1]: 'expired' } as const

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
      // Half of it was done: whoever asks again has the rest done.
      const here = await (outcome === undefined ? correcting : correcting.catch(unknown))
      outcome ??= here
      if (verb === 'adjust' && here !== 'done') break
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
  ): Promise<LeaseOutcome> {
    const args = [verb, leasePlan(limits), String(takenAt), String(expiresAt), this.how(now), adjustment]
    const [outcome, isFreed] = (await this.redis.run(CORRECT, keys, args)) as Corrected
    // It is done. Others who do not hear of it deny no longer than they were told to.
    if (isFreed === 1) await this.notices.publishFreed(subject).catch(() => {})
    return OUTCOMES[outcome as keyof typeof OUTCOMES]
  }
}

function unknown(cause: unknown): never {
  if (!isCatracaError(cause, 'ENGINE_UNAVAILABLE')) throw cause
  throw new CatracaError('UNKNOWN_OUTCOME', 'only one of two subjects was changed', { cause })
}
