import { isoTime } from '../../core/clock.js'
import { invalid } from '../../core/errors.js'
import type { UsageQuery } from './api.js'
import type { LimitUse, UsageHour } from './port.js'
import type { UsageEntry, UsageStep } from './types.js'

const DEFAULT_USAGE_MS: Record<UsageStep, number> = { hour: 24 * 3_600_000, day: 31 * 24 * 3_600_000 }
const ISO_TIME = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2}))?$/

/** Validates a query of usage and adds the defaults. */
export function parseUsageQuery(
  query: UsageQuery,
  now: number,
  retentionMs: number,
): { step: UsageStep; from: number; to: number } {
  const { step = 'hour' } = query
  if (step !== 'hour' && step !== 'day') throw invalid('step', 'must be one of hour, day')
  const to = timeOf('to', query.to) ?? now + 1
  const from = timeOf('from', query.from) ?? to - Math.min(DEFAULT_USAGE_MS[step], retentionMs)
  if (to - from > retentionMs) throw invalid('from', 'is longer ago than usage is kept')
  return { step, from, to }
}

export function entriesOf(
  steps: readonly UsageHour[],
  usesOf: (step: UsageHour) => readonly LimitUse[],
): UsageEntry[] {
  return steps.flatMap((step) =>
    usesOf(step).map(({ limit, admitted, denied }) => {
      return { limit, start: isoTime(step.start), admitted, denied }
    }),
  )
}

function timeOf(path: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined
  const ms = ISO_TIME.test(value) ? Date.parse(value) : Number.NaN
  if (Number.isNaN(ms)) throw invalid(path, 'must be a time in ISO 8601, such as 2030-01-31T12:00:00Z')
  return ms
}
