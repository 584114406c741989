import type { MetricFacts, MetricGroup } from './group.js'
import { byOutcome } from './readings.js'

const outcomes: MetricFacts = {
  name: 'catraca_idempotency_outcomes_total',
  type: 'counter',
  help: 'Results of claims (claimed; reclaimed: after an attempt that failed or expired; replayed; in_progress; mismatch; unknown; degraded) and ends of claims (completed, failed, lost).',
  labels: ['outcome'],
}

export const idempotencyMetrics: MetricGroup = {
  title: 'Idempotency',
  guard: 'idempotency',
  metrics: [outcomes],
  register(registry, { catraca: { idempotency } }) {
    registry.read(outcomes, () => byOutcome({ ...idempotency.stats() }))
  },
}
