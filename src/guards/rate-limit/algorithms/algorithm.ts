import type { Rule } from '../rule.js'

/**
 * What is remembered of one limit: whole numbers, the first of which says the algorithm, so that a row of one
 * algorithm is never read as another's. Absent: nothing was used.
 */
export type LimitState = readonly number[]

/** The algorithms by the number that begins their states; stored, so never given another meaning. */
export const KIND = { bucket: 0, fixed: 1, counter: 2, log: 3, slots: 4 } as const

/** What is left of a limit, after the call where it was admitted. */
export interface LimitView {
  /** Whole tokens, never below 0. */
  remaining: number
  /** After so long without further calls everything is there again. */
  resetMs: number
  /** 0: admitted. Else: after so long the cost would be admitted, if nobody else takes. */
  retryAfterMs: number
}

export interface AlgorithmResult extends LimitView {
  /** The state to keep; the one given where nothing was taken. */
  state: LimitState | undefined
}

/** A pure function of state, rule and time. Cost 0 only looks, and is always admitted. */
export interface LimitAlgorithm {
  take(state: LimitState | undefined, rule: Rule, cost: number, now: number): AlgorithmResult
  /** Adds `amount`, which may be negative, to what was taken at `takenAt`; may go beyond the capacity. */
  correct(
    state: LimitState | undefined,
    rule: Rule,
    amount: number,
    takenAt: number,
    now: number,
  ): LimitState | undefined
}
