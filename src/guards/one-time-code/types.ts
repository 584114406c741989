export const CHANNELS = ['email', 'phone'] as const
export type Channel = (typeof CHANNELS)[number]

export interface CodeAddress {
  channel: Channel
  /** An e-mail address, or a phone number in E.164 such as +5511999998888. */
  address: string
  /** What the code is for. Codes of different purposes are independent. */
  purpose?: string
}

/** The caller sends the code. No other call returns it. */
export interface IssuedCode {
  issued: true
  code: string
  /** ISO 8601. */
  expiresAt: string
}

export interface IssueDenied {
  issued: false
  /** The exhausted limits, `minute` or `hour`, or `lock` if the address is locked after too many failures. */
  violated: string[]
  retryAfterMs: number
}

export type IssueAnswer = IssuedCode | IssueDenied

/**
 * INVALID: the code is wrong, expired, used or was never sent (not distinguished).
 * LOCKED: too many failures, try again later.
 */
export type VerifyAnswer = { valid: true } | { valid: false; reason: 'INVALID' | 'LOCKED' }

/** The state of an address and purpose. Times are ISO 8601. */
export interface CodeStatus {
  /** A code was issued that can still be used. */
  pending: boolean
  expiresAt?: string
  /** Wrong guesses that still count, over all codes. */
  failures: number
  lockedUntil?: string
}
