import { isPromise, type MaybePromise } from './maybe-promise.js'
import { every, later } from './timers.js'

/**
 * A log whose entries are numbered without gaps, and what its follower does with them. The log may be stored, and is
 * read; or its entries are only published, and the stored number shows whether all of them arrived.
 */
export interface NumberedLog<Entry> {
  /** The number of the last entry. `last` is the last one followed, for stores whose reads may be old. */
  head(last: number | undefined): MaybePromise<number>
  /** The entries with these numbers, in order. Fewer: some are missing. Absent if entries only come by `hear`. */
  read?(from: number, to: number): MaybePromise<readonly Entry[]>
  /** Gets every entry once, in order. If it throws, the entry counts as missed. */
  onEntry(entry: Entry): void
  /** From now on, entries may be missed. */
  onLost(): void
  /** From now on, no entry is missed. Earlier ones may have been, and if the log went back, the store lost some. */
  onResumed(wentBack: boolean): void
}

export interface FollowOptions {
  pollMs: number
  /** The number may be read this long before its entry exists or arrives. */
  graceMs?: number
  /** More new entries are not read one by one: they count as missed. */
  maxEntries?: number
  /**
   * A read that fails counts as a loss, and so does this long without a read. Absent: what came meanwhile is read
   * when the log can be read again.
   */
  silentAfterMs?: number
  /** Asked before each poll. True: not now. */
  isIdle?(): boolean
  /** A monotonic clock. */
  time?(): number
}

/**
 * Follows a numbered log. It starts at the end of the log. A gap, an unreadable entry, and a number that went back
 * (the store was emptied, restored, or failed over) are a loss, and the follower continues at the end of the log.
 */
export class LogFollower<Entry> {
  /** No entry is certain to be followed: before the first read, and after a loss until the next read. */
  isLost = true
  private last: number | undefined
  private wentBack = false
  /** The number of an entry that this process added. It may be known before the entry arrives. */
  private added = 0
  private isInterrupted = false
  private timer: NodeJS.Timeout | undefined
  private silence: NodeJS.Timeout | undefined
  private looking: Promise<void> | undefined
  private lookAgain = false
  /** Changes when a read that is under way no longer counts. */
  private epoch = 0

  constructor(
    private readonly log: NumberedLog<Entry>,
    private readonly options: FollowOptions,
  ) {}

  get isFollowing(): boolean {
    return this.timer !== undefined
  }

  /** A number that the log has certainly reached; undefined after a loss. */
  get position(): number | undefined {
    return this.isLost ? undefined : Math.max(this.last!, this.added)
  }

  /** Fails if the first read fails; polling goes on. */
  start(): Promise<void> {
    if (this.timer !== undefined) return this.looking ?? Promise.resolve()
    this.timer = every(() => this.poll(), this.options.pollMs).unref()
    return this.look()
  }

  /** Resolves when no read is under way. The follower can be started again. */
  async stop(): Promise<void> {
    clearInterval(this.timer)
    clearTimeout(this.silence)
    this.timer = undefined
    this.last = undefined
    this.isLost = true
    this.wentBack = false
    this.added = 0
    this.epoch++
    await this.looking?.catch(() => {})
  }

  /** There may be new entries: reads the log, again if a read is under way. */
  wake(): void {
    if (this.timer !== undefined) this.look().catch(() => {})
  }

  /** An entry that was published. Without a usable number, it is not one of this log. */
  hear(number: number, entry: Entry): void {
    if (!Number.isSafeInteger(number)) return
    const { last } = this
    if (last !== undefined && number <= last) this.wentBack = true
    this.last = number
    if (!this.isLost && (number !== last! + 1 || !this.deliver(entry))) this.miss()
  }

  /** Published entries do not arrive any more. */
  interrupt(): void {
    this.isInterrupted = true
    this.epoch++
    this.lose()
  }

  /** Published entries arrive again. */
  reconnect(): void {
    this.isInterrupted = false
    this.wake()
  }

  /** This process added an entry, and got its number. */
  reached(number: number): void {
    this.added = number
  }

  private poll(): void {
    if (this.looking === undefined && this.options.isIdle?.() !== true) this.wake()
  }

  private look(): Promise<void> {
    this.lookAgain = this.looking !== undefined
    this.looking ??= this.lookUntilDone()
    return this.looking
  }

  private async lookUntilDone(): Promise<void> {
    try {
      do {
        this.lookAgain = false
        const { epoch } = this
        try {
          await this.lookOnce()
        } catch (error) {
          if (epoch === this.epoch && this.options.silentAfterMs !== undefined) this.lose()
          if (!this.lookAgain) throw error
        }
      } while (this.lookAgain && this.timer !== undefined)
    } finally {
      // In the same step as the decision not to look again: a call after it must not wait for this run.
      this.looking = undefined
    }
  }

  private async lookOnce(): Promise<void> {
    const { epoch, last } = this
    const askedAtMs = this.now()
    const found = this.log.head(last)
    // Without a turn of the event loop where none is needed: a local log is followed as soon as `start` returns.
    const head = isPromise(found) ? await found : found
    if (epoch !== this.epoch || this.isInterrupted) return
    if (!Number.isSafeInteger(head)) throw new Error('the number of the last entry is unreadable')
    const isBack = last !== undefined && head < last
    if (isBack) this.wentBack = true
    if (isBack || this.isLost) {
      this.last = isBack ? head : Math.max(this.last ?? head, head)
      this.miss()
    } else if (head > this.last!) await this.catchUp(head)
    if (epoch !== this.epoch) return
    this.added = 0
    this.confirm(askedAtMs)
  }

  private async catchUp(head: number): Promise<void> {
    const { epoch } = this
    const { maxEntries = Number.POSITIVE_INFINITY, graceMs } = this.options
    const isFew = head - this.last! <= maxEntries
    let entries = isFew ? await this.read(head) : []
    if (isFew && entries.length < head - this.last! && graceMs !== undefined) {
      await new Promise((resolve) => setTimeout(resolve, graceMs).unref())
      if (epoch === this.epoch) entries = await this.read(head)
    }
    // Published entries may have arrived meanwhile.
    if (epoch !== this.epoch || this.last! >= head) return
    const isWhole = entries.length === head - this.last!
    this.last = head
    if (!isWhole || !entries.every((entry) => this.deliver(entry))) this.miss()
  }

  private read(head: number): MaybePromise<readonly Entry[]> {
    return this.log.read?.(this.last! + 1, head) ?? []
  }

  private deliver(entry: Entry): boolean {
    try {
      this.log.onEntry(entry)
      return true
    } catch {
      return false
    }
  }

  private confirm(askedAtMs: number): void {
    const { silentAfterMs } = this.options
    if (silentAfterMs === undefined) return
    clearTimeout(this.silence)
    this.silence = later(() => this.lose(), askedAtMs + silentAfterMs - this.now()).unref()
  }

  private miss(): void {
    this.lose()
    this.isLost = false
    const { wentBack } = this
    this.wentBack = false
    this.log.onResumed(wentBack)
  }

  private lose(): void {
    this.added = 0
    if (this.isLost) return
    this.isLost = true
    this.log.onLost()
  }

  private now(): number {
    return this.options.time?.() ?? performance.now()
  }
}
