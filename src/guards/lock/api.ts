import type { ListedPage } from '../../core/listing.js'
import type { AcquireOptions, Extended, HeldLockState, LockAnswer, LockQuery, LockState } from './types.js'

/** The lock API. The library implements it, and the remote half of the CLI as far as commands need it. */
export interface LocksApi {
  /** A lock held by another caller is a result, not an error. Throws when the store does not answer. */
  acquire(name: string, options?: AcquireOptions): Promise<LockAnswer>
  /** Undefined: the token no longer holds the lock. */
  extend(name: string, token: string, ttlMs?: number): Promise<Extended | undefined>
  /** False: the token no longer held the lock. */
  release(name: string, token: string): Promise<boolean>
  status(name: string): Promise<LockState>
  /** Locks that are held. A page may be short, or empty, although there is more. */
  list(query?: LockQuery): Promise<ListedPage<HeldLockState>>
  /** Releases the lock for any holder, for operators. False if it was not held. */
  forceRelease(name: string): Promise<boolean>
}
