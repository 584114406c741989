import type { Rule } from '../rule.js'
import { type AlgorithmResult, KIND, type LimitAlgorithm, type LimitState } from './algorithm.js'
import { MAX_AHEAD_MS } from './rewound.js'

/**
 * State: kind, then time and amount of each millisecond in which calls were admitted, oldest first. An amount
 * admitted at t counts until t + period, exclusive. A concurrency limit works the same with slots: a slot is freed
 * when it is given back, at the latest after the period.
 */
function living(state: LimitState | undefined, kind: number, rule: Rule, now: number): number[] {
  if (state === undefined || state[0] !== kind) return [kind]
  let first = 1
  while (first < state.length && state[first]! <= now - rule.periodMs) first += 2
  return [kind, ...state.slice(first)]
}

function total(log: readonly number[]): number {
  let sum = 0
  for (let i = 2; i < log.length; i += 2) sum += log[i]!
  return sum
}

/** Adds an amount at a time. The time need not be the latest, because the clock may have gone back. */
function add(log: number[], at: number, amount: number): void {
  let i = log.length
  while (i > 1 && log[i - 2]! > at) i -= 2
  if (i > 1 && log[i - 2] === at) {
    const left = Math.max(0, log[i - 1]! + amount)
    if (left === 0) log.splice(i - 2, 2)
    else log[i - 1] = left
  } else if (amount > 0) log.splice(i, 0, at, amount)
}

/** Removes an amount, oldest first, from what was admitted after a time. */
function freeOldest(log: number[], after: number, amount: number): void {
  let i = 1
  while (i < log.length && log[i]! <= after) i += 2
  for (let left = amount; left > 0 && i < log.length; ) {
    const freed = Math.min(left, log[i + 1]!)
    left -= freed
    log[i + 1]! -= freed
    if (log[i + 1] === 0) log.splice(i, 2)
  }
}

const kept = (log: number[]): LimitState | undefined => (log.length === 1 ? undefined : log)

/** When this amount will have left the window. */
function freedAt(log: readonly number[], amount: number, periodMs: number): number {
  let freed = 0
  for (let i = 1; i < log.length; i += 2) {
    freed += log[i + 1]!
    if (freed >= amount) return log[i]! + periodMs
  }
  return log[log.length - 2]! + periodMs
}

function admissionLog(kind: number): LimitAlgorithm {
  return {
    take(state, rule, cost, now): AlgorithmResult {
      const log = living(state, kind, rule, now)
      const used = total(log)
      const missing = cost === 0 ? 0 : used + cost - rule.capacity
      const isTaken = cost > 0 && missing <= 0
      if (isTaken) add(log, now, cost)
      return {
        state: isTaken ? kept(log) : state,
        remaining: Math.max(0, rule.capacity - used - (isTaken ? cost : 0)),
        resetMs: log.length === 1 ? 0 : log[log.length - 2]! + rule.periodMs - now,
        retryAfterMs: missing > 0 ? freedAt(log, missing, rule.periodMs) - now : 0,
      }
    },

    /**
     * Amounts that have left the window are ignored. The rest of the log stays unchanged, because it may be
     * counted by another rule than that of the lease. If the clock was set back since the lease was taken, `rewound`
     * may have moved its amount, so the oldest amount is given back: never one that counts for longer.
     */
    correct(state, rule, amount, takenAt, now) {
      if (takenAt <= now - rule.periodMs || (state !== undefined && state[0] !== kind)) return state
      const log = state === undefined ? [kind] : [...state]
      if (takenAt - now <= MAX_AHEAD_MS) add(log, takenAt, amount)
      else if (amount > 0) add(log, now, amount)
      else freeOldest(log, now - rule.periodMs, -amount)
      return kept(log)
    },
  }
}

export const slidingWindow = admissionLog(KIND.log)
export const concurrency = admissionLog(KIND.slots)
