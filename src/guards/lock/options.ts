import { invalid } from '../../core/errors.js'

export interface LockOptions {
  /** An engine that has not answered within this time counts as unavailable. */
  timeoutMs: number
}

export const DEFAULT_LOCKS: LockOptions = { timeoutMs: 3000 }

export const DEFAULT_TTL_MS = 30_000
/**
 * Default wait of `withLock`. Long enough for a dead holder's lock to expire, even where that time counts from
 * when this process first saw the lock (DynamoDB).
 */
export const DEFAULT_WAIT_MS = 40_000
const LEAST_TTL_MS = 10
const MOST_TTL_MS = 24 * 3_600_000
const MOST_WAIT_MS = 24 * 3_600_000
/** How many names may be locked together. */
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
 * How much of the time to live a holder may rely on: less 1 % for clock drift and 2 ms for clock resolution. It
 * counts from before the store was called, so the round trip is subtracted too.
 */
export function validityMs(ttlMs: number): number {
  return Math.max(0, ttlMs - ttlMs / 100 - 2)
}

export interface Validity {
  validForMs: number
  validUntilMs: number
}

/** `startedMs`: when the store was called. */
export function validitySince(startedMs: number, ttlMs: number, nowMs: number): Validity {
  const validUntilMs = startedMs + validityMs(ttlMs)
  return { validForMs: validUntilMs - nowMs, validUntilMs }
}
