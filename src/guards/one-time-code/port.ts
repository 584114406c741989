import type { Channel } from './types.js'

/**
 * What one-time codes need of an engine: one code for each channel, address and purpose, of which only a keyed hash is
 * ever seen here.
 *
 * Time: `now` is the caller's clock, in milliseconds. An engine with a clock of its own (Redis) decides by that, and
 * takes `now` only when it was opened to do so, which is how the conformance suites run it. A code is gone from its
 * `expiresAt` on, whether or not it was deleted already.
 */
export interface CodeStore {
  /** Keeps a code in the place of the one before, with no attempt counted. */
  put(key: CodeKey, code: NewCode, now: number): Promise<{ expiresAt: number }>
  /** That of the code in place, which its hash is made with; undefined when there is none. Decides nothing. */
  salt(key: CodeKey, now: number): Promise<string | undefined>
  /**
   * Counts the attempt, compares, and on a match marks the code as used, in one step over all processes. A used code is
   * remembered until its end, so that whoever has the right code and comes second is not taken for somebody who guesses.
   */
  attempt(key: CodeKey, attempt: Attempt, now: number): Promise<AttemptOutcome>
  /** What may be told of the code in place: never anything that it could be found by. */
  peek(key: CodeKey, now: number): Promise<PendingCode | undefined>
  /** From here on the code in place does not work; false when there was none. */
  revoke(key: CodeKey, now: number): Promise<boolean>
  /** Drops what has expired, in a small step; engines that expire by themselves answer `more: false`. */
  sweep(now: number): Promise<{ more: boolean }>
}

export interface CodeKey {
  channel: Channel
  /** In its one canonical spelling. */
  address: string
  /** Empty: none was given. */
  purpose: string
}

export interface PendingCode {
  expiresAt: number
  /** Wrong guesses at this code. */
  attempts: number
}

export interface NewCode {
  salt: string
  digest: string
  lifeMs: number
}

export interface Attempt {
  /** That the digests were made with. */
  salt: string
  /** One for each pepper that is accepted, distinct. */
  digests: readonly string[]
  /** Attempts that a code has, this one included. */
  maxAttempts: number
}

/**
 * `match`: it was the code, and from here on it is used. `used`: it was the code, and somebody used it before; no
 * attempt is counted. `wrong`: it was not, or there is none, or its attempts are used up.
 * `replaced`: the code in place has another salt, so there was nothing to compare and no attempt was counted.
 */
export type AttemptOutcome = 'match' | 'used' | 'wrong' | 'replaced'
