import type { Rule } from '../rule.js'
import { type AlgorithmResult, KIND, type LimitAlgorithm, type LimitState } from './algorithm.js'

/**
 * State: kind, start of the current window, amount used in it, amount used in the previous one, period. The
 * previous window counts by the share of it that a window ending now still covers, as if its use had been even. If
 * its use was not even, some window position may contain up to twice the capacity: a burst at the end of one
 * window, then the growing use of the next.
 */
interface Windows {
  start: number
  current: number
  previous: number
}

function windowsAt(state: LimitState | undefined, rule: Rule, now: number): Windows {
  const { periodMs } = rule
  const start = now - (now % periodMs)
  if (state === undefined || state[0] !== KIND.counter) return { start, current: 0, previous: 0 }
  const [, stored, current, previous, storedMs] = state as [number, number, number, number, number]
  if (storedMs !== periodMs) {
    return add(add({ start, current: 0, previous: 0 }, rule, stored, current), rule, stored - 1, previous)
  }
  // If the clock went back, the counted use stays counted.
  if (stored >= start) return { start: stored, current, previous }
  return { start, current: 0, previous: stored === start - periodMs ? current : 0 }
}

/** Adds `amount` to the window that contains the time, unless that window has passed. */
function add(windows: Windows, { periodMs }: Pick<Rule, 'periodMs'>, at: number, amount: number): Windows {
  const { start, current, previous } = windows
  if (at >= start) return { start, current: Math.max(0, current + amount), previous }
  if (at >= start - periodMs) return { start, current, previous: Math.max(0, previous + amount) }
  return windows
}

const stateOf = (
  { periodMs }: Pick<Rule, 'periodMs'>,
  { start, current, previous }: Windows,
): LimitState | undefined =>
  current === 0 && previous === 0 ? undefined : [KIND.counter, start, current, previous, periodMs]

/** The amount that counts now, in tokens times `periodMs`. */
function weight({ start, current, previous }: Windows, { periodMs }: Rule, now: number): number {
  return current * periodMs + previous * (periodMs - Math.max(0, now - start))
}

export const slidingWindowCounter: LimitAlgorithm = {
  take(state, rule, cost, now): AlgorithmResult {
    const windows = windowsAt(state, rule, now)
    const limit = rule.capacity * rule.periodMs
    const isAdmitted = cost === 0 || weight(windows, rule, now) + cost * rule.periodMs <= limit
    const after = isAdmitted ? { ...windows, current: windows.current + cost } : windows
    const left = Math.floor((limit - weight(after, rule, now)) / rule.periodMs)
    return {
      state: isAdmitted && cost > 0 ? stateOf(rule, after) : state,
      remaining: Math.max(0, left),
      resetMs: resetMs(after, rule, now),
      retryAfterMs: isAdmitted ? 0 : Math.max(1, retryAfterMs(windows, rule, cost, now)),
    }
  },

  correct(state, rule, amount, takenAt, now) {
    if (state !== undefined && (state[0] !== KIND.counter || state[4] !== rule.periodMs)) {
      return correctOther(state, rule, amount, takenAt, now)
    }
    return stateOf(rule, add(windowsAt(state, rule, now), rule, takenAt, amount))
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
  const [kind, start, current, previous, countedMs] = state as [number, number, number, number, number]
  const isOver = takenAt - (takenAt % periodMs) + 2 * periodMs <= now
  if (kind !== KIND.counter || isOver) return state
  const counted = { periodMs: countedMs }
  return stateOf(counted, add({ start, current, previous }, counted, takenAt, amount))
}

function resetMs({ start, current, previous }: Windows, { periodMs }: Rule, now: number): number {
  if (current > 0) return start + 2 * periodMs - now
  return previous > 0 ? start + periodMs - now : 0
}

function retryAfterMs(windows: Windows, rule: Rule, cost: number, now: number): number {
  const { start, current, previous } = windows
  const { capacity, periodMs } = rule
  if (current + cost <= capacity)
    return start + fadedAfterMs(previous, capacity - current - cost, periodMs) - now
  return start + periodMs + fadedAfterMs(current, capacity - cost, periodMs) - now
}

/** How far into a window the weight of the previous one has dropped to `room`. */
function fadedAfterMs(used: number, room: number, periodMs: number): number {
  return used <= room ? 0 : periodMs - Math.floor((room * periodMs) / used)
}
