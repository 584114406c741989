import type { OnUnavailable } from '../allowlist/types.js'

export type { OnUnavailable } from '../allowlist/types.js'

/** ISO 8601, or a Date. No number: whether it counts seconds, as in a JWT, or milliseconds could not be told. */
export type Moment = string | Date

export interface RevokedToken {
  jti: string
  /** When the token expires by itself; until then it is revoked. */
  expiresAt: Moment
}

export interface RevokedSubject {
  subject: string
  /** Tokens that were issued before are revoked. */
  notBefore: Moment
  /** When the last of them has expired by itself. */
  expiresAt: Moment
}

export interface TokenQuestion {
  /** At least one of `jti` and `subject`. */
  jti?: string | undefined
  subject?: string | undefined
  /** Of a token with a subject; absent: it cannot be shown to be newer than a mark, and counts as older. */
  issuedAt?: Moment | undefined
}

export interface TokenAnswer {
  revoked: boolean
  /** Neither memory nor the store could tell, and the setting says to go on. */
  degraded?: true
}

/** Whether tokens of a subject are revoked, and which; times are ISO 8601. */
export interface SubjectStatus {
  revoked: boolean
  /** Those that were issued before. */
  notBefore?: string
  expiresAt?: string
}

export interface TokenStats {
  /** In memory, expired ones that were not dropped yet included. */
  tokens: number
  subjects: number
  bytes: number
  /** Whether checks are answered from memory. */
  isFresh: boolean
  /** Answered from memory, by the store, and by the setting because neither could tell. */
  fromMemory: number
  fromStore: number
  degraded: number
  /** Of all that were answered, those that were revoked. */
  revoked: number
  /** How long ago memory was last known to hold everything; 0 as long as nothing is followed. */
  lagMs: number
}

export interface TokenOptions {
  /** How often what is in memory is compared with the store; wake-ups save waiting for it. 0: nothing is in memory. */
  compareIntervalMs: number
  /** Memory that was not known to be complete for so long does not answer: the store is asked. */
  staleAfterMs: number
  /** A store that has not answered by then counts as unavailable. */
  timeoutMs: number
  /** What a check then answers: an error (the default), or not revoked, marked. */
  onUnavailable: OnUnavailable
}

export const DEFAULT_TOKENS: TokenOptions = {
  compareIntervalMs: 400,
  staleAfterMs: 1000,
  timeoutMs: 1000,
  onUnavailable: 'block',
}
