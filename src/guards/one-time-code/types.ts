export const CHANNELS = ['email', 'phone'] as const
export type Channel = (typeof CHANNELS)[number]

export interface CodeAddress {
  channel: Channel
  /** An e-mail, or a phone number in E.164 such as +5511999998888. */
  address: string
  /** What the code is for; codes of different purposes know nothing of each other. */
  purpose?: string
}

/** The code is for the caller to send, and is told only here. */
export interface IssuedCode {
  issued: true
  code: string
  /** ISO 8601. */
  expiresAt: string
}

export interface IssueDenied {
  issued: false
  /** Which of `minute` and `hour` is used up; or `lock`, for an address that is locked after too many failures. */
  violated: string[]
  retryAfterMs: number
}

export type IssueAnswer = IssuedCode | IssueDenied

/** INVALID: wrong, expired, used and never sent look alike. LOCKED: too many failures, try again later. */
export type VerifyAnswer = { valid: true } | { valid: false; reason: 'INVALID' | 'LOCKED' }

/** What stands for an address and a purpose; times are ISO 8601. */
export interface CodeStatus {
  /** A code was sent that can still be used. */
  pending: boolean
  expiresAt?: string
  /** Wrong guesses that count, over all codes. */
  failures: number
  lockedUntil?: string
}
