import { CatracaError } from '../../core/errors.js'
import { checkTtl, validityMs } from './options.js'
import type { AcquiredLock } from './types.js'
import type { Holding } from './with-lock.js'

interface HoldOptions {
  ttlMs: number
  autoExtend: boolean
  /** Called once, when another holder may have the lock. */
  onLost: (reason: CatracaError) => void
}

/** Extended after a third of the time to live. If that fails, tried again after each tenth while there is time. */
const EXTEND_SHARE = 1 / 3
const RETRY_SHARE = 1 / 10

/** One lock while work runs under it. */
export class Hold {
  readonly name: string
  readonly fence: number | undefined
  private readonly token: string
  private ttlMs: number
  private validUntilMs: number
  private isOver = false
  private extending = Promise.resolve()
  private stopExpiry = () => {}
  private stopExtending = () => {}

  constructor(
    private readonly around: Holding,
    answer: AcquiredLock,
    private readonly options: HoldOptions,
  ) {
    this.name = answer.name
    this.fence = answer.fence
    this.token = answer.token
    this.ttlMs = options.ttlMs
    this.validUntilMs = answer.validUntilMs
    this.plan()
  }

  /** By the clock, not by the timer: a suspended process notices the loss before its timers fire. */
  isHeld(): boolean {
    return !this.isOver && this.around.timing.monotonicMs() < this.validUntilMs
  }

  /**
   * Extensions run one after the other: if two were in flight, the order in which the
   * store applies them would be unknown.
   */
  async extend(ttlMs?: number): Promise<void> {
    const lifeMs = ttlMs === undefined ? undefined : checkTtl(ttlMs)
    const extending = this.extending.then(() => this.extendNow(lifeMs ?? this.ttlMs))
    this.extending = extending.catch(() => {})
    await extending
  }

  private async extendNow(ttlMs: number): Promise<void> {
    if (this.isOver) throw this.lostError()
    this.ttlMs = ttlMs
    this.endBy(this.around.timing.monotonicMs() + validityMs(ttlMs))
    const extended = await this.around.locks.extend(this.name, this.token, ttlMs)
    if (this.isOver) {
      // The hold was ended meanwhile, so the extended lock must be released here.
      if (extended !== undefined) await this.release()
      throw this.lostError()
    }
    if (extended === undefined) {
      this.lose()
      throw this.lostError()
    }
    this.validUntilMs = extended.validUntilMs
    this.plan()
  }

  /** A shorter time to live may apply before the response arrives, or if none arrives. */
  private endBy(validUntilMs: number): void {
    if (validUntilMs >= this.validUntilMs) return
    this.validUntilMs = validUntilMs
    this.plan()
  }

  /** Releases even a lost lock: an extension without a response may have succeeded. */
  async end(): Promise<void> {
    this.stop()
    await this.release()
  }

  private async release(): Promise<void> {
    try {
      await this.around.locks.release(this.name, this.token)
    } catch (error) {
      this.around.report('a lock could not be released; it stays held until it expires', error)
    }
  }

  private plan(): void {
    const { timing } = this.around
    this.stopExpiry()
    this.stopExpiry = timing.after(this.validUntilMs - timing.monotonicMs(), () => this.lose())
    if (this.options.autoExtend) this.extendAfter(this.ttlMs * EXTEND_SHARE)
  }

  private extendAfter(ms: number): void {
    this.stopExtending()
    this.stopExtending = this.around.timing.after(ms, () =>
      this.extend().catch((error) => {
        if (this.isOver) return
        this.around.report('a lock could not be extended', error)
        this.extendAfter(this.ttlMs * RETRY_SHARE)
      }),
    )
  }

  private lose(): void {
    if (this.isOver) return
    this.stop()
    this.options.onLost(this.lostError())
  }

  private stop(): void {
    this.isOver = true
    this.stopExpiry()
    this.stopExtending()
  }

  lostError(): CatracaError {
    return new CatracaError('LOCK_LOST', `the lock ${this.name} is no longer held`)
  }
}
