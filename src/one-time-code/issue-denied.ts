import { CatracaError } from '../errors.js'
import type { IssueDenied } from './types.js'

/** For those who would rather be told of a denial by an error: the same words as over HTTP. */
export function issueDenied({ violated, retryAfterMs }: IssueDenied): CatracaError {
  return new CatracaError(
    'QUOTA_EXCEEDED',
    `a code was asked for too often; try again in ${retryAfterMs} ms`,
    {
      facts: { 'violated-policies': violated, retryAfterMs },
    },
  )
}
