import { invalid } from '../../core/errors.js'

export const ALGORITHMS = [
  'token-bucket',
  'sliding-window',
  'sliding-window-counter',
  'fixed-window',
  'concurrency',
] as const
export type Algorithm = (typeof ALGORITHMS)[number]

/** Maximum amount or cost. */
export const MAX_AMOUNT = 1_000_000_000
/** A leap year, so that a quota per year fits. */
export const MAX_PERIOD_SECONDS = 366 * 24 * 3600
/** An exact window stores each admission. Above this capacity the log costs more than it is worth. */
const MAX_LOG_CAPACITY = 10_000
/** Every sum and product below must stay an exact integer in a double, in JavaScript and in Lua. */
export const MAX_UNITS = Number.MAX_SAFE_INTEGER

/**
 * A limit as engines need it: whole numbers only. A token bucket counts in units. A token is `unitsPerToken`
 * units, and `unitsPerMs` units refill each millisecond, so refills are never rounded. Windows count tokens.
 */
export interface Rule {
  algorithm: Algorithm
  /** Tokens that a bucket holds, that a window admits, or concurrent calls. */
  capacity: number
  /** The window length, or the longest time a concurrency slot is held. */
  periodMs: number
  unitsPerMs: number
  unitsPerToken: number
}

/** A limit with every field resolved. */
export interface CompleteLimit {
  algorithm: Algorithm
  capacity: number
  burst: number
  refillAmount: number
  refillPeriodSeconds: number
}

/** Throws INVALID_INPUT at `path` if the numbers together exceed exact integer arithmetic. */
export function compileRule(path: string, limit: CompleteLimit): Rule {
  const { algorithm, capacity, burst, refillAmount } = limit
  const periodMs = limit.refillPeriodSeconds * 1000
  if (algorithm === 'token-bucket') {
    const divisor = greatestCommonDivisor(refillAmount, periodMs)
    const unitsPerToken = periodMs / divisor
    // Half, so that a bucket with full debt can still be counted.
    if (burst * unitsPerToken > MAX_UNITS / 2) throw invalid(path, TOO_FINE)
    return { algorithm, capacity: burst, periodMs, unitsPerMs: refillAmount / divisor, unitsPerToken }
  }
  if (algorithm === 'sliding-window-counter' && capacity * periodMs > MAX_UNITS / 4) {
    throw invalid(path, TOO_FINE)
  }
  if ((algorithm === 'sliding-window' || algorithm === 'concurrency') && capacity > MAX_LOG_CAPACITY) {
    throw invalid(
      path,
      `has a capacity above ${MAX_LOG_CAPACITY}, the most that ${algorithm} counts one by one; sliding-window-counter estimates`,
    )
  }
  return { algorithm, capacity, periodMs, unitsPerMs: 1, unitsPerToken: 1 }
}

/** Compares by value: reading the configuration again creates a new object. */
export function sameRule(a: Rule, b: Rule): boolean {
  return (
    a === b ||
    (a.algorithm === b.algorithm &&
      a.capacity === b.capacity &&
      a.periodMs === b.periodMs &&
      a.unitsPerMs === b.unitsPerMs &&
      a.unitsPerToken === b.unitsPerToken)
  )
}

const TOO_FINE =
  'is too large for its period to be counted exactly: take rounder amounts, or a shorter refillPeriodSeconds'

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b)
}
