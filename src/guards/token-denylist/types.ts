import type { Moment } from '../../core/moment.js'

export type { Moment }

export interface RevokedToken {
  jti: string
  /** When the token itself expires. It is revoked until then. */
  expiresAt: Moment
}

export interface RevokedSubject {
  subject: string
  /** Tokens issued before this time are revoked. */
  notBefore: Moment
  /** When the last of these tokens expires. */
  expiresAt: Moment
}

/** What is asked about: a token, all tokens of a subject, or both. */
export type TokenQuestion = (
  | { jti: string; subject?: string | undefined }
  | { jti?: undefined; subject: string }
) & {
  /** For a token with a subject. If absent, the token counts as older than any revocation of the subject. */
  issuedAt?: Moment | undefined
}

export interface TokenAnswer {
  revoked: boolean
  /** Neither memory nor the store could answer, and `onUnavailable` is `allow`. */
  degraded?: true
}

/** Whether tokens of a subject are revoked, and which. Times are ISO 8601. */
export interface SubjectStatus {
  revoked: boolean
  /** Tokens issued before this time are revoked. */
  notBefore?: string
  expiresAt?: string
}

export interface TokenStats {
  /** Number in memory, including expired ones that are not dropped yet. */
  tokens: number
  subjects: number
  bytes: number
  /** Whether checks are answered from memory. */
  isFresh: boolean
  /** Checks answered from memory, by the store, and by `onUnavailable` because neither could answer. */
  fromMemory: number
  fromStore: number
  degraded: number
  /** Checks that found a revoked token. */
  revoked: number
  /** Time since memory was last known to be complete. 0 while the log is not followed. */
  lagMs: number
}

export interface TokenOptions {
  /**
   * How often memory is compared with the store. Notifications usually arrive earlier. 0: nothing is held in memory.
   */
  compareIntervalMs: number
  /** Memory that was not confirmed as complete for this long is not used: the store is queried. */
  staleAfterMs: number
  /** A store that has not answered within this time counts as unavailable. */
  timeoutMs: number
  /** What a check then returns: an error (default), or not revoked, marked as degraded. */
  onUnavailable: 'block' | 'allow'
  /** With so many unexpired revocations in memory, further ones are refused. */
  maxEntries: number
}

export const DEFAULT_TOKENS: TokenOptions = {
  compareIntervalMs: 400,
  staleAfterMs: 1000,
  timeoutMs: 1000,
  onUnavailable: 'block',
  maxEntries: 5_000_000,
}
