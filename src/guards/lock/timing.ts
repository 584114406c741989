import { later } from '../../core/timers.js'
/** Time that cannot be set, and what is done later: injected, so that tests move it instead of waiting. */
export interface Timing {
  /** Milliseconds since some moment; never goes back, whatever happens to the clock on the wall. */
  monotonicMs(): number
  /** Returns how to call it off. */
  after(ms: number, work: () => void): () => void
}

export const systemTiming: Timing = {
  monotonicMs: () => performance.now(),
  after(ms, work) {
    const timer = later(work, ms)
    return () => clearTimeout(timer)
  },
}

interface Planned {
  at: number
  work: () => void
}

/** Time that stands still until it is told to move. */
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

  /** Does what becomes due, in its order, and lets it take effect. */
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

  /** Without doing anything: what a process sees that was stopped for so long. */
  leap(ms: number): void {
    this.ms += ms
  }
}
