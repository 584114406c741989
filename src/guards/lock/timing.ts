import { later } from '../../core/timers.js'

/** Monotonic time and timers, injected so that tests can move time instead of waiting. */
export interface Timing {
  /** Monotonic milliseconds. Never goes back, even if the wall clock is changed. */
  monotonicMs(): number
  /** Returns a function that cancels the work. */
  after(ms: number, work: () => void): () => void
}

export const systemTiming: Timing = {
  monotonicMs: () => performance.now(),
  after(ms, work) {
    const timer = later(work, ms)
    return () => clearTimeout(timer)
  },
}
