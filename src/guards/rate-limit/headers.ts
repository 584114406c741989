import type { AcquireAnswer } from './types.js'

/**
 * What an answer says in headers, as the IETF draft has it: `RateLimit-Policy` with quota and window, `RateLimit` with
 * what remains and the seconds until all is there again, and of a denial `Retry-After` in whole seconds.
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
