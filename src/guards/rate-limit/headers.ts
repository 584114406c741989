import type { AcquireAnswer } from './types.js'

/**
 * Response headers as in the IETF draft: `RateLimit-Policy` with quota and window, `RateLimit` with the remaining
 * amount and the seconds until the limit is full, and for a denial `Retry-After` in whole seconds.
 */
export function rateLimitHeaders(answer: AcquireAnswer): Record<string, string> {
  const headers: Record<string, string> = {}
  const names = Object.keys(answer.limits)
  if (names.length > 0) {
    headers['ratelimit-policy'] = names.map((name) => policyItem(answer, name)).join(', ')
    headers.ratelimit = names.map((name) => limitItem(answer, name)).join(', ')
  }
  if (!answer.allowed) headers['retry-after'] = String(retryAfterSeconds(answer.retryAfterMs))
  return headers
}

export function retryAfterSeconds(retryAfterMs: number): number {
  return Math.max(1, Math.ceil(retryAfterMs / 1000))
}

function policyItem({ limits, policies }: AcquireAnswer, name: string): string {
  const { windowSeconds, isConcurrency = false } = policies?.[name] ?? {}
  const window = windowSeconds === undefined ? '' : `;w=${windowSeconds}`
  return `"${name}";q=${limits[name]!.limit}${window}${isConcurrency ? ';qu="concurrent-requests"' : ''}`
}

function limitItem({ limits }: AcquireAnswer, name: string): string {
  const { remaining, resetMs } = limits[name]!
  return `"${name}";r=${remaining};t=${Math.ceil(resetMs / 1000)}`
}
