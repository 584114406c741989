import { CatracaError } from '../../core/errors.js'
import { type SharedTimer, Waiter } from '../../core/shared-timer.js'
import type { OwnerOutcome } from './port.js'

export interface HeartbeatOptions {
  leaseMs: number
  maxWorkMs: number
  extend: () => Promise<OwnerOutcome>
  /** A clock that only goes forward; leases are counted by it, whatever is done to the time of day. */
  monotonicMs: () => number
  wakes: SharedTimer
}

/** So many beats to a lease, so that one or two of them may be lost. */
const BEATS_PER_LEASE = 3
const RETRIES_PER_LEASE = 20

/** Extends a claim while work is done, and tells the work when it has it no longer. */
export class Heartbeat extends Waiter {
  /** Made for who asks: most work does not, and it costs as much as all the rest. */
  private controller: AbortController | undefined = undefined
  private loss: CatracaError | undefined = undefined
  private nextBeat: number
  private leaseEnd: number
  private readonly workEnd: number
  private stopped = false
  private isWorkDone = false

  /** `since`: before the claim was sent. The lease began later than that, so it ends no earlier than counted here. */
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

  /** It goes on while the answer is written down, which takes its time too; but there is nothing to abort any more. */
  workIsDone(): void {
    this.isWorkDone = true
  }

  stop(): void {
    this.stopped = true
    this.options.wakes.callOff(this)
  }

  /** A process that was stopped for longer than its lease wakes up here too: it has lost it, and beats no more. */
  override onDue(now: number): void {
    if (now >= this.workEnd) this.lose(`it took longer than ${this.options.maxWorkMs} ms`)
    else if (now >= this.leaseEnd) this.lose('its lease expired and could not be extended')
    else if (now >= this.nextBeat) void this.beat(now)
    else this.sleep(now)
  }

  private sleep(now: number): void {
    this.options.wakes.wakeAt(this, Math.min(this.nextBeat, this.leaseEnd, this.workEnd), now)
  }

  private async beat(sentAt: number): Promise<void> {
    const { leaseMs, extend, monotonicMs } = this.options
    this.nextBeat = Number.POSITIVE_INFINITY
    this.sleep(sentAt)
    let outcome: OwnerOutcome | undefined
    try {
      outcome = await extend()
    } catch {
      // As long as the lease lasts nothing is lost.
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
