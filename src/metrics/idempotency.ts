import type { MetricFacts, MetricGroup } from './group.js'
import { byOutcome } from './readings.js'

const outcomes: MetricFacts = {
  name: 'catraca_idempotency_outcomes_total',
  type: 'counter',
  help: 'How requests began (claimed, reclaimed after an attempt that ended without an answer, replayed, in_progress, mismatch, unknown, degraded) and how claims ended (completed, failed, lost).',
  labels: ['outcome'],
}

export const idempotencyMetrics: MetricGroup = {
  title: 'Idempotency',
  metrics: [outcomes],
  register(registry, { catraca: { idempotency } }) {
    registry.read(outcomes, () => byOutcome({ ...idempotency.stats() }))
  },
}
