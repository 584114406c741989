import type { MetricFacts, MetricGroup } from './group.js'
import { byName } from './readings.js'

const decisions: MetricFacts = {
  name: 'catraca_limit_decisions_total',
  type: 'counter',
  help: 'Results of acquires: allowed, denied, shadow_denied (allowed, but a limit in shadow mode would have denied), degraded_allowed and degraded_blocked (the store did not answer), local_allowed and local_denied (the store did not answer, and this process decided by its share).',
  labels: ['resource', 'outcome'],
}

export const limitMetrics: MetricGroup = {
  title: 'Rate limits',
  guard: 'limits',
  metrics: [decisions],
  register(registry, { catraca: { limits } }) {
    registry.read(decisions, () => byName(limits.decisions.entries(), 'resource'))
  },
}
