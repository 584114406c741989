import type { AcquireOptions, Extended, LockAnswer, LockState } from './types.js'

/** Locks as a caller sees them: the same in the library and, over HTTP, in the client of the command line. */
export interface LocksApi {
  /** A lock that somebody else has is an answer; throws when the store does not answer. */
  acquire(name: string, options?: AcquireOptions): Promise<LockAnswer>
  /** Undefined: the lock is not the token's any more. */
  extend(name: string, token: string, ttlMs?: number): Promise<Extended | undefined>
  /** False: the lock was not the token's any more. */
  release(name: string, token: string): Promise<boolean>
  status(name: string): Promise<LockState>
  /** Whoever holds it: for operators. False when nobody did. */
  forceRelease(name: string): Promise<boolean>
}
