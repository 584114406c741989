/**
 * What the denylist needs from an engine: revocations that expire, and one log of them with contiguous sequence
 * numbers, which processes replay and then follow.
 *
 * Revocations are only added. If two name the same token or subject, the later times win. So applying one twice,
 * or in another order, does no harm. Times are milliseconds; `now` is the caller's clock.
 */
export interface TokenStore {
  /**
   * Stores all of them, at most `MAX_REVOCATIONS`, with an entry in the log. Some may have expired by this
   * process's clock but not by another's. No token or subject appears twice.
   */
  revoke(revocations: readonly Revocation[], now: number): Promise<void>
  /** The stored state of a token and of a subject, including all earlier writes of every process. */
  find(jti: string | undefined, subject: string | undefined, now: number): Promise<Found>
  /** The end of the log. */
  position(): Promise<LogPosition>
  /** All unexpired revocations, in parts. Those added during the scan may be missing, but are in the log. */
  all(now: number): AsyncIterable<readonly Revocation[]>
  /** Log entries after a position. `gap` when the engine no longer has them all. */
  read(after: LogPosition): Promise<LogPart | 'gap'>
  /**
   * Calls `wake` soon after another process adds entries. Calls may be missing. Returns a function that stops watching.
   */
  watch(wake: () => void): () => void
  /**
   * Deletes what expired before `before`, in a small step. Engines that expire entries themselves have nothing to do.
   */
  sweep(before: number): Promise<{ more: boolean }>
}

export const MAX_REVOCATIONS = 1000

export type Revocation =
  | { kind: 'token'; id: string; expiresAt: number }
  | { kind: 'subject'; id: string; expiresAt: number; notBefore: number }

export interface Found {
  isRevoked: boolean
  /** Tokens of the subject issued before this time are revoked. */
  notBefore: number | undefined
  /** When that revocation expires. */
  markExpiresAt: number | undefined
}

/**
 * The last entry that a reader has applied. The mark distinguishes it from another
 * entry that got the same number after data loss.
 */
export interface LogPosition {
  sequence: number
  mark: number
}

export interface LogPart {
  revocations: readonly Revocation[]
  position: LogPosition
  more: boolean
}
