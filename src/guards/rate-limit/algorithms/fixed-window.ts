import type { Rule } from '../rule.js'
import { type AlgorithmResult, KIND, type LimitAlgorithm, type LimitState } from './algorithm.js'

/** State: kind, start of the window, amount used in it, period. Windows are aligned to the epoch. */
interface Window {
  start: number
  used: number
}

function windowAt(state: LimitState | undefined, rule: Rule, now: number): Window {
  const start = now - (now % rule.periodMs)
  if (state === undefined || state[0] !== KIND.fixed || state[1]! < start) return { start, used: 0 }
  // If the clock went back or the window grew, the counted use stays counted.
  return { start: state[3] === rule.periodMs ? state[1]! : start, used: state[2]! }
}

const stateOf = (rule: Rule, { start, used }: Window): LimitState | undefined =>
  used === 0 ? undefined : [KIND.fixed, start, used, rule.periodMs]

export const fixedWindow: LimitAlgorithm = {
  take(state, rule, cost, now): AlgorithmResult {
    const window = windowAt(state, rule, now)
    const endsInMs = window.start + rule.periodMs - now
    const isAdmitted = cost === 0 || window.used + cost <= rule.capacity
    const used = isAdmitted ? window.used + cost : window.used
    return {
      state: isAdmitted && cost > 0 ? stateOf(rule, { start: window.start, used }) : state,
      remaining: Math.max(0, rule.capacity - used),
      resetMs: used === 0 ? 0 : endsInMs,
      retryAfterMs: isAdmitted ? 0 : endsInMs,
    }
  },

  /**
   * An amount taken in a window that has ended is ignored. While the clock is behind the window, nobody can tell
   * whether the amount was taken in it: more use counts, less does not.
   */
  correct(state, rule, amount, takenAt, now) {
    if (state !== undefined && (state[0] !== KIND.fixed || state[3] !== rule.periodMs)) {
      return correctOther(state, rule, amount, takenAt, now)
    }
    const window = windowAt(state, rule, now)
    const isOver = takenAt - (takenAt % rule.periodMs) < window.start - (window.start % rule.periodMs)
    if (isOver && (amount < 0 || now >= window.start)) return state
    return stateOf(rule, { start: window.start, used: Math.max(0, window.used + amount) })
  },
}

/** The state is counted by another rule than that of the lease, and keeps that rule. */
function correctOther(
  state: LimitState,
  { periodMs }: Rule,
  amount: number,
  takenAt: number,
  now: number,
): LimitState | undefined {
  const [kind, start, used, countedMs] = state as [number, number, number, number]
  const isOver = takenAt - (takenAt % periodMs) + periodMs <= now
  const isBefore = takenAt < start && (amount < 0 || now >= start)
  if (kind !== KIND.fixed || isOver || isBefore) return state
  const left = Math.max(0, used + amount)
  return left === 0 ? undefined : [kind, start, left, countedMs]
}
