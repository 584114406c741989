import type { AcquireAnswer, LimitPolicy } from './types.js'

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

/**
 * `X-RateLimit-*` as older limiters send them, for the limit with the least left. `reset` is the time, in epoch seconds,
 * at which that limit is full again.
 */
export function olderHeaders({ limits }: AcquireAnswer, nowMs: number): Record<string, string> {
  const [first, ...others] = Object.values(limits)
  if (first === undefined) return {}
  const tightest = others.reduce((least, one) => (one.remaining < least.remaining ? one : least), first)
  return {
    'x-ratelimit-limit': String(tightest.limit),
    'x-ratelimit-remaining': String(tightest.remaining),
    'x-ratelimit-reset': String(Math.ceil((nowMs + tightest.resetMs) / 1000)),
  }
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

/** One item of `RateLimit-Policy`, as it is written above. */
const POLICY_ITEM = /"([^"]+)";q=\d+(?:;w=(\d+))?(;qu="concurrent-requests")?/g

/** The facts that `RateLimit-Policy` holds, for clients of a server. */
export function policiesIn(header: string): Record<string, LimitPolicy> {
  const items = [...header.matchAll(POLICY_ITEM)].map(([, name, window, isConcurrency]) => [
    name!,
    {
      ...(window !== undefined && { windowSeconds: Number(window) }),
      isConcurrency: isConcurrency !== undefined,
    },
  ])
  return Object.fromEntries(items)
}
