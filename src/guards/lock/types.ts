export interface AcquireOptions {
  /** After so long without a sign of life the lock is free again; 30 s when absent. */
  ttlMs?: number
  /** How long to wait for a lock that somebody else has. */
  waitMs?: number
  /** Ends the wait. */
  signal?: AbortSignal
}

export type LockAnswer = AcquiredLock | HeldByOther

export interface AcquiredLock {
  acquired: true
  name: string
  /** Proves that the lock is the caller's: it extends and releases. A secret. */
  token: string
  /** Grows with every holder of the name: what is locked refuses an older one. Absent with Redlock. */
  fence?: number
  /** When it ends unless it is extended, ISO 8601; counted from before the store was asked. */
  expiresAt: string
  /** The same in milliseconds from now, with a margin for clocks that differ. */
  validForMs: number
  /** The same by `performance.now()`, which tells the truth also when the answer is read late. */
  validUntilMs: number
}

export interface HeldByOther {
  acquired: false
  name: string
  /** When it is worth to ask again. */
  retryAfterMs: number
}

export interface Extended {
  expiresAt: string
  validForMs: number
  validUntilMs: number
}

export interface LockState {
  name: string
  held: boolean
  /** The last one that was given. */
  fence?: number
  /** Of a lock that is held, when it is known. */
  expiresAt?: string
}

/** What the work under a lock gets. */
export interface HeldLock {
  /** Of the first name; throws where the store gives none (Redlock). */
  readonly fence: number
  fenceOf(name: string): number | undefined
  /** Aborted as soon as the lock may be somebody else's. */
  readonly signal: AbortSignal
  /** Whether it is still held at this moment, by a clock that cannot be set. */
  isHeld(): boolean
  /** Happens by itself every third of the time to live; for a longer one. Throws `LOCK_LOST`. */
  extend(ttlMs?: number): Promise<void>
}

/** The same for whoever ends it: by `release`, or at the end of a block that began with `await using`. */
export interface HeldLocks extends HeldLock, AsyncDisposable {
  /** Gives all names back; those that were lost meanwhile stay with whoever has them. */
  release(): Promise<void>
}

export interface WithLockOptions extends AcquireOptions {
  /** False: the lock ends after its time to live, unless the work extends it. */
  autoExtend?: boolean
}
