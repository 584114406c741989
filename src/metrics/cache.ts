import { NamedCounts } from '../core/figures.js'
import type { SpaceStats } from '../guards/cache/types.js'
import type { MetricFacts, MetricGroup, MetricsSource } from './group.js'
import { byName } from './readings.js'
import type { Reading } from './registry.js'

const lookups: MetricFacts = {
  name: 'catraca_cache_lookups_total',
  type: 'counter',
  help: 'Lookups by the tier that answered: first_tier, second_tier, miss. Counted in addition: stale (an expired value answered) and negative (a cached absence answered).',
  labels: ['space', 'outcome'],
}
const loads: MetricFacts = {
  name: 'catraca_cache_loads_total',
  type: 'counter',
  help: 'Loads from the source: loaded or failed.',
  labels: ['space', 'outcome'],
}
const entries: MetricFacts = {
  name: 'catraca_cache_entries',
  type: 'gauge',
  help: 'Entries of the first tier, over all workers.',
  labels: ['space'],
}
const degraded: MetricFacts = {
  name: 'catraca_cache_degraded_total',
  type: 'counter',
  help: 'Lookups that were answered while the second tier was down.',
  labels: ['space'],
}

export const cacheMetrics: MetricGroup = {
  title: 'Cache',
  guard: 'cache',
  metrics: [lookups, loads, entries, degraded],
  register(registry, source) {
    const read = <O extends string>(outcomes: readonly O[], of: (stats: SpaceStats) => Record<O, number>) =>
      summed(source, outcomes, of)
    registry.read(lookups, () =>
      byName(
        read(['first_tier', 'second_tier', 'miss', 'stale', 'negative'], (stats) => ({
          first_tier: stats.firstTierHits,
          second_tier: stats.secondTierHits,
          miss: stats.misses,
          stale: stats.staleAnswers,
          negative: stats.negatives,
        })),
        'space',
      ),
    )
    registry.read(loads, () =>
      byName(
        read(['loaded', 'failed'], (stats) => ({ loaded: stats.loaded, failed: stats.loadFailures })),
        'space',
      ),
    )
    const single = (of: (stats: SpaceStats) => number) => (): Reading[] =>
      Array.from(
        read(['value'], (stats) => ({ value: of(stats) })),
        ([space, { value }]) => [value, { space }],
      )
    registry.read(
      entries,
      single(({ firstTier }) => firstTier.entries),
    )
    registry.read(
      degraded,
      single((stats) => stats.degraded),
    )
  },
}

/** Spaces keep their order, so those beyond the limit are always the same ones. */
function summed<O extends string>(
  { catraca }: MetricsSource,
  outcomes: readonly O[],
  of: (stats: SpaceStats) => Record<O, number>,
): IterableIterator<[string, Record<O, number>]> {
  const counts = new NamedCounts(outcomes, catraca.maxSeries)
  for (const [space, stats] of Object.entries(catraca.cache.figures())) {
    const sums = counts.of(space)
    const values = of(stats)
    for (const outcome of outcomes) sums[outcome] += values[outcome]
  }
  return counts.entries()
}
