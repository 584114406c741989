import type { ListingQuery } from '../../core/listing.js'

export interface AcquireOptions {
  /** The lock expires after this time unless it is extended. Default: 30 s. */
  ttlMs?: number
  /** How long to wait for a lock that another caller holds. */
  waitMs?: number
  /** Aborts the wait. */
  signal?: AbortSignal
}

export type LockAnswer = AcquiredLock | HeldByOther

export interface AcquiredLock {
  acquired: true
  name: string
  /** Proves ownership: `extend` and `release` require it. Keep it secret. */
  token: string
  /** Increases with every holder of the name. The locked resource should refuse an older fence. Absent with Redlock. */
  fence?: number
  /** When the lock expires unless extended, ISO 8601. Counted from before the store was called. */
  expiresAt: string
  /** The remaining time in milliseconds, reduced by a margin for clock drift. */
  validForMs: number
  /** The same limit by `performance.now()`. Correct even if the result is read late. */
  validUntilMs: number
}

export interface HeldByOther {
  acquired: false
  name: string
  /** When to try again. */
  retryAfterMs: number
}

export interface Extended {
  expiresAt: string
  validForMs: number
  validUntilMs: number
}

export interface LockQuery extends ListingQuery {
  /** Only locks that were acquired at least so long ago. */
  olderThanSeconds?: number
}

/** A lock that is held; never by whom. */
export interface HeldLockState extends Omit<LockState, 'held'> {
  /** Since it was acquired, by its fence. Extending a lock does not change it. */
  heldForMs?: number
}

export interface LockState {
  name: string
  held: boolean
  /** The last fence given. */
  fence?: number
  /** For a held lock, if known. */
  expiresAt?: string
}

/** The lock, as passed to the work function. */
export interface HeldLock {
  /** Fence of the first name. Throws where the store gives none (Redlock). */
  readonly fence: number
  fenceOf(name: string): number | undefined
  /** Aborted as soon as another holder may have the lock. */
  readonly signal: AbortSignal
  /** Whether the lock is still held now, by the monotonic clock. */
  isHeld(): boolean
  /** Runs automatically every third of the time to live. Call it for a longer time to live. Throws `LOCK_LOST`. */
  extend(ttlMs?: number): Promise<void>
}

/** The same, but the caller ends it: by `release`, or at the end of an `await using` block. */
export interface HeldLocks extends HeldLock, AsyncDisposable {
  /** Releases all names. A name that was lost meanwhile stays with its present holder. */
  release(): Promise<void>
}

export interface WithLockOptions extends AcquireOptions {
  /** False: the lock expires after its time to live, unless the work extends it. */
  autoExtend?: boolean
}
