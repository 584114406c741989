import { CatracaError } from '../errors.js'
import type { OwnerOutcome } from './port.js'

export interface HeartbeatOptions {
  leaseMs: number
  maxWorkMs: number
  extend: () => Promise<OwnerOutcome>
  /** A clock that only goes forward; leases are counted by it, whatever is done to the time of day. */
  monotonicMs: () => number
}

/** So many beats to a lease, so that one or two of them may be lost. */
const BEATS_PER_LEASE = 3
const RETRIES_PER_LEASE = 20

/** Extends a claim while work is done, and tells the work when it has it no longer. */
export class Heartbeat {
  private readonly controller = new AbortController()
  private beatTimer: NodeJS.Timeout | undefined
  private endTimer: NodeJS.Timeout | undefined
  private leaseEnd: number
  private readonly workEnd: number
  private stopped = false
  private isWorkDone = false

  /** `since`: before the claim was sent. The lease began later than that, so it ends no earlier than counted here. */
  constructor(
    private readonly options: HeartbeatOptions,
    since: number,
  ) {
    this.leaseEnd = since + options.leaseMs
    this.workEnd = since + options.maxWorkMs
    this.awaitEnd()
    this.beatAfter(options.leaseMs / BEATS_PER_LEASE)
  }

  get signal(): AbortSignal {
    return this.controller.signal
  }

  /** It goes on while the answer is written down, which takes its time too; but there is nothing to abort any more. */
  workIsDone(): void {
    this.isWorkDone = true
  }

  stop(): void {
    this.stopped = true
    clearTimeout(this.beatTimer)
    clearTimeout(this.endTimer)
  }

  private awaitEnd(): void {
    clearTimeout(this.endTimer)
    const leftMs = Math.min(this.leaseEnd, this.workEnd) - this.options.monotonicMs()
    this.endTimer = setTimeout(() => this.lookAtEnd(), Math.max(0, leftMs)).unref()
  }

  private lookAtEnd(): void {
    const now = this.options.monotonicMs()
    if (now >= this.workEnd) this.lose(`it took longer than ${this.options.maxWorkMs} ms`)
    else if (now >= this.leaseEnd) this.lose('its lease has passed and could not be extended')
    else this.awaitEnd()
  }

  private beatAfter(ms: number): void {
    if (!this.stopped) this.beatTimer = setTimeout(() => void this.beat(), ms).unref()
  }

  private async beat(): Promise<void> {
    const { leaseMs, extend, monotonicMs } = this.options
    const sentAt = monotonicMs()
    // Stopped for longer than its lease, a process wakes up in whichever timer is first.
    if (sentAt >= this.leaseEnd) return this.lookAtEnd()
    let outcome: OwnerOutcome | undefined
    try {
      outcome = await extend()
    } catch {
      // As long as the lease lasts nothing is lost.
    }
    if (this.stopped) return
    if (outcome === 'lost') return this.lose('somebody else has taken it over')
    if (outcome === 'done') {
      this.leaseEnd = sentAt + leaseMs
      this.awaitEnd()
    }
    this.beatAfter(leaseMs / (outcome === 'done' ? BEATS_PER_LEASE : RETRIES_PER_LEASE))
  }

  private lose(why: string): void {
    this.stop()
    if (this.isWorkDone) return
    this.controller.abort(new CatracaError('IDEMPOTENCY_CLAIM_LOST', `the claim was lost: ${why}`))
  }
}
