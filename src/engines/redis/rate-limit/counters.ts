import type { Listing, ListingRequest } from '../../../core/listing.js'
import type {
  Freed,
  LeaseOutcome,
  LeaseUse,
  LimitStore,
  SubjectCosts,
  Taken,
} from '../../../guards/rate-limit/port.js'
import type { Subject } from '../../../guards/rate-limit/types.js'
import type { Redis } from '../link/redis.js'
import { scanKeys } from '../link/scan-keys.js'
import { defineScript } from '../link/script.js'
import { Corrections } from './corrections.js'
import { logKey, rowKey, subjectOf, subjectPattern } from './keys.js'
import type { Notices } from './notices.js'
import { DECIDING, type Plan, planOf } from './plan.js'
import { bucketForm, takeForm } from './take-batch.js'

/** One file for different keys: a row; row and log; row and log of two subjects. */
const taking = {
  ...{ write: true, together: 32, form: takeForm },
  ...{ uses: DECIDING.uses, offers: [...DECIDING.offers, 'limit-take-all'] },
}
/** The usual case: one token bucket. It decides like `limit-take`, with much less work for the server. */
export const TAKE_BUCKET = defineScript('limit-take-bucket', {
  ...{ keys: ['string'], write: true, together: 32, form: bucketForm },
  otherwise: { file: 'limit-take-rest', uses: DECIDING.uses, offers: [...DECIDING.offers, 'limit-take-all'] },
})
const TAKE = defineScript('limit-take', { keys: ['string'], ...taking })
const TAKE_LOGGED = defineScript('limit-take', { keys: ['string', 'zset'], ...taking })
const TAKE_BOTH = defineScript('limit-take', { keys: ['string', 'zset', 'string', 'zset'], ...taking })
const RESET = defineScript('limit-reset', { keys: ['string', 'zset'], write: true, ...DECIDING })

/** Whose clock decides: the server's, or the caller's, which is for test suites and vectors. */
export type LimitClock = 'server' | 'caller'

interface PlannedSubject {
  subject: SubjectCosts
  row: string
  plan: Plan
}

export class RedisLimits implements LimitStore {
  private readonly corrections: Corrections

  constructor(
    private readonly redis: Redis,
    private readonly notices: Notices,
    private readonly clock: LimitClock,
  ) {
    this.corrections = new Corrections(redis, notices, (now) => this.how(now))
  }

  take(subjects: readonly SubjectCosts[], now: number): Promise<Taken> {
    const [one, other] = subjects
    if (one === undefined) return this.begin(now)
    const first = asked(one)
    if (other === undefined) return this.takeOne(first, now)
    const second = asked(other)
    const isTogether = this.redis.slot(first.row) === this.redis.slot(second.row)
    return isTogether ? this.takeBoth(first, second, now) : this.takeInTurn(first, second, now)
  }

  private async begin(now: number): Promise<Taken> {
    await this.redis.ping()
    return { allowed: true, at: now, views: [] }
  }

  /** Without `async`, which costs as much memory as the rest of a call. */
  private takeOne({ row, plan }: PlannedSubject, now: number, look?: 'look'): Promise<Taken> {
    const isUsual = look === undefined && this.clock === 'server'
    if (plan.bucket !== undefined && look === undefined) {
      const args = isUsual ? plan.bucket : [this.how(now), ...plan.bucket.slice(1)]
      return this.redis.run(TAKE_BUCKET, [row], args) as Promise<Taken>
    }
    const args = isUsual ? plan.args : [this.how(now, look), plan.text]
    const asking = plan.hasLog
      ? this.redis.run(TAKE_LOGGED, [row, logKey(row)], args)
      : this.redis.run(TAKE, [row], args)
    return asking as Promise<Taken>
  }

  private async takeBoth(first: PlannedSubject, second: PlannedSubject, now: number): Promise<Taken> {
    const keys = [first.row, logKey(first.row), second.row, logKey(second.row)]
    const args = [this.how(now), first.plan.text, second.plan.text]
    const { views, ...taken } = (await this.redis.run(TAKE_BOTH, keys, args)) as Taken
    const all = views[0]!
    const own = first.subject.limits.length
    return { ...taken, views: [all.slice(0, own), all.slice(own)] }
  }

  /**
   * Two slots, so two steps. In between, other callers may be denied because of what the first step consumed. After a
   * crash it stays consumed until it regenerates. Never is too much admitted.
   */
  private async takeInTurn(first: PlannedSubject, second: PlannedSubject, now: number): Promise<Taken> {
    const own = await this.takeOne(first, now)
    if (!own.allowed) {
      const above = await this.takeOne(second, now, 'look')
      return { ...own, views: [own.views[0]!, above.views[0]!] }
    }
    let above: Taken
    try {
      above = await this.takeOne(second, now)
    } catch (error) {
      await this.undo(first, own, now).catch(() => {})
      throw error
    }
    if (above.allowed) return { ...own, views: [own.views[0]!, above.views[0]!] }
    await this.undo(first, own, now)
    const asItStands = await this.takeOne(first, now, 'look')
    return { ...above, views: [asItStands.views[0]!, above.views[0]!] }
  }

  private undo({ subject, row }: PlannedSubject, { at, views }: Taken, now: number): Promise<void> {
    const limits = subject.limits.filter((_, i) => views[0]![i]!.retryAfterMs === 0)
    return this.corrections.undo({ ...subject, limits }, row, at, now)
  }

  adjust(lease: LeaseUse, adjustment: string, now: number): Promise<LeaseOutcome> {
    return this.corrections.use('adjust', lease, adjustment, now)
  }

  giveBack(lease: LeaseUse, now: number): Promise<LeaseOutcome> {
    return this.corrections.use('back', lease, '', now)
  }

  async reset(subject: Subject): Promise<boolean> {
    const row = rowKey(subject)
    const found = (await this.redis.run(RESET, [row, logKey(row)], [])) === 1
    await this.notices.publishFreed(subject)
    return found
  }

  async list(request: ListingRequest & { resource?: string }): Promise<Listing<Subject>> {
    const { items, ...next } = await scanKeys(this.redis, subjectPattern(request), request)
    return { items: items.flatMap((key) => subjectOf(key) ?? []), ...next }
  }

  watch(listener: (freed: Freed) => void): () => void {
    return this.notices.onFreed(listener)
  }

  /** All keys expire. */
  async sweep(): Promise<{ swept: number; more: boolean }> {
    return { swept: 0, more: false }
  }

  /** In the format of `lua/limit-plan.lua`. */
  private how(now: number, look?: 'look'): string {
    const time = this.clock === 'caller' ? String(now) : ''
    return look === undefined ? time : `${time} ${look}`
  }
}

const asked = (subject: SubjectCosts): PlannedSubject => ({
  subject,
  row: rowKey(subject),
  plan: planOf(subject.limits),
})
