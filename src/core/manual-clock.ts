import { ManualClock } from './clock.js'
import { reportFailure } from './timers.js'
import type { Timing } from './timing.js'

interface Due {
  at: number
  work: () => unknown
}

/**
 * A clock for tests of services: time stands still until the test moves it, and with it everything that waits for time:
 * leases, locks and those who wait for them.
 */
export class ManualTime extends ManualClock implements Timing {
  private elapsedMs = 0
  private dues: Due[] = []

  /** Time that passed by `advance` and `pass`. `set` does not change it, as an operator who corrects a clock does not. */
  monotonicMs(): number {
    return this.elapsedMs
  }

  after(ms: number, work: () => unknown): () => void {
    // Whole milliseconds, as of every clock: parts of them would add up.
    const due = { at: this.elapsedMs + Math.max(0, Math.ceil(ms)), work }
    // Behind those of the same time: they are called in the order in which they were set.
    const place = this.dues.findIndex(({ at }) => at > due.at)
    this.dues.splice(place < 0 ? this.dues.length : place, 0, due)
    return () => {
      this.dues = this.dues.filter((one) => one !== due)
    }
  }

  /**
   * All of the time passes at once, as for a process that stood still. Whoever renews a lease or a lock that ended meanwhile
   * finds that it is too late.
   */
  override advance(ms: number): void {
    this.move(ms)
    for (const due of this.takeDues(this.elapsedMs)) void this.run(due)
  }

  /** The time passes step by step, as for a process that runs: what renews itself is renewed in time. */
  async pass(ms: number): Promise<void> {
    const endMs = this.elapsedMs + ms
    for (;;) {
      const next = this.dues[0]
      if (next === undefined || next.at > endMs) break
      this.move(Math.max(0, next.at - this.elapsedMs))
      this.dues.shift()
      await this.run(next)
    }
    this.move(Math.max(0, endMs - this.elapsedMs))
  }

  private move(ms: number): void {
    super.advance(ms)
    this.elapsedMs += ms
  }

  private takeDues(untilMs: number): Due[] {
    const due = this.dues.filter(({ at }) => at <= untilMs)
    this.dues = this.dues.filter(({ at }) => at > untilMs)
    return due
  }

  private async run({ work }: Due): Promise<void> {
    try {
      await work()
    } catch (error) {
      reportFailure(error)
    }
  }
}

/** A clock for `openCatraca({ store: 'memory:', clock })`. It begins now, or at a given time. */
export function manualClock(start: Date | number | string = Date.now()): ManualTime {
  return new ManualTime(new Date(start).getTime())
}
