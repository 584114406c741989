import type { JsonForm } from '../../core/json-form.js'
import type { ListingQuery } from '../../core/listing.js'

export const RECORD_STATUSES = ['IN_PROGRESS', 'COMPLETED', 'FAILED'] as const
export type RecordStatus = (typeof RECORD_STATUSES)[number]

export interface RecordKey {
  /** For example PRODUCE or CONSUME. */
  operation: string
  key: string
}

/**
 * What happens to a claim whose lease expired. `reclaim`: another caller may take it over. `unknown`: its outcome
 * is reported as unknown until the record expires.
 */
export type OnLeaseExpired = 'reclaim' | 'unknown'

/** What identifies a request. With neither a payload nor a hash, the request has no payload. */
export type RequestIdentity =
  | {
      /** Another payload under the same key is refused. */
      payload?: unknown
      /**
       * The payload as received. A record of another program that holds the SHA-256 of these
       * bytes then counts as this request.
       */
      rawPayload?: string | Uint8Array
      requestHash?: undefined
    }
  | {
      /** Computed by the caller over the parts of the request that matter. */
      requestHash: string
      payload?: undefined
      rawPayload?: undefined
    }

interface ClaimOptions extends RecordKey {
  /** Another caller may take over the claim if its owner has not renewed it for this long. */
  leaseMs?: number
  /** Lifetime of the record, within the configured range. */
  expirySeconds?: number
  /** `unknown` is stored in the record, and then applies to all later callers. */
  onLeaseExpired?: OnLeaseExpired
}

export type IdempotentRequest = ClaimOptions & RequestIdentity

interface HoldOptions {
  /** How long to wait for another caller that is executing the request. 0: do not wait. */
  waitMs?: number
  /** Aborts the wait. */
  signal?: AbortSignal
  /** When the engine does not answer: `block` fails, `allow` executes without any guarantee and marks the result. */
  onUnavailable?: 'block' | 'allow'
}

export type HoldRequest = IdempotentRequest & HoldOptions

export type RunRequest = HoldRequest & {
  /** Decides what happens to the record after the work. See `defaultEnding`. */
  ending?: EndingPolicy
}

/**
 * `complete`: the response is stored and replayed. `fail`: FAILED, may be tried again. `release`: as if never tried.
 */
export type Ending = 'complete' | 'fail' | 'release'

/** A thrown error is not a response, so it cannot be stored as one. */
export interface EndingPolicy {
  ofValue?: (value: unknown) => Ending
  ofError?: (error: unknown) => Exclude<Ending, 'complete'>
}

/** Why the request was not executed, and must not be executed now. */
export interface Refused {
  outcome: 'refused'
  reason: RefusalReason
  /** When to try again. Only for `in-progress`. */
  retryAfterMs?: number
}

/**
 * `in-progress`: another caller is executing the request. `other-request`: the key was used for another request.
 * `unknown`: the lease of the executing caller expired, and its progress is not known (`onLeaseExpired: "unknown"`).
 */
export type RefusalReason = 'in-progress' | 'other-request' | 'unknown'

export type Replay<T> =
  | { outcome: 'replayed'; value: T }
  /** Already executed. The response was too large to store, or, with a size of 0, could not be written as JSON. */
  | { outcome: 'omitted'; sizeBytes: number }

export interface Claimed {
  outcome: 'claimed'
  /** Ends or extends the claim. Only this caller knows it. */
  token: string
  /** Number of claims of this record. */
  attempt: number
  expiresAt: string
  leaseUntil: string
}

export type Begun = Claimed | Replay<unknown> | Refused

export type RunResult<T> =
  | { outcome: 'executed'; value: T; attempt: number; degraded?: true }
  /** The answer was stored as JSON. */
  | Replay<JsonForm<T>>
  | Refused

/** Context passed to the work function. */
export interface WorkContext {
  /** 1 at the first try. 0 if the engine did not answer, so nothing is counted. */
  attempt: number
  /** Aborted when the claim is lost or may be lost. From then on another caller may execute the request. */
  signal: AbortSignal
  /** The owner token, if the claim is ended elsewhere. Absent if there is no claim. */
  token?: string
  /** The engine did not answer: another caller may execute the same request. */
  degraded?: true
}

/** A record with the field names of the source table, and some added fields. */
export interface RecordQuery extends ListingQuery {
  /** Only records of this operation. */
  operation?: string
  status?: RecordStatus
  /** Only claims whose lease has ended. */
  leaseEnded?: boolean
  /** Only records that were last changed at least so long ago. */
  olderThanSeconds?: number
}

/** A record without its request, its response and its owner. Times are ISO 8601. */
export interface ListedRecordView {
  operation: string
  key: string
  status: RecordStatus
  attempt: number
  createdAt: string
  updatedAt: string
  expiresAt: string
  /** Of a claim: another caller may take over from then on. */
  leaseUntil?: string
  omittedBytes?: number
  error?: string
  /** Since it was last changed. */
  ageMs: number
}

export interface RecordView {
  pk: string
  operationType: string
  idempotencyKey: string
  status: RecordStatus
  requestHash?: string
  /** JSON text. */
  responsePayload?: string
  createdAt: string
  updatedAt: string
  expiresAt: string
  /** `expiresAt` in epoch seconds. */
  ttl: number
  attempt: number
  leaseUntil?: string
  /** Size of a response that was not stored. 0: it could not be written as JSON. */
  omittedBytes?: number
  /** Present if the record is not taken over when its lease expires. */
  onLeaseExpired?: 'unknown'
  error?: string
}
