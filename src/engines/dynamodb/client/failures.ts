import { CatracaError } from '../../../core/errors.js'

/** The used fields of SDK errors. */
export interface SdkFailure {
  name: string
  message: string
  code?: string
  $metadata?: { httpStatusCode?: number; attempts?: number }
}

const THROTTLING = new Set([
  'ProvisionedThroughputExceededException',
  'ThrottlingException',
  'RequestLimitExceeded',
  'LimitExceededException',
  'TooManyRequestsException',
  'TransactionInProgressException',
])
/** The request was never sent: the name did not resolve, or the connection was not accepted. */
const NEVER_SENT = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'])
const BROKEN_OFF = new Set(['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ECONNABORTED', 'ERR_STREAM_PREMATURE_CLOSE'])
const TIMED_OUT = new Set(['TimeoutError', 'AbortError', 'RequestTimeout', 'RequestTimeoutException'])
const NOT_ALLOWED = new Set([
  'AccessDeniedException',
  'UnrecognizedClientException',
  'InvalidSignatureException',
  'MissingAuthenticationTokenException',
  'IncompleteSignatureException',
  'ExpiredTokenException',
  'CredentialsProviderError',
  'TokenProviderError',
])

const isThrottling = (error: SdkFailure): boolean =>
  THROTTLING.has(error.name) || error.$metadata?.httpStatusCode === 429

/** Whether DynamoDB may have executed this attempt. Throttling means that it did not. */
export function mayHaveBeenApplied(error: SdkFailure): boolean {
  return isBrokenOff(error) || isServerFault(error)
}

/** The engine or the network failed: another attempt may succeed. */
export function isTransient(error: SdkFailure): boolean {
  return isThrottling(error) || NEVER_SENT.has(error.code ?? '') || isBrokenOff(error) || isServerFault(error)
}

/** The network failed, and not DynamoDB: no connection, a lost one, or one without a response. */
export function isOfConnection(error: SdkFailure): boolean {
  const code = error.code ?? ''
  return NEVER_SENT.has(code) || BROKEN_OFF.has(code) || error.name === 'TimeoutError'
}

/**
 * Converts a failure to a CatracaError. `mayBeApplied`: an attempt of a write, not only the last, has an unknown
 * outcome.
 */
export function engineError(error: unknown, operation: string, mayBeApplied: boolean): CatracaError {
  if (error instanceof CatracaError) return error
  const failure = error as SdkFailure
  const message = `DynamoDB ${operation}: ${reasonOf(failure)}`
  if (mayBeApplied) return new CatracaError('UNKNOWN_OUTCOME', message, { cause: error })
  if (isTransient(failure)) return new CatracaError('ENGINE_UNAVAILABLE', message, { cause: error })
  if (failure.name === 'ResourceNotFoundException') {
    return new CatracaError('STORE_UNUSABLE', `${message}; "catraca dynamodb create" creates the tables`, {
      cause: error,
    })
  }
  if (NOT_ALLOWED.has(failure.name)) return new CatracaError('STORE_UNUSABLE', message, { cause: error })
  return new CatracaError('INTERNAL', message, { cause: error })
}

/**
 * Messages about connections contain addresses, and messages about credentials contain file names; both are for the
 * operator.
 */
function reasonOf(error: SdkFailure): string {
  if (error.name === 'AbortError') return 'no answer in time'
  const says = error.message === '' || error.message === 'UnknownError' ? '' : `: ${error.message}`
  return `${error.code ?? error.name}${says}`
}

const isBrokenOff = (error: SdkFailure): boolean =>
  BROKEN_OFF.has(error.code ?? '') || TIMED_OUT.has(error.name)

const isServerFault = (error: SdkFailure): boolean => (error.$metadata?.httpStatusCode ?? 0) >= 500
