import { KIND, type LimitState } from './algorithm.js'

/**
 * Callers' clocks differ and calls overtake each other, so a state may be this far ahead of a caller. More means
 * that the clock was set back.
 */
export const MAX_AHEAD_MS = 10_000

/** Whether `rewound` changes the state. */
export const isAhead = (state: LimitState, now: number): boolean => rewound(state, now) !== state

/**
 * A state after its clock was set back. The used amount stays used, and becomes free again by the new time; without
 * this, nothing would become free until the clock reaches its old time again. Any other state is returned as it is.
 */
export function rewound(state: LimitState, now: number): LimitState {
  switch (state[0]) {
    case KIND.bucket: {
      const [kind, used, at, unitsPerToken, capacity] = state as [number, number, number, number, number]
      return at - now > MAX_AHEAD_MS ? [kind, used, now, unitsPerToken, capacity] : state
    }
    case KIND.fixed:
      return rewoundWindow(state, state[3]!, now)
    case KIND.counter:
      return rewoundWindow(state, state[4]!, now)
    default:
      return rewoundLog(state, now)
  }
}

/**
 * The use counts in the next window at the latest. In the current one it would be free too early: the clock may have
 * been set back over the start of a window that was then used for the second time.
 */
function rewoundWindow(state: LimitState, periodMs: number, now: number): LimitState {
  const [kind, start, ...rest] = state as [number, number, ...number[]]
  if (start - now <= MAX_AHEAD_MS) return state
  const next = now - (now % periodMs) + periodMs
  return start > next ? [kind, next, ...rest] : state
}

/** What was admitted at times to come counts as admitted now. */
function rewoundLog(state: LimitState, now: number): LimitState {
  if (state.length === 1 || state[state.length - 2]! - now <= MAX_AHEAD_MS) return state
  const log = [...state]
  let ahead = 0
  while (log.length > 1 && log[log.length - 2]! >= now) {
    ahead += log.pop()!
    log.pop()
  }
  log.push(now, ahead)
  return log
}
