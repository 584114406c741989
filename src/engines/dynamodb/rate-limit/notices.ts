import { isCatracaError } from '../../../core/errors.js'
import { LogFollower } from '../../../core/numbered-log.js'
import { later } from '../../../core/timers.js'
import { NoticeListeners } from '../../../guards/rate-limit/notice-listeners.js'
import { wholeOf } from '../../../guards/rate-limit/parts.js'
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
const RETRY_TABLE_MS = 30_000
/** For this long after a change was noticed, an eventually consistent read could still miss it. */
const SETTLING_MS = 3000

/**
 * Notices that instances share: changed configuration, and subjects with freed capacity. Every instance polls the
 * numbers of the last notices. A number without a notice, or a deleted notice, means that anything may have changed.
 */
export class Notices {
  private readonly listeners = new NoticeListeners()
  private readonly followers: Record<NoticeKind, LogFollower<Item>>
  /** One read shows the heads of both logs. */
  private heads: Promise<Heads> | undefined
  private schema = 1
  private lookedAt = Number.NEGATIVE_INFINITY
  private retryAt = Number.NEGATIVE_INFINITY
  private settledAt = Number.NEGATIVE_INFINITY
  private pending: Subject[] = []
  private telling: NodeJS.Timeout | undefined
  private usedAt: number

  constructor(
    readonly log: NoticeLog,
    private readonly time: () => number = () => performance.now(),
  ) {
    this.usedAt = time()
    this.followers = { config: this.follower('config'), freed: this.follower('freed') }
  }

  private follower(kind: NoticeKind): LogFollower<Item> {
    const log = {
      head: (last: number | undefined) => this.head(kind, last),
      read: (from: number, to: number) => this.log.read(kind, from, to),
      onEntry: (notice: Item) => this.tell(kind, notice),
      onLost: () => {},
      onResumed: () => this.tellAll(kind),
    }
    const options = { pollMs: POLL_MS, graceMs: GRACE_MS, maxEntries: MAX_NOTICES }
    return new LogFollower(log, { ...options, isIdle: () => this.isIdle() })
  }

  /** Called for every request: if limits are not used, polling is less frequent. */
  used(): void {
    const now = this.time()
    const wasIdle = now - this.usedAt > IDLE_AFTER_MS
    this.usedAt = now
    if (wasIdle) for (const follower of Object.values(this.followers)) follower.wake()
  }

  private isIdle(): boolean {
    const now = this.time()
    return now < this.retryAt || (now - this.usedAt > IDLE_AFTER_MS && now - this.lookedAt < IDLE_POLL_MS)
  }

  onFreed(listener: (freed: Freed) => void): () => void {
    return this.follow(this.listeners.onFreed(listener))
  }

  onConfig(listener: (changed: ConfigKey | undefined) => void): () => void {
    return this.follow(this.listeners.onConfig(listener))
  }

  /** Both at once, so that their polls share the read of the heads. */
  private follow(remove: () => void): () => void {
    for (const follower of Object.values(this.followers)) follower.start().catch(() => {})
    return () => {
      remove()
      if (this.listeners.isEmpty) void this.stop()
    }
  }

  private async stop(): Promise<void> {
    await Promise.all(Object.values(this.followers).map((follower) => follower.stop()))
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
    const isFresh = this.followers.config.isFollowing && this.time() - this.lookedAt < 2 * POLL_MS
    if (isFresh && !this.isSettling) return this.schema
    return (await this.log.head('limit.config', 'config', this.isSettling)).schemaVersion
  }

  /** Published after it was freed: if the process dies in between, others deny until their retry time. */
  async publishFreed(subjects: readonly Subject[]): Promise<void> {
    await this.log.tellFreed(subjects.map(wholeOf))
  }

  /** The same a moment later, batched with others. */
  tellFreedSoon(subjects: readonly Subject[], afterMs = GATHER_MS): void {
    this.pending.push(...subjects.map(wholeOf))
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
    this.listeners.clear()
    await this.stop()
    await this.flush().catch(() => {})
    clearTimeout(this.telling)
  }

  /** A lower number is mostly an old read; otherwise the table was restored to an earlier state. */
  private async head(kind: NoticeKind, last: number | undefined): Promise<number> {
    this.heads ??= this.readHeads().finally(() => {
      this.heads = undefined
    })
    const { [kind]: seen } = await this.heads
    return last === undefined || seen >= last ? seen : (await this.log.head('limit.watch', kind, true)).count
  }

  /** If DynamoDB does not answer, callers get errors from their own calls. Missed notices are found later. */
  private async readHeads(): Promise<Heads> {
    try {
      const heads = await this.log.heads()
      this.schema = heads.schemaVersion
      this.lookedAt = this.time()
      return heads
    } catch (error) {
      if (isCatracaError(error, 'STORE_UNUSABLE')) this.retryAt = this.time() + RETRY_TABLE_MS
      throw error
    }
  }

  private tell(kind: NoticeKind, notice: Item): void {
    const subjects = kind === 'freed' ? freedSubjects(notice) : []
    if (kind === 'config') this.tellConfig(changedKey(notice))
    else if (subjects.length === 0) this.tellAll(kind)
    else for (const subject of subjects) this.listeners.tellFreed(subject)
  }

  private tellAll(kind: NoticeKind): void {
    if (kind === 'config') this.tellConfig(undefined)
    else this.listeners.tellFreed(undefined)
  }

  private tellConfig(changed: ConfigKey | undefined): void {
    this.changedHere()
    this.listeners.tellConfig(changed)
  }
}
