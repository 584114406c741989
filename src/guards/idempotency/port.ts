import type { RecordKey, RecordStatus } from './types.js'

/**
 * What idempotency needs of an engine: one record for each operation and key, every change of which is one atomic
 * decision over all processes, in one round trip.
 *
 * Time: `now` is the caller's clock, in milliseconds. An engine with a clock of its own (Redis) decides by that, and
 * takes `now` only when it was opened to do so, which is how the conformance suites run it. A record is gone from its
 * `expiresAt` on, whether or not it was deleted already; a lease has passed from its `leaseUntil` on. An owner whose
 * lease has passed still has the record until somebody else claims it.
 *
 * Owners are told apart by `owner`, a hash of the token that the guard gave to its caller: what is stored is no secret.
 */
export interface IdempotencyStore {
  /** What a response may take at most, encoded; above it the guard completes without one. */
  readonly maxResponseBytes: number
  /**
   * Claims what is absent, expired, FAILED, or IN_PROGRESS with its lease passed (that only if `takesOver`, of the claim
   * and of the record), unless it is another request's; everything else comes back as it is. Asked again by the owner it has, it answers the same
   * again, so that a caller who lost the answer may repeat the question.
   */
  claim(claim: Claim, now: number): Promise<ClaimOutcome>
  /**
   * Records the answer, and ends the claim. Of the owner that completed it already: `done` with the same answer, `differs`
   * with another; nothing changes.
   */
  complete(key: RecordKey, owner: string, completion: Completion, now: number): Promise<OwnerOutcome>
  /** Anybody may claim it again at once. Of the owner that failed it already: `done`, and nothing changes. */
  fail(key: RecordKey, owner: string, error: string | undefined, now: number): Promise<OwnerOutcome>
  /** As if it had never been claimed: the record is gone, or FAILED where there were attempts before; these stay counted. */
  release(key: RecordKey, owner: string, now: number): Promise<OwnerOutcome>
  /** From now on; the record lives at least as long as its lease. */
  extend(key: RecordKey, owner: string, leaseMs: number, now: number): Promise<OwnerOutcome>
  read(key: RecordKey, now: number): Promise<StoredRecord | undefined>
  /** False when there was none. */
  remove(key: RecordKey): Promise<boolean>
  /** Drops what has expired, in a small step; engines that expire by themselves answer `more: false`. */
  sweep(now: number): Promise<{ more: boolean }>
}

export interface Claim {
  key: RecordKey
  owner: string
  requestHash: string
  /** SHA-256, in hex, of the payload as it came: what another program may have written instead. */
  rawHash?: string
  leaseMs: number
  /** Of the record, at least as long as its lease; from its first claim on, and again from that of an expired one. */
  lifeMs: number
  /** Whether a claim whose owner let its lease pass is taken over. Once false, it stays so for the record. */
  takesOver: boolean
}

export type ClaimOutcome =
  | { outcome: 'claimed'; attempt: number; expiresAt: number; leaseUntil: number }
  | { outcome: 'found'; record: StoredRecord; at: number }

/** `lost`: the owner no longer has the record. `differs`: it is completed with another answer. Nothing was changed. */
export type OwnerOutcome = 'done' | 'lost' | 'differs'

export interface Completion {
  /** Absent: there is none, or it is not kept; then `omittedBytes` says how large it was, 0 where it is no JSON. */
  response?: StoredResponse
  omittedBytes?: number
}

/** JSON text as it is, so that other programs can read it; or the same, compressed. */
export type StoredResponse = { encoding: 'json'; text: string } | { encoding: 'gzip'; bytes: Uint8Array }

export interface StoredRecord {
  key: RecordKey
  status: RecordStatus
  /** Absent in what another program wrote without one: it fits every request. */
  requestHash: string | undefined
  /** Counts claims. */
  attempt: number
  createdAt: number
  updatedAt: number
  expiresAt: number
  /** Of a record in progress. */
  leaseUntil: number | undefined
  response: StoredResponse | undefined
  /** The response was too large to be kept; 0: it could not be written as JSON. */
  omittedBytes: number | undefined
  /** Of a record that failed. */
  error: string | undefined
  /** False: it is not taken over when its lease has passed. */
  takesOver: boolean
  /** Another program wrote it. */
  isForeign: boolean
}
