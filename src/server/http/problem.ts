import { CatracaError, ERROR_CODES, type ErrorCode, type FieldError } from '../../core/errors.js'

/** The only place that maps an error code to an HTTP status. */
export const HTTP_STATUS: Record<ErrorCode, number> = {
  INVALID_INPUT: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  FORBIDDEN_ORIGIN: 403,
  ROUTE_NOT_FOUND: 404,
  ALLOWLIST_NOT_FOUND: 404,
  CUSTOMER_NOT_ALLOWED: 403,
  ALLOWLIST_EXISTS: 409,
  ALLOWLIST_BEING_DELETED: 409,
  ALLOWLIST_IN_USE: 409,
  WRONG_ALLOWLIST_TYPE: 409,
  VERSION_MISMATCH: 412,
  WAVE_NOT_PAUSED: 409,
  MEMBER_NOT_FOUND: 404,
  IMPORT_NOT_FOUND: 404,
  IMPORT_IN_PROGRESS: 409,
  IMPORT_INPUT_CHANGED: 409,
  IMPORT_INTERRUPTED: 400,
  REPLACE_IN_PROGRESS: 409,
  LIMIT_NOT_CONFIGURED: 404,
  LIMIT_CONFIG_NOT_FOUND: 404,
  LIMIT_INCOMPLETE: 409,
  LIMIT_UNREADABLE: 409,
  LIMIT_SCHEMA_NEWER: 503,
  QUOTA_EXCEEDED: 429,
  LEASE_NOT_FOUND: 404,
  IDEMPOTENCY_IN_PROGRESS: 409,
  IDEMPOTENCY_KEY_REUSED: 422,
  IDEMPOTENCY_OUTCOME_UNKNOWN: 409,
  IDEMPOTENCY_CLAIM_LOST: 409,
  IDEMPOTENCY_ANSWER_NOT_KEPT: 409,
  IDEMPOTENCY_RECORD_NOT_FOUND: 404,
  ENTITY_NOT_FOUND: 404,
  CODES_NOT_SET_UP: 503,
  TOKEN_REVOKED: 401,
  LOCK_HELD: 409,
  LOCK_LOST: 409,
  CACHE_SPACE_NOT_FOUND: 404,
  CACHE_KEY_NOT_FOUND: 404,
  CACHE_LEASE_LOST: 409,
  IDEMPOTENCY_ANSWER_DIFFERS: 409,
  IDEMPOTENCY_ANSWER_NOT_WRITABLE: 500,
  SIGN_IN_UNAVAILABLE: 503,
  SOURCE_TIMEOUT: 504,
  SOURCE_UNAVAILABLE: 503,
  RESHARD_IN_PROGRESS: 409,
  KEY_NOT_FOUND: 404,
  KEY_EXISTS: 409,
  KEY_CONFIGURED: 409,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  NOT_ACCEPTABLE: 406,
  CONFIG_INVALID: 500,
  STORE_UNSUPPORTED: 501,
  STORE_UNUSABLE: 503,
  PACKAGE_MISSING: 503,
  STORE_IN_USE: 503,
  STORE_CORRUPT: 503,
  ALLOWLIST_UNREADABLE: 503,
  STORE_NEWER_VERSION: 503,
  STORE_FULL: 507,
  ENGINE_UNAVAILABLE: 503,
  UNKNOWN_OUTCOME: 504,
  AUDIT_NOT_RECORDED: 500,
  OVERLOADED: 503,
  SHUTTING_DOWN: 503,
  ABORTED: 499,
  CLOSED: 503,
  INTERNAL: 500,
}

export const PROBLEM_TYPE = 'application/problem+json; charset=utf-8'

/** A problem of RFC 9457, with the facts of the error as extension members. */
export interface Problem {
  type: string
  title: string
  status: number
  detail: string
  code: ErrorCode
  errors?: FieldError[]
  requestId?: string
  [fact: string]: unknown
}

export interface RenderedProblem {
  status: number
  headers: Record<string, string>
  body: string
}

/** The problem that the caller sees. An error that is not meant for callers becomes INTERNAL, without its message. */
export function toProblem(error: CatracaError, requestId: string, status = HTTP_STATUS[error.code]): Problem {
  const internal = error.code === 'INTERNAL'
  return {
    ...error.facts,
    type: TYPES[error.code] ?? `urn:catraca:error:${error.code}`,
    title: TITLES[error.code],
    status,
    detail: internal ? TITLES.INTERNAL : error.message,
    code: error.code,
    ...(error.errors === undefined ? {} : { errors: error.errors }),
    requestId,
  }
}

/** Problem types that are registered elsewhere. */
const TYPES: Partial<Record<ErrorCode, string>> = {
  QUOTA_EXCEEDED: 'https://iana.org/assignments/http-problem-types#quota-exceeded',
}

const TITLES = Object.fromEntries(
  Object.entries(ERROR_CODES).map(([code, text]) => [code, text.replaceAll('`', '')]),
) as Record<ErrorCode, string>

/** `otherStatus`: the status for callers of an adapter, where it differs from that of the server. */
export function renderProblem(error: unknown, requestId: string, otherStatus?: number): RenderedProblem {
  const { cause, status = otherStatus } = toCatracaError(error)
  const problem = toProblem(cause, requestId, status)
  const headers: Record<string, string> = { 'content-type': PROBLEM_TYPE, 'cache-control': 'no-store' }
  if (problem.status === 401) headers['www-authenticate'] = 'Bearer'
  if (problem.status === 503) headers['retry-after'] = '1'
  if (cause.code === 'IDEMPOTENCY_IN_PROGRESS') headers['retry-after'] = wholeSeconds(problem.retryAfterMs)
  if (cause.code === 'SHUTTING_DOWN') headers.connection = 'close'
  return { status: problem.status, headers, body: JSON.stringify(problem) }
}

/** At least one second: a client that retries at once only adds load. */
function wholeSeconds(ms: unknown): string {
  return String(Math.max(1, Math.ceil(Number(ms ?? 0) / 1000)))
}

/** Errors of Fastify, with the codes and messages of Catraca. */
const FASTIFY_CODES: Record<string, { code: ErrorCode; detail: string }> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: {
    code: 'UNSUPPORTED_MEDIA_TYPE',
    detail: 'the body must be application/json',
  },
}

export function toCatracaError(error: unknown): { cause: CatracaError; status?: number } {
  if (error instanceof CatracaError) return { cause: error }
  const { code = '', statusCode, message = '' } = (error ?? {}) as Partial<FastifyErrorFacts>
  const known = FASTIFY_CODES[code]
  if (known !== undefined) return { cause: new CatracaError(known.code, known.detail, { cause: error }) }
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    const errors = [{ path: 'request', message }]
    return { cause: new CatracaError('INVALID_INPUT', message, { cause: error, errors }), status: statusCode }
  }
  return { cause: new CatracaError('INTERNAL', TITLES.INTERNAL, { cause: error }) }
}

interface FastifyErrorFacts {
  code: string
  statusCode: number
  message: string
}

/** A fault of the server, not of the caller. */
export function isServerFault(status: number): boolean {
  return status >= 500
}
