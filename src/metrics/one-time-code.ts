import type { MetricFacts, MetricGroup } from './group.js'
import { byName } from './readings.js'

const outcomes: MetricFacts = {
  name: 'catraca_code_outcomes_total',
  type: 'counter',
  help: 'Calls for one-time codes: issued, refused (requested too often, or the address is locked), valid, invalid, locked (too many wrong attempts).',
  labels: ['channel', 'outcome'],
}

export const codeMetrics: MetricGroup = {
  title: 'One-time codes',
  guard: 'codes',
  metrics: [outcomes],
  register(registry, { catraca: { codes } }) {
    registry.read(outcomes, () => byName(codes.outcomes.entries(), 'channel'))
  },
}
