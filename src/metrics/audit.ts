import type { MetricFacts, MetricGroup } from './group.js'
import { byOutcome } from './readings.js'

const entries: MetricFacts = {
  name: 'catraca_audit_entries_total',
  type: 'counter',
  help: 'Changes that were recorded in the audit trail.',
  labels: ['action'],
}
const failures: MetricFacts = {
  name: 'catraca_audit_failures_total',
  type: 'counter',
  help: 'Changes that were made but could not be recorded.',
}

export const auditMetrics: MetricGroup = {
  title: 'Audit trail',
  guard: 'audit',
  metrics: [entries, failures],
  register(registry, { catraca: { audit } }) {
    registry.read(entries, () => byOutcome(audit.stats().entries, 'action'))
    registry.read(failures, () => [[audit.stats().failures]])
  },
}
