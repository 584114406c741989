import { CatracaError, type FieldError } from '../../core/errors.js'

/** Callers choose how many mistakes they make: so many are named. */
const MAX_ERRORS = 32

/** INVALID_INPUT with the fields that are wrong, the first of them in words. */
export function refusal(errors: readonly FieldError[]): CatracaError {
  const [{ path, message }] = errors as [FieldError]
  return new CatracaError('INVALID_INPUT', `${path} ${message}`, { errors: errors.slice(0, MAX_ERRORS) })
}
