import { version } from '../core/version.js'
import type { MetricFacts, MetricGroup } from './group.js'
import { LoopDelay } from './loop-delay.js'
import { heapSpaces, processFigures } from './process-figures.js'
import { byOutcome } from './readings.js'

const build: MetricFacts = {
  name: 'catraca_build_info',
  type: 'gauge',
  help: 'Always 1: the version of the product and of Node.',
  labels: ['version', 'node'],
  together: 'first',
}
const ready: MetricFacts = {
  name: 'catraca_ready',
  type: 'gauge',
  help: 'Whether it should get requests, as /ready says: 1 or 0.',
  together: 'min',
}
/** Names and meanings as prom-client has them, so that dashboards made for it work. */
const FIGURES = {
  cpuUserSeconds: counter('process_cpu_user_seconds_total', 'Processor time in user mode.'),
  cpuSystemSeconds: counter('process_cpu_system_seconds_total', 'Processor time in the system.'),
  cpuSeconds: counter('process_cpu_seconds_total', 'Processor time, both together.'),
  startSeconds: gauge('process_start_time_seconds', 'Start of the process since the epoch.', 'min'),
  residentBytes: gauge('process_resident_memory_bytes', 'Resident memory.'),
  openFiles: gauge(
    'process_open_fds',
    'Open file descriptors, of the worker with most; only on Linux.',
    'max',
  ),
  maxFiles: gauge('process_max_fds', 'How many file descriptors a process may open; only on Linux.', 'min'),
  heapTotalBytes: gauge('nodejs_heap_size_total_bytes', 'Heap of V8.'),
  heapUsedBytes: gauge('nodejs_heap_size_used_bytes', 'Used heap of V8.'),
  externalBytes: gauge('nodejs_external_memory_bytes', 'Memory outside the heap.'),
} as const
const heapSpaceUsed: MetricFacts = {
  ...gauge('nodejs_heap_space_size_used_bytes', 'Used heap of V8, by space.'),
  labels: ['space'],
}
const LAG = {
  min: gauge('nodejs_eventloop_lag_min_seconds', 'The least of it.', 'min'),
  max: gauge('nodejs_eventloop_lag_max_seconds', 'The most of it.', 'max'),
  mean: gauge('nodejs_eventloop_lag_mean_seconds', 'The mean of it.', 'average'),
  p50: gauge('nodejs_eventloop_lag_p50_seconds', 'Half of the looks saw less.', 'average'),
  p90: gauge('nodejs_eventloop_lag_p90_seconds', 'Nine of ten looks saw less.', 'average'),
  p99: gauge('nodejs_eventloop_lag_p99_seconds', 'All but one in a hundred looks saw less.', 'max'),
} as const
const lag = gauge(
  'nodejs_eventloop_lag_seconds',
  'How late timers are, in the mean since the last scrape; what follows is of the same time.',
  'average',
)

function gauge(name: string, help: string, together: MetricFacts['together'] = 'sum'): MetricFacts {
  return { name, type: 'gauge', help, together }
}

function counter(name: string, help: string): MetricFacts {
  return { name, type: 'counter', help }
}

export const processMetrics: MetricGroup = {
  title: 'Process',
  metrics: [build, ready, ...Object.values(FIGURES), heapSpaceUsed, lag, ...Object.values(LAG)],
  serverOnly: true,
  register(registry, { ready: isReady, process: withProcess }) {
    registry.read(build, () => [[1, { version, node: process.version }]])
    if (isReady !== undefined) registry.read(ready, () => [[isReady() ? 1 : 0]])
    if (!withProcess) return
    for (const name of Object.keys(FIGURES) as (keyof typeof FIGURES)[]) {
      registry.read(FIGURES[name], () => {
        const value = processFigures()[name]
        return value === undefined ? [] : [[value]]
      })
    }
    registry.read(heapSpaceUsed, () => byOutcome(heapSpaces(), 'space'))
    const delay = new LoopDelay()
    // Metrics are read in this order, all in one turn: the first one begins a new time, the others tell of the old.
    let seen = delay.take()
    registry.read(lag, () => {
      seen = delay.take()
      return [[seen.mean]]
    })
    for (const name of Object.keys(LAG) as (keyof typeof LAG)[])
      registry.read(LAG[name], () => [[seen[name]]])
  },
}
