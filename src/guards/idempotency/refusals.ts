import { CatracaError, isCatracaError } from '../../core/errors.js'
import type { EndingPolicy, Refused } from './types.js'

/** Turns a refusal into an error. */
export function refusalError({ reason, retryAfterMs }: Refused): CatracaError {
  switch (reason) {
    case 'in-progress':
      return new CatracaError('IDEMPOTENCY_IN_PROGRESS', 'a request with this key is in progress', {
        facts: { retryAfterMs },
      })
    case 'other-request':
      return new CatracaError('IDEMPOTENCY_KEY_REUSED', 'this key was used for another request')
    case 'unknown':
      return new CatracaError(
        'IDEMPOTENCY_OUTCOME_UNKNOWN',
        'a request with this key was started and never completed; it is not executed again automatically',
      )
  }
}

const marked = new WeakSet<Error>()

/** Marks an error that was thrown before anything was executed, so that nothing is recorded. */
export function notExecuted<E extends Error>(error: E): E {
  marked.add(error)
  return error
}

/** Errors that guards throw before any work is executed. */
const REFUSALS = ['QUOTA_EXCEEDED', 'ENGINE_UNAVAILABLE', 'SHUTTING_DOWN'] as const

/** A value completes the record. An error fails it and allows a retry, unless nothing was executed. */
export const defaultEnding: Required<EndingPolicy> = {
  ofValue: () => 'complete',
  ofError(error) {
    const isRefusal = REFUSALS.some((code) => isCatracaError(error, code))
    return isRefusal || (error instanceof Error && marked.has(error)) ? 'release' : 'fail'
  },
}
