import type { CatracaClient } from '../../client/index.js'

/** The sources of answers, as the server counts them. */
const SOURCES = ['filtered', 'overlay', 'trusted', 'verified', 'confirmed', 'store'] as const
type AnswerSource = (typeof SOURCES)[number]
type AnswerCounts = Record<AnswerSource, number>

export interface AnswerShares {
  counts: AnswerCounts
  total: number
  /** Shares of the total; `verified` is what the source design calls answered by cache. */
  shares: AnswerCounts
}

interface Health {
  cache?: { verificationCacheHits?: number; checks?: Partial<AnswerCounts> }
}

/** Undefined when the server does not report it: an older version, or a key without the scope `read`. */
export async function readAnswers(client: CatracaClient): Promise<AnswerCounts | undefined> {
  const health = (await client.health().catch(() => undefined)) as Health | undefined
  const checks = health?.cache?.checks
  if (checks === undefined) return undefined
  const counts = Object.fromEntries(SOURCES.map((source) => [source, checks[source] ?? 0])) as AnswerCounts
  return { ...counts, verified: health?.cache?.verificationCacheHits ?? 0 }
}

export function answersBetween(before: AnswerCounts, after: AnswerCounts): AnswerShares | undefined {
  const of = (value: (source: AnswerSource) => number) =>
    Object.fromEntries(SOURCES.map((source) => [source, value(source)])) as AnswerCounts
  const counts = of((source) => after[source] - before[source])
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
  // The counters of a restarted server, or of another process at the same address, are not comparable.
  if (total <= 0 || Object.values(counts).some((count) => count < 0)) return undefined
  return { counts, total, shares: of((source) => counts[source] / total) }
}
