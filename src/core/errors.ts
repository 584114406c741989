/** Every way a call can fail, in one table. `docs/reference/errors.md` is generated from it. */
export const ERROR_CODES = {
  INVALID_INPUT: 'Something in the request is missing, malformed or out of range; `errors` names each field.',
  UNAUTHENTICATED: 'No API key was given, or the key is unknown or revoked.',
  FORBIDDEN: 'The API key lacks the scope that this call needs.',
  FORBIDDEN_ORIGIN:
    'Without API keys only requests from this machine are served: loopback `Host`, no foreign `Origin`.',
  ROUTE_NOT_FOUND: 'No such path or method.',
  ALLOWLIST_NOT_FOUND: 'There is no allowlist with this id.',
  ALLOWLIST_EXISTS: 'An allowlist with this id exists already.',
  ALLOWLIST_BEING_DELETED: 'A deleted allowlist with this id is still being swept; try again shortly.',
  ALLOWLIST_IN_USE: 'Another allowlist refers to this one as `base` or in `exclude`.',
  WRONG_ALLOWLIST_TYPE:
    'The call needs an allowlist of the other type (members belong to FIXA, config to ONDA).',
  VERSION_MISMATCH: 'The allowlist was changed since the version given in `If-Match`.',
  WAVE_NOT_PAUSED: 'Only a wave that is paused can be resumed.',
  MEMBER_NOT_FOUND: 'The customer is not a member of this allowlist.',
  IMPORT_NOT_FOUND: 'There is no import with this id for this allowlist.',
  IMPORT_IN_PROGRESS: 'An import with this id is running already.',
  IMPORT_INPUT_CHANGED: 'The import was resumed with other rows, or another mode, than it began with.',
  IMPORT_INTERRUPTED:
    'The input ended before its end; what was acknowledged is stored and the rest can be resumed.',
  REPLACE_IN_PROGRESS: 'Another replace of this allowlist is running, or is being undone.',
  LIMIT_NOT_CONFIGURED: 'No level configures this resource.',
  LIMIT_CONFIG_NOT_FOUND: 'This level says nothing of the resource.',
  LIMIT_INCOMPLETE: 'A limit lacks its capacity or its period on every level.',
  LIMIT_UNREADABLE: 'A stored record of this limit cannot be used; the message names it.',
  LIMIT_SCHEMA_NEWER: 'The stored limits have a newer schema, and `strictVersion` forbids to go on.',
  QUOTA_EXCEEDED:
    'A limit is used up; `violated-policies` names it and `retryAfterMs` says when to come again.',
  LEASE_NOT_FOUND: 'The lease is not one that an acquire returned, or it has run out.',
  IDEMPOTENCY_IN_PROGRESS:
    'A request with this idempotency key is being worked on; `Retry-After` says when to ask again.',
  IDEMPOTENCY_KEY_REUSED: 'The idempotency key was used for another request.',
  IDEMPOTENCY_OUTCOME_UNKNOWN:
    'A request with this idempotency key was begun and never ended, and `onLeaseExpired` forbids to try it again.',
  IDEMPOTENCY_CLAIM_LOST:
    'The claim is not one that is held any more: it was taken over, ended, deleted, or has expired.',
  IDEMPOTENCY_ANSWER_NOT_KEPT:
    'The request was done before; its answer was too large, or of a kind, that is not kept.',
  IDEMPOTENCY_ANSWER_DIFFERS: 'The request was completed before, with another answer, which stays.',
  IDEMPOTENCY_ANSWER_NOT_WRITABLE:
    'The work was done and is recorded as done; its answer cannot be written as JSON, so it is not replayed.',
  IDEMPOTENCY_RECORD_NOT_FOUND: 'There is no idempotency record with this operation and key.',
  ENTITY_NOT_FOUND: 'Nothing is known of this entity.',
  CODES_NOT_SET_UP:
    'One-time codes cannot be used here: this store needs a pepper, `CATRACA_OTP_PEPPER` or `CATRACA_OTP_PEPPER_FILE`.',
  TOKEN_REVOKED: 'The token was revoked, by itself or with all tokens of its subject.',
  LOCK_HELD: 'Somebody else has the lock; `retryAfterMs` says when it is worth to ask again.',
  LOCK_LOST: 'The lock is not yours any more: it ended, was released, or somebody else has it.',
  CACHE_SPACE_NOT_FOUND: 'The configuration names no cache space of this name.',
  CACHE_KEY_NOT_FOUND: 'Nothing is cached under this key.',
  CACHE_LEASE_LOST:
    'The key was invalidated since the lease began, or the lease has ended: nothing was stored.',
  SOURCE_TIMEOUT: 'The source of a cached value did not answer in time.',
  SOURCE_UNAVAILABLE: 'The source of a cached value failed again and again, and is spared for a while.',
  RESHARD_IN_PROGRESS: 'This allowlist is being moved to another number of shards.',
  KEY_NOT_FOUND: 'There is no API key with this name.',
  KEY_EXISTS: 'An API key with this name exists already, or keys exist where there must be none.',
  KEY_CONFIGURED: 'The API key is one of `CATRACA_KEYS`, and can be changed only there.',
  PAYLOAD_TOO_LARGE: 'The body, or what it expands to, is larger than its limit.',
  UNSUPPORTED_MEDIA_TYPE: 'The content type or encoding of the body is not one that this call reads.',
  NOT_ACCEPTABLE: 'None of the formats in `Accept` can be produced.',
  CONFIG_INVALID: 'A setting is unknown or wrong; the message names it.',
  STORE_UNSUPPORTED: 'The engine of this store does not have this capability.',
  STORE_UNUSABLE: 'The data directory cannot be opened: wrong kind of path, no permission, or read-only.',
  STORE_IN_USE:
    'Another process has the data directory open and cannot share it: it runs version 0.1.0, is stopped, or has the same number in another container.',
  ALLOWLIST_UNREADABLE:
    'The stored record of an allowlist cannot be read: damage, or another program wrote it in an unknown form. Other lists are not concerned.',
  STORE_CORRUPT:
    'The store holds something that is not ours to read: the data directory is damaged, or another program has written under one of our keys.',
  STORE_NEWER_VERSION: 'The data was written by a newer version of Catraca.',
  STORE_FULL:
    'The disk, or the space set aside for the store or for revoked tokens, is full; nothing of the failed write was kept.',
  ENGINE_UNAVAILABLE: 'The engine did not answer.',
  UNKNOWN_OUTCOME: 'The engine did not answer in time: the change may or may not have been made.',
  AUDIT_NOT_RECORDED: 'The change was made, and its entry in the audit trail could not be written.',
  OVERLOADED: 'The server receives as much at once as it may hold. Try again in a moment.',
  SHUTTING_DOWN: 'The server is stopping and takes no new work.',
  ABORTED: 'The caller gave the call up, by its signal; nothing of it is left.',
  CLOSED: 'This instance was closed.',
  INTERNAL: 'An unexpected failure; the request id finds it in the log.',
} as const

export type ErrorCode = keyof typeof ERROR_CODES

/** One invalid field of the input. */
export interface FieldError {
  path: string
  message: string
}

export interface ErrorDetails {
  cause?: unknown
  /** For INVALID_INPUT: every invalid field. */
  errors?: FieldError[]
  /** Further facts for the caller, such as the progress of an import. Never secrets. */
  facts?: Record<string, unknown>
}

/** The only error type of the product. Expected outcomes are return values; this error means misuse or failure. */
export class CatracaError extends Error {
  override readonly name = 'CatracaError'
  readonly errors: FieldError[] | undefined
  readonly facts: Record<string, unknown> | undefined

  constructor(
    readonly code: ErrorCode,
    message: string,
    details: ErrorDetails = {},
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.errors = details.errors
    this.facts = details.facts
  }
}

/** INVALID_INPUT for one field. */
export function invalid(path: string, message: string): CatracaError {
  return new CatracaError('INVALID_INPUT', `${path} ${message}`, { errors: [{ path, message }] })
}

export function isCatracaError(error: unknown, code?: ErrorCode): error is CatracaError {
  return error instanceof CatracaError && (code === undefined || error.code === code)
}
