import type { Algorithm, Rule } from '../rule.js'

/**
 * The state of one limit: whole numbers. The first one is the algorithm, so that a state is never read by another
 * algorithm. Absent: nothing was used.
 */
export type LimitState = readonly number[]

/** The number that begins the states of each algorithm. Stored, so a number must never change its meaning. */
export const KIND = { bucket: 0, fixed: 1, counter: 2, log: 3, slots: 4 } as const

export const KIND_OF: Record<Algorithm, number> = {
  'token-bucket': KIND.bucket,
  'fixed-window': KIND.fixed,
  'sliding-window-counter': KIND.counter,
  'sliding-window': KIND.log,
  concurrency: KIND.slots,
}

/** What is left of a limit, after the call if it was admitted. */
export interface LimitView {
  /** Whole tokens, never below 0. */
  remaining: number
  /** Time until the limit is full again if no further calls come. */
  resetMs: number
  /** 0: admitted. Otherwise the time after which the cost would be admitted if no other caller takes any. */
  retryAfterMs: number
}

export interface AlgorithmResult extends LimitView {
  /** The new state, or the given one if nothing was taken. */
  state: LimitState | undefined
}

/** Pure functions of state, rule and time. Cost 0 only reads, and is always admitted. */
export interface LimitAlgorithm {
  take(state: LimitState | undefined, rule: Rule, cost: number, now: number): AlgorithmResult
  /** Adds `amount`, which may be negative, to what was taken at `takenAt`. May exceed the capacity. */
  correct(
    state: LimitState | undefined,
    rule: Rule,
    amount: number,
    takenAt: number,
    now: number,
  ): LimitState | undefined
}
