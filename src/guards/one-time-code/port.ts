import type { Channel } from './types.js'

/**
 * What one-time codes need from an engine: one code per channel, address and purpose. The engine sees only a keyed
 * hash of the code.
 *
 * Time: `now` is the caller's clock, in milliseconds. An engine with its own clock (Redis) uses that instead. It
 * uses `now` only when it was opened to do so, as the conformance suites do. A code counts as absent from its
 * `expiresAt` on, even if it is not deleted yet.
 */
export interface CodeStore {
  /** Stores a code with no attempts counted, replacing the previous one. */
  put(key: CodeKey, code: NewCode, now: number): Promise<{ expiresAt: number }>
  /** The salt of the current code, needed to compute its hash. Undefined when there is no code. Changes nothing. */
  salt(key: CodeKey, now: number): Promise<string | undefined>
  /**
   * Counts the attempt, compares, and on a match marks the code as used, in one atomic step across all processes. A
   * used code is stored until it expires, so that a second caller with the right code does not count as guessing.
   */
  attempt(key: CodeKey, attempt: Attempt, now: number): Promise<AttemptOutcome>
  /** Public facts about the current code, never anything that reveals it. */
  peek(key: CodeKey, now: number): Promise<PendingCode | undefined>
  /** After this call the current code does not work. False if there was none. */
  revoke(key: CodeKey, now: number): Promise<boolean>
  /** Deletes expired codes in a small step. Engines that expire codes themselves return `more: false`. */
  sweep(now: number): Promise<{ more: boolean }>
}

export interface CodeKey {
  channel: Channel
  /** In canonical spelling. */
  address: string
  /** Empty if none was given. */
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
  /** The salt that the digests were computed with. */
  salt: string
  /** One digest per accepted pepper, all distinct. */
  digests: readonly string[]
  /** Attempts allowed per code, this one included. */
  maxAttempts: number
}

/**
 * `match`: the code is right, and is now used. `used`: the code is right but was used before; no attempt is
 * counted. `wrong`: the code is wrong, there is none, or its attempts are used up. `replaced`: the current code
 * has another salt, so nothing was compared and no attempt was counted.
 */
export type AttemptOutcome = 'match' | 'used' | 'wrong' | 'replaced'
