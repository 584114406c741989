import { rateLimitHeaders } from '../../../guards/rate-limit/headers.js'
import type { AcquireAnswer, LimitStatus } from '../../../guards/rate-limit/types.js'
import { type DescriptorStatus, type HeaderValue, RATE_LIMIT_CODE, UNIT_SECONDS } from '../messages.js'

const MOST = 0xffff_ffff

/** The status of a descriptor: that of the limit that denies, or of the one with the least left. */
export function statusOf(answer: AcquireAnswer): DescriptorStatus {
  const code = answer.allowed ? RATE_LIMIT_CODE.OK : RATE_LIMIT_CODE.OVER_LIMIT
  const [name, status] = decisive(answer) ?? []
  if (name === undefined || status === undefined) return { code }
  const unit = UNIT_SECONDS.indexOf(answer.policies?.[name]?.windowSeconds ?? Number.NaN)
  return {
    code,
    currentLimit: { name, requestsPerUnit: Math.min(status.limit, MOST), unit: Math.max(0, unit) },
    limitRemaining: Math.max(0, Math.min(status.remaining, MOST)),
    durationUntilReset: durationOf(status.resetMs),
  }
}

function decisive(answer: AcquireAnswer): [string, LimitStatus] | undefined {
  const { limits, parent } = answer
  if (!answer.allowed) {
    const denying = answer.violations[0]
    if (denying !== undefined) {
      const { limit, entity } = denying
      const of = parent?.entity === entity && parent.limits[limit] !== undefined ? parent.limits : limits
      const status = of[limit]
      if (status !== undefined) return [limit, status]
    }
  }
  let least: [string, LimitStatus] | undefined
  for (const name in limits) {
    const status = limits[name]!
    if (least === undefined || status.remaining < least[1].remaining) least = [name, status]
  }
  return least
}

function durationOf(ms: number): { seconds: number; nanos: number } {
  const whole = Math.ceil(ms)
  return { seconds: Math.floor(whole / 1000), nanos: (whole % 1000) * 1_000_000 }
}

/** The headers that the same answer has over HTTP, of the answer that denies or has the least left. */
export function headersOf(answers: readonly AcquireAnswer[]): HeaderValue[] {
  const denied = answers.filter(({ allowed }) => !allowed)
  const among = denied.length > 0 ? denied : answers
  let tightest: AcquireAnswer | undefined
  let least = Number.POSITIVE_INFINITY
  for (const answer of among) {
    const remaining = decisive(answer)?.[1].remaining
    if (remaining === undefined || remaining >= least) continue
    least = remaining
    tightest = answer
  }
  if (tightest === undefined) return []
  return Object.entries(rateLimitHeaders(tightest)).map(([key, value]) => ({ key, value }))
}
