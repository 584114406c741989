import { CatracaError, type FieldError } from '../../core/errors.js'

/** Callers can make any number of mistakes, so the list of errors is bounded. */
const MAX_ERRORS = 32

/** INVALID_INPUT with all wrong fields. The message describes the first. */
export function refusal(errors: readonly FieldError[]): CatracaError {
  const [{ path, message }] = errors as [FieldError]
  return new CatracaError('INVALID_INPUT', `${path} ${message}`, { errors: errors.slice(0, MAX_ERRORS) })
}
