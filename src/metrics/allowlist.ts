import type { MetricFacts, MetricGroup } from './group.js'
import { byName, byOutcome, happened } from './readings.js'

const checks: MetricFacts = {
  name: 'catraca_checks_total',
  type: 'counter',
  help: 'Results of checks, one for each customer and list.',
  labels: ['list', 'reason'],
}
const answers: MetricFacts = {
  name: 'catraca_check_answers_total',
  type: 'counter',
  help: 'How memberships were answered. From memory: filtered (not in the filter, or removed since the snapshot), overlay (added since the snapshot), trusted (filter of a trusted list), verified (verification cache). From the store: confirmed (the filter said maybe), store (list not in memory or not fresh, or a strong check).',
  labels: ['source'],
}
const duration: MetricFacts = {
  name: 'catraca_check_duration_seconds',
  type: 'histogram',
  help: 'Duration of a check, called through the library or over HTTP.',
  buckets: [
    0.000005, 0.00001, 0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05,
    0.1, 0.25, 0.5, 1, 2.5,
  ],
}
const degraded: MetricFacts = {
  name: 'catraca_checks_degraded_total',
  type: 'counter',
  help: 'Checks that neither fresh memory nor the store could answer: allowed without knowing, answered as memory last knew (last_known), or blocked with an error.',
  labels: ['answer'],
}
const counter = (name: string, help: string): MetricFacts => ({ name, type: 'counter', help })
const listHits = counter('catraca_list_cache_hits_total', 'Reads of list records that memory answered.')
const listMisses = counter('catraca_list_cache_misses_total', 'Reads of list records that went to the store.')
const verifiedHits = counter(
  'catraca_verification_cache_hits_total',
  'Confirmed memberships that were found in the verification cache.',
)
const verifiedMisses = counter(
  'catraca_verification_cache_misses_total',
  'Memberships that were not in the verification cache and that the store had to confirm.',
)
const verifiedEntries: MetricFacts = {
  name: 'catraca_verification_cache_entries',
  type: 'gauge',
  help: 'Entries of the verification cache.',
}

export const allowlistMetrics: MetricGroup = {
  title: 'Allowlists',
  guard: 'allowlists',
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
