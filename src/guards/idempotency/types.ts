export type RecordStatus = 'IN_PROGRESS' | 'COMPLETED' | 'FAILED'

export interface RecordKey {
  /** Such as PRODUCE or CONSUME. */
  operation: string
  key: string
}

/** A claim whose owner let its lease pass: is taken over, or answered as of unknown outcome for the rest of its life. */
export type OnLeaseExpired = 'reclaim' | 'unknown'

export interface IdempotentRequest extends RecordKey {
  /**
   * What makes it this request: under the same key another one is refused. Either this or `requestHash`; with neither
   * it is the request without a payload.
   */
  payload?: unknown
  /** The payload as it came. A record of another program with a SHA-256 over these bytes then is this request's. */
  rawPayload?: string | Uint8Array
  /** Made by the caller, over whatever it finds essential. */
  requestHash?: string
  /** After so long without a sign of life of its owner the claim may be taken over. */
  leaseMs?: number
  /** Life of the record, within the configured range. */
  expirySeconds?: number
  /** `unknown` is kept in the record: it then holds for everybody who comes after. */
  onLeaseExpired?: OnLeaseExpired
}

export interface HoldRequest extends IdempotentRequest {
  /** How long to wait for the answer of somebody else who is at it; 0: not at all. */
  waitMs?: number
  /** Ends the waiting. */
  signal?: AbortSignal
  /** What to do when the engine does not answer: fail, or go on without any guarantee, marked. */
  onUnavailable?: 'block' | 'allow'
}

export interface RunRequest extends HoldRequest {
  /** What becomes of the record; see `defaultEnding`. */
  ending?: EndingPolicy
}

/** Stored and replayed; FAILED, to be tried again; or as if it had never been tried. */
export type Ending = 'complete' | 'fail' | 'release'

/** An error is not an answer, so it cannot be stored as one. */
export interface EndingPolicy {
  ofValue?: (value: unknown) => Ending
  ofError?: (error: unknown) => Exclude<Ending, 'complete'>
}

/** Why it was not done, and is not to be done now. */
export interface Refused {
  outcome: 'refused'
  reason: RefusalReason
  /** When to ask again; only of what is in progress. */
  retryAfterMs?: number
}

/**
 * `in-progress`: somebody is at it. `other-request`: the key was used for another request. `unknown`: whoever was at it
 * has let its lease pass, and it is not known how far it came (`onLeaseExpired: "unknown"`).
 */
export type RefusalReason = 'in-progress' | 'other-request' | 'unknown'

export type Replay<T> =
  | { outcome: 'replayed'; value: T }
  /** Done before; the answer was too large to be kept, or, with a size of 0, could not be written as JSON. */
  | { outcome: 'omitted'; sizeBytes: number }

export interface Claimed {
  outcome: 'claimed'
  /** Ends or extends the claim; nobody else knows it. */
  token: string
  /** Counts claims of this record. */
  attempt: number
  expiresAt: string
  leaseUntil: string
}

export type Begun = Claimed | Replay<unknown> | Refused

export type RunResult<T> =
  | { outcome: 'executed'; value: T; attempt: number; degraded?: true }
  | Replay<T>
  | Refused

/** What the work is told. */
export interface WorkContext {
  /** 1 at the first try; 0 where the engine did not answer and nobody counts. */
  attempt: number
  /** Aborts when the claim is lost, or may have been: somebody else may be at it from then on. */
  signal: AbortSignal
  /** The owner token, for whoever ends the claim elsewhere; absent where there is no claim. */
  token?: string
  /** The engine did not answer: nothing keeps others from doing the same. */
  degraded?: true
}

/** A record with the names of the source table, and what was added to it. */
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
  /** How large a response was that was not kept; 0: it could not be written as JSON. */
  omittedBytes?: number
  /** Where it is not taken over when its lease has passed. */
  onLeaseExpired?: 'unknown'
  error?: string
}
