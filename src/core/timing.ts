import type { Clock } from './clock.js'
import { later } from './timers.js'

/** Monotonic time and timers, injected so that tests can move time instead of waiting. */
export interface Timing {
  /** Monotonic milliseconds. Never goes back, even if the wall clock is changed. */
  monotonicMs(): number
  /** Returns a function that cancels the work. */
  after(ms: number, work: () => unknown): () => void
}

export const systemTiming: Timing = {
  monotonicMs: () => performance.now(),
  after(ms, work) {
    const timer = later(work, ms)
    return () => clearTimeout(timer)
  },
}

/** The timers of a clock that has its own, as that of `manualClock`. */
export function timingOf(clock: Clock & Partial<Timing>): Timing {
  return clock.after === undefined || clock.monotonicMs === undefined ? systemTiming : (clock as Timing)
}
