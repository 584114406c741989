/** Every way a call can fail, in one table. `docs/reference/errors.md` is generated from it. */
export const ERROR_CODES = {
  INVALID_INPUT: 'A field of the request is missing, malformed or out of range; `errors` names each field.',
  UNAUTHENTICATED:
    'No API key was given, or the key is unknown, revoked or expired; or the session of a person has ended.',
  FORBIDDEN:
    'The API key, or the roles of the person, lack the scope that this call needs, or do not reach the list or resource.',
  FORBIDDEN_ORIGIN:
    'A server without API keys serves only requests from its own machine: the `Host` must be loopback, and an `Origin` must match it. A session of a person works only for pages of the server.',
  ROUTE_NOT_FOUND: 'No such path or method.',
  ALLOWLIST_NOT_FOUND: 'There is no allowlist with this id.',
  CUSTOMER_NOT_ALLOWED: 'The customer is not on every allowlist that the request needs.',
  ALLOWLIST_EXISTS: 'An allowlist with this id exists already.',
  ALLOWLIST_BEING_DELETED:
    'The members of a deleted allowlist with this id are still being removed; try again shortly.',
  ALLOWLIST_IN_USE: 'Another allowlist refers to this one as `base` or in `exclude`.',
  WRONG_ALLOWLIST_TYPE:
    'The call needs an allowlist of the other type (members belong to FIXA, config to ONDA).',
  VERSION_MISMATCH:
    'The allowlist was changed since the version given in `If-Match`, or a record of a set of changes since it was read; `conflicts` names those.',
  WAVE_NOT_PAUSED: 'Only a wave that is paused can be resumed.',
  MEMBER_NOT_FOUND: 'The customer is not a member of this allowlist.',
  IMPORT_NOT_FOUND: 'There is no import with this id for this allowlist.',
  IMPORT_IN_PROGRESS: 'An import with this id is running already.',
  IMPORT_INPUT_CHANGED: 'The import was resumed with other rows, or another mode, than it began with.',
  IMPORT_INTERRUPTED:
    'The connection or the input broke off before the last row. The acknowledged rows are stored; resume the import to send the rest.',
  REPLACE_IN_PROGRESS: 'Another replacing import of this allowlist is running, or is being rolled back.',
  LIMIT_NOT_CONFIGURED: 'No level (system, resource, entity) configures limits for this resource.',
  LIMIT_CONFIG_NOT_FOUND: 'This level has no configuration for the resource.',
  LIMIT_INCOMPLETE: 'No level states the capacity, or the period, of a limit.',
  LIMIT_UNREADABLE: 'A stored record of this limit cannot be used; the message names it.',
  LIMIT_SCHEMA_NEWER: 'A newer version wrote the stored limits, and `strictVersion` forbids using them.',
  QUOTA_EXCEEDED: 'A limit is used up; `violated-policies` names it and `retryAfterMs` says when to retry.',
  LEASE_NOT_FOUND: 'No acquire returned this lease, or the lease has expired.',
  IDEMPOTENCY_IN_PROGRESS:
    'A request with this idempotency key is in progress; `Retry-After` says when to retry.',
  IDEMPOTENCY_KEY_REUSED: 'The idempotency key was used for another request.',
  IDEMPOTENCY_OUTCOME_UNKNOWN:
    'An earlier request with this idempotency key started and never reported a result. `onLeaseExpired` is `unknown`, so it is not executed again.',
  IDEMPOTENCY_CLAIM_LOST:
    'The caller no longer holds the claim: another caller took it over, or it was completed, released, deleted or expired.',
  IDEMPOTENCY_ANSWER_NOT_KEPT:
    'The request was executed before, but its response was not stored: it was too large, or of a kind that is not stored.',
  IDEMPOTENCY_ANSWER_DIFFERS:
    'The request was completed before with a different response; the first response stays.',
  IDEMPOTENCY_ANSWER_NOT_WRITABLE:
    'The work was executed and recorded as completed, but its result cannot be written as JSON and is not replayed.',
  IDEMPOTENCY_RECORD_NOT_FOUND: 'There is no idempotency record with this operation and key.',
  ENTITY_NOT_FOUND: 'There is no record of this entity.',
  CODES_NOT_SET_UP:
    'One-time codes are not available: with this store, set a pepper (`CATRACA_OTP_PEPPER` or `CATRACA_OTP_PEPPER_FILE`).',
  TOKEN_REVOKED: 'The token was revoked, alone or with all tokens of its subject.',
  LOCK_HELD: 'Another caller holds the lock; `retryAfterMs` says when to retry.',
  LOCK_LOST: 'The caller no longer holds the lock: it expired, was released, or another caller holds it.',
  CACHE_SPACE_NOT_FOUND: 'The configuration has no cache space with this name.',
  CACHE_KEY_NOT_FOUND: 'Nothing is cached under this key.',
  CACHE_LEASE_LOST:
    'The key was invalidated after the lease was granted, or the lease expired: nothing was stored.',
  SIGN_IN_UNAVAILABLE:
    'The sign-in provider has not answered for so long that a session is no longer trusted; it goes on when the provider is back.',
  SOURCE_TIMEOUT: 'The source of the cached value did not respond in time.',
  SOURCE_UNAVAILABLE: 'The source of the cached value failed repeatedly; it is not called for a while.',
  RESHARD_IN_PROGRESS: 'This allowlist is being moved to another number of shards.',
  KEY_NOT_FOUND: 'There is no API key with this name.',
  KEY_EXISTS: 'An API key with this name exists already, or the call needs a store without API keys.',
  KEY_CONFIGURED: 'The API key is defined in `CATRACA_KEYS` and can be changed only there.',
  PAYLOAD_TOO_LARGE: 'The body is larger than its limit, as sent or after decompression.',
  UNSUPPORTED_MEDIA_TYPE: 'This call does not read a body of this content type or encoding.',
  NOT_ACCEPTABLE: 'None of the formats in `Accept` can be produced.',
  CONFIG_INVALID: 'A setting is unknown or wrong; the message names it.',
  PACKAGE_MISSING:
    'A package that the store, sign-in or the gRPC port needs is not installed, or has no binary for this platform; the message has the command that installs it.',
  STORE_UNSUPPORTED: 'The engine of this store does not support this capability.',
  STORE_UNUSABLE:
    'The data directory cannot be opened (wrong kind of path, no permission, or read-only), or a write to it failed in the file system: start the process again.',
  STORE_IN_USE:
    'Another process has the data directory open and cannot share it: it runs version 0.1.0, it is suspended, or it has the same process id in another container.',
  ALLOWLIST_UNREADABLE:
    'The stored record of an allowlist cannot be read: it is damaged, or another program wrote it in an unknown form. Other lists still work.',
  STORE_CORRUPT:
    'The store holds data that Catraca did not write: the data directory is damaged, or another program wrote to one of its keys.',
  STORE_NEWER_VERSION: 'The data was written by a newer version of Catraca.',
  STORE_FULL:
    'The disk, or the space reserved for the store or for revoked tokens, is full; the failed write stored nothing.',
  ENGINE_UNAVAILABLE: 'The engine did not answer.',
  UNKNOWN_OUTCOME: 'The engine did not answer in time: the change may or may not have happened.',
  AUDIT_NOT_RECORDED: 'The change was made, but its entry in the audit trail could not be written.',
  OVERLOADED: 'The request bodies in flight fill the memory reserved for them. Try again in a moment.',
  SHUTTING_DOWN: 'The server is stopping and accepts no new requests.',
  ABORTED: 'The caller aborted the call with its signal; nothing of the call is still running.',
  CLOSED: 'This instance was closed.',
  INTERNAL: 'An unexpected failure; search the log for the request id.',
} as const

