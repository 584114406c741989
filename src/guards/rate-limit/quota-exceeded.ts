import { CatracaError } from '../../core/errors.js'
import type { Denied } from './types.js'

/** Turns a denial into an error, with the same fields as over HTTP. */
export function quotaExceeded({ violations, retryAfterMs, limits, degraded }: Denied): CatracaError {
  const names = [...new Set(violations.map(({ limit }) => limit))]
  return new CatracaError('QUOTA_EXCEEDED', `${names.join(', ')} used up; try again in ${retryAfterMs} ms`, {
    facts: { 'violated-policies': names, violations, retryAfterMs, limits, ...(degraded && { degraded }) },
  })
}
