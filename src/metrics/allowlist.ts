import type { MetricFacts, MetricGroup } from './group.js'
import { byName, byOutcome, happened } from './readings.js'

const checks: MetricFacts = {
  name: 'catraca_checks_total',
  type: 'counter',
  help: 'Answers of checks, one for each customer and list.',
  labels: ['list', 'reason'],
}
const answers: MetricFacts = {
  name: 'catraca_check_answers_total',
  type: 'counter',
  help: 'Where memberships were looked up: filtered, overlay, trusted and verified in memory, confirmed and store in the store.',
  labels: ['source'],
}
const duration: MetricFacts = {
  name: 'catraca_check_duration_seconds',
  type: 'histogram',
  help: 'Time of a whole check, in the library and over HTTP.',
  buckets: [
    0.000005, 0.00001, 0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
    0.1, 0.25, 0.5, 1, 2.5,
  ],
}
const degraded: MetricFacts = {
  name: 'catraca_checks_degraded_total',
  type: 'counter',
  help: 'Checks that neither memory nor the store could tell: answers that allowed, and checks that were blocked with an error.',
  labels: ['answer'],
}
const counter = (name: string, help: string): MetricFacts => ({ name, type: 'counter', help })
const listHits = counter('catraca_list_cache_hits_total', 'List records that were found in memory.')
const listMisses = counter('catraca_list_cache_misses_total', 'List records that were read from the store.')
const verifiedHits = counter(
  'catraca_verification_cache_hits_total',
  'Confirmed answers that were found in memory.',
)
const verifiedMisses = counter(
  'catraca_verification_cache_misses_total',
  'Answers that had to be confirmed by the store.',
)
const verifiedEntries: MetricFacts = {
  name: 'catraca_verification_cache_entries',
  type: 'gauge',
  help: 'Confirmed answers that are kept in memory.',
}

export const allowlistMetrics: MetricGroup = {
  title: 'Allowlists',
  metrics: [
    checks,
    answers,
    duration,
    degraded,
    listHits,
    listMisses,
    verifiedHits,
    verifiedMisses,
    verifiedEntries,
  ],
  register(registry, { catraca }) {
    const { figures } = catraca.allowlists
    if (figures !== undefined) {
      registry.read(checks, () => happened(byName(figures.reasons.entries(), 'list', 'reason')))
      registry.readDurations(duration, () => [[figures.durations]])
      registry.read(degraded, () => byOutcome(figures.degraded, 'answer'))
    }
    registry.read(answers, () => {
      const { checks, verificationCacheHits: verified } = catraca.stats()
      return byOutcome({ ...checks, verified }, 'source')
    })
    registry.read(listHits, () => [[catraca.stats().metaCacheHits]])
    registry.read(listMisses, () => [[catraca.stats().metaCacheMisses]])
    registry.read(verifiedHits, () => [[catraca.stats().verificationCacheHits]])
    registry.read(verifiedMisses, () => [[catraca.stats().verificationCacheMisses]])
    registry.read(verifiedEntries, () => [[catraca.stats().verificationCacheSize]])
  },
}
