import { isCatracaError } from '../../../core/errors.js'
import { every, later } from '../../../core/timers.js'
import type { Freed } from '../../../guards/rate-limit/port.js'
import type { ConfigKey, Subject } from '../../../guards/rate-limit/types.js'
import type { Item } from '../client/attributes.js'
import type { NoticeKind } from './keys.js'
import { changedKey, freedSubjects, type Heads, type NoticeLog } from './notice-log.js'

const POLL_MS = 750
/** After this time without calls, little is cached that could become outdated, and polling costs money. */
const IDLE_AFTER_MS = 300_000
const IDLE_POLL_MS = 15_000
/** The number may be read a moment before its notice exists. */
const GRACE_MS = 150
/** Freed subjects of this period are published together. */
const GATHER_MS = 100
const RETRY_MS = 1000
/** Above these numbers, subjects and notices are not handled one by one. */
const MAX_SUBJECTS = 100
const MAX_NOTICES = 200
/** A missing table is polled less often. */
const POLLS_PER_TRY = 40
/** For this long after a change was noticed, an eventually consistent read could still miss it. */
const SETTLING_MS = 3000

type OnFreed = (freed: Freed) => void
type OnConfig = (changed: ConfigKey | undefined) => void

/**
 * Notices that instances share: changed configuration, and subjects with freed capacity. Every instance polls the
 * numbers of the last notices. A number without a notice, or a deleted notice, means that anything may have changed.
 */
export class Notices {
  private readonly freed = new Set<OnFreed>()
  private readonly configs = new Set<OnConfig>()
  private last: Heads | undefined
  private lookedAt = Number.NEGATIVE_INFINITY
  private settledAt = Number.NEGATIVE_INFINITY
  private pending: Subject[] = []
  private timer: NodeJS.Timeout | undefined
  private telling: NodeJS.Timeout | undefined
  private looking: Promise<void> | undefined
  private skipped = 0
  private usedAt: number

  constructor(
    readonly log: NoticeLog,
    private readonly time: () => number = () => performance.now(),
  ) {
    this.usedAt = time()
  }

  /** Called for every request: if limits are not used, polling is less frequent. */
  used(): void {
    const now = this.time()
    const wasIdle = now - this.usedAt > IDLE_AFTER_MS
    this.usedAt = now
    if (wasIdle && this.timer !== undefined) this.poll()
  }

  onFreed(listener: OnFreed): () => void {
    return this.listen(this.freed, listener)
  }

  onConfig(listener: OnConfig): () => void {
    return this.listen(this.configs, listener)
  }

  private listen<T>(listeners: Set<T>, listener: T): () => void {
    listeners.add(listener)
    if (this.timer === undefined) {
      this.timer = every(() => this.poll(), POLL_MS).unref()
      this.poll()
    }
    return () => {
      listeners.delete(listener)
      if (this.freed.size + this.configs.size > 0) return
      clearInterval(this.timer)
      this.timer = undefined
    }
  }

  /** Configuration was changed a moment ago, by this or another instance. */
  get isSettling(): boolean {
    return this.time() < this.settledAt
  }

  changedHere(): void {
    this.settledAt = this.time() + SETTLING_MS
  }

  /** While polling, it is known already. */
  async schemaVersion(): Promise<number> {
    const isFresh = this.timer !== undefined && this.time() - this.lookedAt < 2 * POLL_MS
    if (isFresh && !this.isSettling) return this.last!.schemaVersion
    return (await this.log.head('limit.config', 'config', this.isSettling)).schemaVersion
  }

  /** Published after it was freed: if the process dies in between, others deny until their retry time. */
  async publishFreed(subjects: readonly Subject[]): Promise<void> {
    await this.log.tellFreed(subjects)
  }

  /** The same a moment later, batched with others. */
  tellFreedSoon(subjects: readonly Subject[], afterMs = GATHER_MS): void {
    this.pending.push(...subjects)
    this.telling ??= later(() => this.flush().catch(() => {}), afterMs).unref()
  }

  private async flush(): Promise<void> {
    clearTimeout(this.telling)
    this.telling = undefined
    const subjects = this.pending
    if (subjects.length === 0) return
    this.pending = []
    await this.log.tellFreed(subjects.length > MAX_SUBJECTS ? [] : subjects).catch((error) => {
      this.tellFreedSoon(subjects.slice(0, MAX_SUBJECTS + 1), RETRY_MS)
      throw error
    })
  }

  async close(): Promise<void> {
    clearInterval(this.timer)
    this.timer = undefined
    this.freed.clear()
    this.configs.clear()
    await this.looking
    await this.flush().catch(() => {})
    clearTimeout(this.telling)
  }

  private poll(): void {
    const now = this.time()
    const isIdle = now - this.usedAt > IDLE_AFTER_MS
    if (this.looking !== undefined || (isIdle && now - this.lookedAt < IDLE_POLL_MS)) return
    if (this.skipped-- > 0) return
    this.skipped = 0
    this.looking = this.look()
      .catch((error) => {
        // If DynamoDB does not answer, callers get errors from their own calls. Missed notices are found later.
        if (isCatracaError(error, 'STORE_UNUSABLE')) this.skipped = POLLS_PER_TRY
      })
      .finally(() => {
        this.looking = undefined
      })
  }

  private async look(): Promise<void> {
    const found = await this.log.heads()
    const { last } = this
    this.last = { ...(last ?? found), schemaVersion: found.schemaVersion }
    this.lookedAt = this.time()
    for (const kind of ['config', 'freed'] as const) {
      // What happened before the first read is unknown, so nothing cached before it is used.
      if (last === undefined) this.notifyAll(kind)
      else if (found[kind] !== last[kind]) await this.hear(kind, found[kind])
    }
  }

  private async hear(kind: NoticeKind, seen: number): Promise<void> {
    const { log } = this
    const last = this.last![kind]
    // A lower number is mostly an old read; otherwise the table was restored to an earlier state.
    const found = seen > last ? seen : (await log.head('limit.watch', kind, true)).count
    const expected = found - last
    if (expected === 0) return
    const isFew = expected > 0 && expected <= MAX_NOTICES
    let notices = isFew ? await log.read(kind, last + 1, found) : []
    if (isFew && notices.length < expected) {
      await new Promise((resolve) => setTimeout(resolve, GRACE_MS).unref())
      notices = await log.read(kind, last + 1, found)
    }
    this.last![kind] = found
    if (notices.length !== expected) this.notifyAll(kind)
    else for (const notice of notices) this.tellOne(kind, notice)
  }

  private tellOne(kind: NoticeKind, notice: Item): void {
    const subjects = kind === 'freed' ? freedSubjects(notice) : []
    if (kind === 'config') this.tellConfig(changedKey(notice))
    else if (subjects.length === 0) this.notifyAll(kind)
    else for (const subject of subjects) for (const listener of this.freed) listener(subject)
  }

  private notifyAll(kind: NoticeKind): void {
    if (kind === 'config') this.tellConfig(undefined)
    else for (const listener of this.freed) listener(undefined)
  }

  private tellConfig(changed: ConfigKey | undefined): void {
    this.changedHere()
    for (const listener of this.configs) listener(changed)
  }
}
