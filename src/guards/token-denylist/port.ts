/**
 * What the denylist needs of an engine: revocations that vanish when they are over, and one log of them with contiguous
 * sequence numbers, which processes replay and then follow.
 *
 * Revocations are only ever added, and of two for the same token or subject the later times win. So it does no harm to
 * apply one twice, or in another order. Times are milliseconds; `now` is the caller's clock.
 */
export interface TokenStore {
  /**
   * Keeps all of them, at most `MAX_REVOCATIONS`, with an entry in the log. Some may be over by
   * the clock of this process, and not by that of another; no token or subject is named twice.
   */
  revoke(revocations: readonly Revocation[], now: number): Promise<void>
  /** What is kept of a token and of a subject, as everybody's last writes left it. */
  find(jti: string | undefined, subject: string | undefined, now: number): Promise<Found>
  /** Where the log ends. */
  position(): Promise<LogPosition>
  /** All that are not over, in parts; those added meanwhile may be missing, and stand in the log. */
  all(now: number): AsyncIterable<readonly Revocation[]>
  /** What stands behind a position; `gap` when that cannot be told any more. */
  read(after: LogPosition): Promise<LogPart | 'gap'>
  /** Told of entries of others soon after they were made, or not at all. Returns how to stop. */
  watch(wake: () => void): () => void
  /** Drops what was over by then, in a small step; what expires by itself needs none. */
  sweep(before: number): Promise<{ more: boolean }>
}

export const MAX_REVOCATIONS = 1000

export type Revocation =
  | { kind: 'token'; id: string; expiresAt: number }
  | { kind: 'subject'; id: string; expiresAt: number; notBefore: number }

export interface Found {
  isRevoked: boolean
  /** Tokens of the subject that were issued before. */
  notBefore: number | undefined
  /** Until when that holds. */
  markExpiresAt: number | undefined
}

/** The last entry that a reader has: the mark tells it from another that got the same number after a loss of data. */
export interface LogPosition {
  sequence: number
  mark: number
}

export interface LogPart {
  revocations: readonly Revocation[]
  position: LogPosition
  more: boolean
}
