import { CatracaError } from '../errors.js'
import { checkTtl } from './options.js'
import type { AcquiredLock } from './types.js'
import type { Holding } from './with-lock.js'

interface HoldOptions {
  ttlMs: number
  autoExtend: boolean
  /** Told once, when the lock may be somebody else's. */
  onLost: (reason: CatracaError) => void
}

/** Extended when a third of the time has passed; when that fails, again after a tenth, as long as there is time. */
const EXTEND_SHARE = 1 / 3
const RETRY_SHARE = 1 / 10

/** One lock while work is done under it. */
export class Hold {
  readonly name: string
  readonly fence: number | undefined
  private readonly token: string
  private ttlMs: number
  private validUntilMs: number
  private isOver = false
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
    this.validUntilMs = around.timing.monotonicMs() + answer.validForMs
    this.plan()
  }

  /** By the clock, not by the timer: a process that was stopped finds out before its timers do. */
  isHeld(): boolean {
    return !this.isOver && this.around.timing.monotonicMs() < this.validUntilMs
  }

  async extend(ttlMs: number = this.ttlMs): Promise<void> {
    this.ttlMs = checkTtl(ttlMs)
    const extended = await this.around.locks.extend(this.name, this.token, this.ttlMs)
    if (this.isOver) {
      // It was given up meanwhile, and nobody else would give it back.
      if (extended !== undefined) await this.release()
      throw this.lostError()
    }
    if (extended === undefined) {
      this.lose()
      throw this.lostError()
    }
    this.validUntilMs = this.around.timing.monotonicMs() + extended.validForMs
    this.plan()
  }

  async end(): Promise<void> {
    const wasHeld = !this.isOver
    this.stop()
    if (wasHeld) await this.release()
  }

  private async release(): Promise<void> {
    try {
      await this.around.locks.release(this.name, this.token)
    } catch (error) {
      this.around.report('a lock could not be released and stays until it ends', error)
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
    this.stopExtending = this.around.timing.after(ms, () => {
      this.extend().catch((error) => {
        if (this.isOver) return
        this.around.report('a lock could not be extended', error)
        this.extendAfter(this.ttlMs * RETRY_SHARE)
      })
    })
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

  private lostError(): CatracaError {
    return new CatracaError('LOCK_LOST', `the lock ${this.name} is not held any more`)
  }
}
