/**
 * What locks need of an engine: one record for each name, every change of which is one atomic decision over all
 * processes.
 *
 * Fences: what `acquire` answers grows strictly for the life of a name: `max(last + 1, engine time in µs)`. So it grows
 * also after a release, an expiry, a restart and the loss of the last one, which may be forgotten a day after its use.
 *
 * Time: `now` is the caller's clock, in milliseconds. An engine with a clock of its own (Redis) decides by that, and one
 * whose clock nobody can ask (DynamoDB) by how long a holder has given no sign of life.
 *
 * Owners are told apart by `owner`, a hash of the token that the guard gave to its caller: what is stored is no secret.
 */
export interface LockStore {
  /**
   * Takes what is free or has expired. Asked again by the owner that has it, it answers with the same fence, and the
   * time to live begins anew: so a caller who lost the answer may repeat the question.
   */
  acquire(attempt: Attempt, now: number): Promise<AttemptOutcome>
  /** From now on. */
  extend(name: string, owner: string, ttlMs: number, now: number): Promise<OwnerOutcome>
  release(name: string, owner: string, now: number): Promise<OwnerOutcome>
  /** Undefined when nothing is known of the name. */
  read(name: string, now: number): Promise<StoredLock | undefined>
  /** Whoever holds it: for operators. False when nobody did. */
  remove(name: string, now: number): Promise<boolean>
  /**
   * Told soon after the lock became free, while somebody waits for it. It may be told for nothing, and it may miss:
   * waiters look every `pollMs` anyway. Returns how to stop.
   */
  watch(name: string, onFree: () => void): () => void
  /** How often those who wait should look by themselves. */
  readonly pollMs: number
  /** Drops what is over, in a small step; engines that expire by themselves answer `more: false`. */
  sweep(now: number): Promise<{ more: boolean }>
}

export interface Attempt {
  name: string
  owner: string
  ttlMs: number
  /** Whether the caller will wait: then it wants to be told when the lock is free. */
  waits: boolean
}

export type AttemptOutcome =
  /** Without a fence where servers that know nothing of each other have voted. */
  | { outcome: 'acquired'; fence: number | undefined }
  /** Somebody else has it, for about so long at most. */
  | { outcome: 'held'; retryAfterMs: number }

/** `lost`: the owner no longer has the lock, and nothing was changed. */
export type OwnerOutcome = 'done' | 'lost'

export interface StoredLock {
  isHeld: boolean
  /** The last one that was given. */
  fence: number | undefined
  /** Of a lock that is held, as far as the engine can tell: never, when another program has set no end to it. */
  expiresAt: number | undefined
}

/** How long the last fence of a name is kept after its use. */
export const FENCE_KEPT_MS = 24 * 3_600_000

/** The fence that follows. */
export function nextFence(last: number | undefined, nowMs: number): number {
  return Math.max((last ?? 0) + 1, Math.floor(nowMs * 1000))
}
