import { invalid } from '../../core/errors.js'

export interface LockOptions {
  /** An engine that has not decided by then counts as unavailable. */
  timeoutMs: number
}

export const DEFAULT_LOCKS: LockOptions = { timeoutMs: 3000 }

export const DEFAULT_TTL_MS = 30_000
/**
 * How long `withLock` waits unless told otherwise: long enough for the lock of a holder that died to end, also where its
 * time counts from when it was first seen (DynamoDB).
 */
export const DEFAULT_WAIT_MS = 40_000
const LEAST_TTL_MS = 10
const MOST_TTL_MS = 24 * 3_600_000
const MOST_WAIT_MS = 24 * 3_600_000
/** Names that may be locked together. */
export const MOST_NAMES = 64

export function checkTtl(ttlMs: unknown): number {
  if (ttlMs === undefined) return DEFAULT_TTL_MS
  return checkWhole('ttlMs', ttlMs, LEAST_TTL_MS, MOST_TTL_MS)
}

export function checkWait(waitMs: unknown, byDefault: number): number {
  if (waitMs === undefined) return byDefault
  return checkWhole('waitMs', waitMs, 0, MOST_WAIT_MS)
}

function checkWhole(path: string, value: unknown, least: number, most: number): number {
  if (!Number.isInteger(value) || (value as number) < least || (value as number) > most) {
    throw invalid(path, `must be a whole number from ${least} to ${most}`)
  }
  return value as number
}

/**
 * What of its time a holder may count on: clocks may run differently by a hundredth, and take 2 ms to tell. Counted from
 * before the store was asked, so that the way there and back is the holder's loss.
 */
export function validityMs(ttlMs: number): number {
  return Math.max(0, ttlMs - ttlMs / 100 - 2)
}

export interface Validity {
  validForMs: number
  validUntilMs: number
}

/** Of a lock that the store was asked for then. */
export function validitySince(startedMs: number, ttlMs: number, nowMs: number): Validity {
  const validUntilMs = startedMs + validityMs(ttlMs)
  return { validForMs: validUntilMs - nowMs, validUntilMs }
}
