import { setTimeout as sleep } from 'node:timers/promises'
import { later } from '../../../core/timers.js'

export type Random = () => number

const FIRST_PAUSE_MS = 25
const LONGEST_PAUSE_MS = 2000

/** The time limit of a call, including all attempts. Call `end()` afterwards to stop its timer. */
export class Deadline {
  private readonly controller = new AbortController()
  private readonly timer: NodeJS.Timeout
  private readonly endsAt: number

  constructor(
    timeoutMs: number,
    private readonly random: Random,
  ) {
    this.endsAt = performance.now() + timeoutMs
    this.timer = later(() => this.controller.abort(), timeoutMs)
  }

  get signal(): AbortSignal {
    return this.controller.signal
  }

  get isOver(): boolean {
    return this.controller.signal.aborted
  }

  /** Waits before attempt number `attempt` (from 1), with full jitter. False if no time would be left. */
  async pause(attempt: number): Promise<boolean> {
    const pauseMs = this.random() * Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt)
    if (this.isOver || performance.now() + pauseMs >= this.endsAt) return false
    await sleep(pauseMs)
    return true
  }

  end(): void {
    clearTimeout(this.timer)
  }
}
