import { CatracaError } from '../../core/errors.js'
import type { IssueDenied } from './types.js'

/** Turns a denial into an error, with the same fields as over HTTP. */
export function issueDenied(denied: IssueDenied): CatracaError {
  const { violated, retryAfterMs } = denied
  return new CatracaError('QUOTA_EXCEEDED', issueDenialText(denied), {
    facts: { 'violated-policies': violated, retryAfterMs },
  })
}

export function issueDenialText({ violated, retryAfterMs }: IssueDenied): string {
  const why = violated.includes('lock')
    ? 'the address is locked after too many wrong codes'
    : 'codes were requested too often'
  return `${why}; try again in ${retryAfterMs} ms`
}
