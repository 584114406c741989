import type { Listing, ListingRequest } from '../../core/listing.js'

/**
 * What locks need from an engine: one record per name. The engine makes each change as one atomic decision across
 * all processes.
 *
 * Fences: the fence that `acquire` returns strictly increases over the life of a name: `max(last + 1, engine time
 * in µs)`. It also increases after a release, an expiry, a restart, and the loss of the last fence, which the
 * engine may forget one day after its use.
 *
 * Time: `now` is the caller's clock, in milliseconds. An engine with its own clock (Redis) uses that instead. An
 * engine whose clock cannot be read (DynamoDB) measures how long the holder has not renewed.
 *
 * `owner` identifies the holder. It is a hash of the token that the guard gave to its caller, so stored data
 * contains no secret.
 */
export interface LockStore {
  /**
   * Takes a lock that is free or expired. Called again by the current owner, it returns the same fence and
   * restarts the time to live, so a caller that lost the response may retry.
   */
  acquire(attempt: Attempt, now: number): Promise<AttemptOutcome>
  /** The new time to live starts now. */
  extend(name: string, owner: string, ttlMs: number, now: number): Promise<OwnerOutcome>
  release(name: string, owner: string, now: number): Promise<OwnerOutcome>
  /** Undefined when nothing is stored for the name. */
  read(name: string, now: number): Promise<StoredLock | undefined>
  /** The locks that are held, by the beginning of their name. */
  list(request: ListingRequest, now: number): Promise<Listing<ListedLock>>
  /** Releases the lock for any holder, for operators. False if it was not held. */
  remove(name: string, now: number): Promise<boolean>
  /**
   * Calls `onFree` soon after the lock becomes free, while a caller waits for it. Calls may be spurious or
   * missing: waiters poll every `pollMs` anyway. Returns a function that stops watching.
   */
  watch(name: string, onFree: () => void): () => void
  /** How often waiters should poll. */
  readonly pollMs: number
  /** Deletes expired records in a small step. Engines that expire records themselves return `more: false`. */
  sweep(now: number): Promise<{ more: boolean }>
}

export interface Attempt {
  name: string
  owner: string
  ttlMs: number
  /** Whether the caller will wait, and so needs a notification when the lock becomes free. */
  waits: boolean
}

export type AttemptOutcome =
  /** No fence where independent servers voted (Redlock). */
  | { outcome: 'acquired'; fence: number | undefined }
  /** Another owner holds the lock, for at most about this long. */
  | { outcome: 'held'; retryAfterMs: number }

/** `lost`: the owner no longer holds the lock. Nothing was changed. */
export type OwnerOutcome = 'done' | 'lost'

export interface ListedLock extends Pick<StoredLock, 'fence' | 'expiresAt'> {
  name: string
}

export interface StoredLock {
  isHeld: boolean
  /** The last fence given. */
  fence: number | undefined
  /** For a held lock, as far as the engine knows. Undefined if another program set no expiry. */
  expiresAt: number | undefined
}

/** How long the last fence of a name is stored after its use. */
export const FENCE_KEPT_MS = 24 * 3_600_000

export function nextFence(last: number | undefined, nowMs: number): number {
  return Math.max((last ?? 0) + 1, Math.floor(nowMs * 1000))
}
