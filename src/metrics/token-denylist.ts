import type { MetricFacts, MetricGroup } from './group.js'
import { byOutcome } from './readings.js'

const checks: MetricFacts = {
  name: 'catraca_token_checks_total',
  type: 'counter',
  help: 'Token checks: revoked, passed, or degraded (passed because the store did not answer).',
  labels: ['outcome'],
}
const entries: MetricFacts = {
  name: 'catraca_token_denylist_entries',
  type: 'gauge',
  help: 'Revoked tokens and subjects in memory.',
  together: 'max',
}
const lag: MetricFacts = {
  name: 'catraca_token_denylist_lag_seconds',
  type: 'gauge',
  help: 'Time since memory was last known to hold all revocations; 0 before the first check.',
  together: 'max',
}

export const tokenMetrics: MetricGroup = {
  title: 'Token denylist',
  guard: 'tokens',
  metrics: [checks, entries, lag],
  register(registry, { catraca: { tokens } }) {
    registry.read(checks, () => {
      const { fromMemory, fromStore, degraded, revoked } = tokens.stats()
      return byOutcome({ revoked, passed: fromMemory + fromStore - revoked, degraded })
    })
    registry.read(entries, () => {
      const { tokens: single, subjects } = tokens.stats()
      return [[single + subjects]]
    })
    registry.read(lag, () => [[tokens.stats().lagMs / 1000]])
  },
}
