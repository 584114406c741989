import { CatracaError, isCatracaError } from '../../core/errors.js'
import type { EndingPolicy, Refused } from './types.js'

/** A refusal as an error, for those who have to throw one. */
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

/** Marks an error that was thrown before anything was done, so that nothing is recorded. */
export function notExecuted<E extends Error>(error: E): E {
  marked.add(error)
  return error
}

/** What guards say before they let anything be done. */
const REFUSALS = ['QUOTA_EXCEEDED', 'ENGINE_UNAVAILABLE', 'SHUTTING_DOWN'] as const

/** Values are answers. Errors are failures that may be tried again, unless nothing was done at all. */
export const defaultEnding: Required<EndingPolicy> = {
  ofValue: () => 'complete',
  ofError(error) {
    const isRefusal = REFUSALS.some((code) => isCatracaError(error, code))
    return isRefusal || (error instanceof Error && marked.has(error)) ? 'release' : 'fail'
  },
}
