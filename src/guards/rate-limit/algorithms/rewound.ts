import { KIND, type LimitState } from './algorithm.js'

/**
 * Callers' clocks differ and calls overtake each other, so a state may be this far ahead of a caller. More means
 * that the clock was set back.
 */
export const MAX_AHEAD_MS = 10_000

/** Whether the clock was set back to a time before the state. */
export const isAhead = (state: LimitState, now: number): boolean =>
  state[0] === KIND.bucket && state[2]! - now > MAX_AHEAD_MS

/** A bucket after its clock was set back: the used amount stays used, and refills from now on. */
export function rewound(state: LimitState, now: number): LimitState {
  const [kind, used, , unitsPerToken, capacity] = state as [number, number, number, number, number]
  return isAhead(state, now) ? [kind, used, now, unitsPerToken, capacity] : state
}
