import type { MetricFacts, MetricGroup } from './group.js'
import { byOutcome } from './readings.js'

const acquires: MetricFacts = {
  name: 'catraca_lock_acquires_total',
  type: 'counter',
  help: 'Results of acquires: acquired, held (another caller holds the lock, no waiting), timed_out (after waiting).',
  labels: ['outcome'],
}
const wait: MetricFacts = {
  name: 'catraca_lock_wait_seconds',
  type: 'histogram',
  help: 'Duration of acquires with a wait time, whether they got the lock or not.',
  buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
}
const lost: MetricFacts = {
  name: 'catraca_locks_lost_total',
  type: 'counter',
  help: 'Extensions and releases of locks that the caller no longer held.',
}

export const lockMetrics: MetricGroup = {
  title: 'Locks',
  guard: 'locks',
  metrics: [acquires, wait, lost],
  register(registry, { catraca: { locks } }) {
    registry.read(acquires, () => {
      const { held, timedOut } = locks.failures
      return byOutcome({ acquired: locks.stats().acquired, held, timed_out: timedOut })
    })
    registry.readDurations(wait, () => [[locks.waits]])
    registry.read(lost, () => [[locks.stats().lost]])
  },
}
