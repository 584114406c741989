import type { Timing } from '../../src/core/timing.js'

interface Planned {
  at: number
  work: () => void
}

/** Time for tests: it moves only when `advance` or `leap` is called. */
export class ManualTiming implements Timing {
  private ms = 0
  private planned: Planned[] = []

  monotonicMs(): number {
    return this.ms
  }

  after(ms: number, work: () => void): () => void {
    const plan = { at: this.ms + ms, work }
    this.planned.push(plan)
    return () => {
      this.planned = this.planned.filter((other) => other !== plan)
    }
  }

  /** Runs the work that becomes due, in order, and lets it take effect. */
  async advance(ms: number): Promise<void> {
    const until = this.ms + ms
    for (;;) {
      const [next] = this.planned.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)
      if (next === undefined) break
      this.ms = Math.max(this.ms, next.at)
      this.planned = this.planned.filter((other) => other !== next)
      next.work()
      await new Promise((resolve) => setImmediate(resolve))
    }
    this.ms = until
  }

  /** Moves time without running due work, like a process that was suspended for this long. */
  leap(ms: number): void {
    this.ms += ms
  }
}
