import type { MetricFacts, MetricGroup } from './group.js'
import { byName } from './readings.js'

const outcomes: MetricFacts = {
  name: 'catraca_code_outcomes_total',
  type: 'counter',
  help: 'What became of one-time codes: issued, refused (asked for too often, or for a locked address), valid, invalid, locked (guessed too often).',
  labels: ['channel', 'outcome'],
}

export const codeMetrics: MetricGroup = {
  title: 'One-time codes',
  metrics: [outcomes],
  register(registry, { catraca: { codes } }) {
    registry.read(outcomes, () => byName(codes.outcomes.entries(), 'channel'))
  },
}
