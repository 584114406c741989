import { CatracaError } from '../../core/errors.js'
import { type SharedTimer, Waiter } from '../../core/shared-timer.js'
import type { OwnerOutcome } from './port.js'

export interface HeartbeatOptions {
  leaseMs: number
  maxWorkMs: number
  extend: () => Promise<OwnerOutcome>
  /** A monotonic clock. Leases are counted by it, so changes of the wall clock do not matter. */
  monotonicMs: () => number
  wakes: SharedTimer
}

/** Several renewals per lease, so that one or two may fail. */
const BEATS_PER_LEASE = 3
const RETRIES_PER_LEASE = 20

/** Renews a claim while the work runs, and aborts the work's signal when the claim is lost. */
export class Heartbeat extends Waiter {
  /** Created at first use: most work does not read it, and creating it costs as much as all the rest. */
  private controller: AbortController | undefined = undefined
  private loss: CatracaError | undefined = undefined
  private nextBeat: number
  private leaseEnd: number
  private readonly workEnd: number
  private stopped = false
  private isWorkDone = false

  /** `since`: a time before the claim was sent. The lease began later, so it ends no earlier than counted here. */
  constructor(
    private readonly options: HeartbeatOptions,
    since: number,
  ) {
    super()
    const now = options.monotonicMs()
    this.leaseEnd = since + options.leaseMs
    this.workEnd = since + options.maxWorkMs
    this.nextBeat = now + options.leaseMs / BEATS_PER_LEASE
    this.sleep(now)
  }

  get signal(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController()
      if (this.loss !== undefined) this.controller.abort(this.loss)
    }
    return this.controller.signal
  }

  /** Renewals continue while the response is stored, but the work has ended, so nothing is aborted. */
  workIsDone(): void {
    this.isWorkDone = true
  }

  stop(): void {
    this.stopped = true
    this.options.wakes.cancel(this)
  }

  /** Also fires after a process was suspended for longer than its lease. The claim is then lost and not renewed. */
  override onDue(now: number): Promise<void> | undefined {
    if (now >= this.workEnd) this.lose(`it took longer than ${this.options.maxWorkMs} ms`)
    else if (now >= this.leaseEnd) this.lose('its lease expired and could not be extended')
    else if (now >= this.nextBeat) return this.beat(now)
    else this.sleep(now)
    return undefined
  }

  private sleep(now: number): void {
    this.options.wakes.schedule(this, Math.min(this.nextBeat, this.leaseEnd, this.workEnd), now)
  }

  private async beat(sentAt: number): Promise<void> {
    const { leaseMs, extend, monotonicMs } = this.options
    this.nextBeat = Number.POSITIVE_INFINITY
    this.sleep(sentAt)
    let outcome: OwnerOutcome | undefined
    try {
      outcome = await extend()
    } catch {
      // Ignored: the claim is not lost while the lease lasts.
    }
    if (this.stopped) return
    if (outcome === 'lost') return this.lose('another caller took it over')
    if (outcome === 'done') this.leaseEnd = sentAt + leaseMs
    const now = monotonicMs()
    this.nextBeat = now + leaseMs / (outcome === 'done' ? BEATS_PER_LEASE : RETRIES_PER_LEASE)
    this.sleep(now)
  }

  private lose(why: string): void {
    this.stop()
    if (this.isWorkDone) return
    this.loss = new CatracaError('IDEMPOTENCY_CLAIM_LOST', `the claim was lost: ${why}`)
    this.controller?.abort(this.loss)
  }
}
