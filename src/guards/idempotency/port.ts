import type { Listing, ListingRequest } from '../../core/listing.js'
import type { RecordKey, RecordStatus } from './types.js'

/**
 * What idempotency needs from an engine: one record per operation and key. The engine makes each change as one
 * atomic decision across all processes, in one round trip.
 *
 * Time: `now` is the caller's clock, in milliseconds. An engine with its own clock (Redis) uses that instead. It
 * uses `now` only when it was opened to do so, as the conformance suites do. A record counts as absent from its
 * `expiresAt` on, even if it is not deleted yet. A lease has expired from its `leaseUntil` on. An owner whose
 * lease expired still owns the record until another claims it.
 *
 * `owner` identifies the holder. It is a hash of the token that the guard gave to its caller, so stored data
 * contains no secret.
 */
export interface IdempotencyStore {
  /** Maximum size of an encoded response. Above it, the guard completes without a response. */
  readonly maxResponseBytes: number
  /**
   * Claims a record that is absent, expired, FAILED, or IN_PROGRESS with an expired lease (the
   * last only if both the claim and the record have `takesOver`), unless it belongs to another
   * request. Any other record is returned unchanged. Called again by the current owner, it
   * returns the same result, so a caller that lost the response may retry.
   */
  claim(claim: Claim, now: number): Promise<ClaimOutcome>
  /**
   * Stores the response and ends the claim. If this owner has completed it already: `done` for the same response,
   * `differs` for another. Nothing changes then.
   */
  complete(key: RecordKey, owner: string, completion: Completion, now: number): Promise<OwnerOutcome>
  /**
   * Any caller may claim the record again at once. If this owner has failed it already: `done`, and nothing changes.
   */
  fail(key: RecordKey, owner: string, error: string | undefined, now: number): Promise<OwnerOutcome>
  /** Undoes the claim: deletes the record, or sets it to FAILED if there were earlier attempts, which stay counted. */
  release(key: RecordKey, owner: string, now: number): Promise<OwnerOutcome>
  /** The new lease starts now. The record lives at least as long as its lease. */
  extend(key: RecordKey, owner: string, leaseMs: number, now: number): Promise<OwnerOutcome>
  read(key: RecordKey, now: number): Promise<StoredRecord | undefined>
  /** Records by the beginning of their key, without their responses; of one operation if it is given. */
  list(request: ListingRequest & { operation?: string }, now: number): Promise<Listing<ListedRecord>>
  /** False if there was none. */
  remove(key: RecordKey): Promise<boolean>
  /** Deletes expired records in a small step. Engines that expire records themselves return `more: false`. */
  sweep(now: number): Promise<{ more: boolean }>
}

export interface Claim {
  key: RecordKey
  owner: string
  requestHash: string
  /** SHA-256 (hex) of the payload as received. Another program may have stored this instead of `requestHash`. */
  rawHash?: string
  leaseMs: number
  /**
   * Lifetime of the record, at least as long as its lease. Starts at the first claim, and again when an expired
   * record is claimed.
   */
  lifeMs: number
  /** Whether another caller may take over a claim whose lease expired. Once false for a record, it stays false. */
  takesOver: boolean
}

export type ClaimOutcome =
  | { outcome: 'claimed'; attempt: number; expiresAt: number; leaseUntil: number }
  | { outcome: 'found'; record: StoredRecord; at: number }

/**
 * `lost`: the owner no longer has the record. `differs`: it was completed with another response. Nothing was changed.
 */
export type OwnerOutcome = 'done' | 'lost' | 'differs'

export interface Completion {
  /** Absent: there is none, or it is not stored. Then `omittedBytes` is its size, or 0 if it is not JSON. */
  response?: StoredResponse
  omittedBytes?: number
}

/** Plain JSON text, so that other programs can read it, or the same compressed. */
export type StoredResponse = { encoding: 'json'; text: string } | { encoding: 'gzip'; bytes: Uint8Array }

export type ListedRecord = Omit<StoredRecord, 'response' | 'isForeign' | 'takesOver'>

export interface StoredRecord {
  key: RecordKey
  status: RecordStatus
  /** Absent if another program wrote the record without one. It then matches every request. */
  requestHash: string | undefined
  /** Number of claims. */
  attempt: number
  createdAt: number
  updatedAt: number
  expiresAt: number
  /** While in progress. */
  leaseUntil: number | undefined
  response: StoredResponse | undefined
  /** Size of a response that was too large to store. 0: it could not be written as JSON. */
  omittedBytes: number | undefined
  /** Of a failed record. */
  error: string | undefined
  /** False: the record is not taken over when its lease expires. */
  takesOver: boolean
  /** Whether another program wrote the record. */
  isForeign: boolean
}
