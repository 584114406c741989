import type { MetricFacts, MetricGroup } from './group.js'
import { byOutcome } from './readings.js'

const gauge = (name: string, help: string, together: MetricFacts['together'] = 'sum'): MetricFacts => ({
  name,
  type: 'gauge',
  help,
  together,
})
const lists = gauge('catraca_index_lists', 'Lists that have an index in memory.', 'max')
const bytes = gauge('catraca_index_bytes', 'Memory of these indexes, over all workers.')
const overlay = gauge(
  'catraca_index_overlay_entries',
  'Customers that changed since the snapshots, held in memory.',
  'max',
)
const stale = gauge(
  'catraca_index_stale_lists',
  'Lists in memory that are behind the store: their checks read the store.',
  'max',
)
const lag = gauge(
  'catraca_index_feed_lag_seconds',
  'Time since the most outdated list in memory was last known to be up to date.',
  'max',
)
const lastBuild = gauge(
  'catraca_index_last_build_timestamp_seconds',
  'When the newest snapshot in memory was built; 0 when there is none.',
  'max',
)
const builds: MetricFacts = {
  name: 'catraca_index_builds_total',
  type: 'counter',
  help: 'Snapshot builds that this process requested: built or failed.',
  labels: ['outcome'],
}

export const membershipMetrics: MetricGroup = {
  title: 'Lists in memory',
  guard: 'allowlists',
  metrics: [lists, bytes, overlay, stale, lag, builds, lastBuild],
  register(registry, { catraca }) {
    const figures = () => catraca.indexFigures()
    registry.read(lists, () => [[figures().lists]])
    registry.read(bytes, () => [[figures().bytes]])
    registry.read(overlay, () => [[figures().overlayEntries]])
    registry.read(stale, () => [[figures().staleLists]])
    registry.read(lag, () => [[figures().feedLagMs / 1000]])
    registry.read(lastBuild, () => [[(figures().lastBuildAt ?? 0) / 1000]])
    registry.read(builds, () => byOutcome(figures().builds))
  },
}
