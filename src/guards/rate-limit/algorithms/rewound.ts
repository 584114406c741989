import { KIND, type LimitState } from './algorithm.js'

/**
 * Clocks of callers differ, and calls overtake each other: a state may be ahead of a caller by that. More is a clock that
 * was set back.
 */
export const MAX_AHEAD_MS = 10_000

/** Whether the state is of a time that the clock has gone back behind. */
export const isAhead = (state: LimitState, now: number): boolean =>
  state[0] === KIND.bucket && state[2]! - now > MAX_AHEAD_MS

/** A bucket after its clock was set back: what was used is used, and comes back from now on. */
export function rewound(state: LimitState, now: number): LimitState {
  const [kind, used, , unitsPerToken, capacity] = state as [number, number, number, number, number]
  return isAhead(state, now) ? [kind, used, now, unitsPerToken, capacity] : state
}