export type ErrorCode = keyof typeof ERROR_CODES

/** One invalid field of the input. */
export interface FieldError {
  path: string
  message: string
}

interface ErrorDetails {
  cause?: unknown
  /** For INVALID_INPUT: every invalid field. */
  errors?: FieldError[]
  /** Further facts for the caller, such as the progress of an import. Never secrets. */
  facts?: Record<string, unknown>
}

/** Facts that errors of a code always have. Those of other codes may have some. */
interface FactsOfErrors {
  LOCK_HELD: { retryAfterMs: number }
  PACKAGE_MISSING: { package: string; command?: string }
  QUOTA_EXCEEDED: { retryAfterMs: number; 'violated-policies': string[] }
}

type FactsOf<Code extends ErrorCode> = Code extends keyof FactsOfErrors ? FactsOfErrors[Code] : unknown

/** The same for copies of the package: a process can have one for `import` and one for `require`. */
const BRAND = Symbol.for('catraca.error')

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
Object.defineProperty(CatracaError.prototype, BRAND, { value: true })

/** INVALID_INPUT for one field. */
export function invalid(path: string, message: string): CatracaError {
  return new CatracaError('INVALID_INPUT', `${path} ${message}`, { errors: [{ path, message }] })
}

/** With a code, `code` and `facts` have the types of that code. */
export function isCatracaError<Code extends ErrorCode = ErrorCode>(
  error: unknown,
  code?: Code,
): error is CatracaError & { readonly code: Code; readonly facts: FactsOf<Code> } {
  if ((error as { [BRAND]?: true } | null | undefined)?.[BRAND] !== true) return false
  return code === undefined || (error as CatracaError).code === code
}
