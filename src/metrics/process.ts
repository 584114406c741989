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
  help: 'Whether /ready reports ready: 1 or 0.',
  together: 'min',
}
/** Names and meanings are those of prom-client, so that dashboards made for it work. */
const FIGURES = {
  cpuUserSeconds: counter('process_cpu_user_seconds_total', 'Processor time in user mode.'),
  cpuSystemSeconds: counter('process_cpu_system_seconds_total', 'Processor time in system mode.'),
  cpuSeconds: counter('process_cpu_seconds_total', 'Processor time in user and system mode.'),
  startSeconds: gauge(
    'process_start_time_seconds',
    'Start time of the process, in seconds since the epoch.',
    'min',
  ),
  residentBytes: gauge('process_resident_memory_bytes', 'Resident memory.'),
  openFiles: gauge(
    'process_open_fds',
    'Open file descriptors, of the worker that has the most; only on Linux.',
    'max',
  ),
  maxFiles: gauge('process_max_fds', 'File descriptor limit of a process; only on Linux.', 'min'),
  heapTotalBytes: gauge('nodejs_heap_size_total_bytes', 'Heap of V8.'),
  heapUsedBytes: gauge('nodejs_heap_size_used_bytes', 'Used V8 heap.'),
  externalBytes: gauge('nodejs_external_memory_bytes', 'Memory outside the heap.'),
} as const
const heapSpaceUsed: MetricFacts = {
  ...gauge('nodejs_heap_space_size_used_bytes', 'Used V8 heap, by space.'),
  labels: ['space'],
}
const LAG = {
  min: gauge('nodejs_eventloop_lag_min_seconds', 'Minimum event loop lag since the last scrape.', 'min'),
  max: gauge('nodejs_eventloop_lag_max_seconds', 'Maximum event loop lag since the last scrape.', 'max'),
  mean: gauge('nodejs_eventloop_lag_mean_seconds', 'Mean event loop lag since the last scrape.', 'average'),
  p50: gauge(
    'nodejs_eventloop_lag_p50_seconds',
    'Event loop lag since the last scrape, 50th percentile.',
    'average',
  ),
  p90: gauge(
    'nodejs_eventloop_lag_p90_seconds',
    'Event loop lag since the last scrape, 90th percentile.',
    'average',
  ),
  p99: gauge(
    'nodejs_eventloop_lag_p99_seconds',
    'Event loop lag since the last scrape, 99th percentile.',
    'max',
  ),
} as const
const lag = gauge('nodejs_eventloop_lag_seconds', 'Event loop lag, mean since the last scrape.', 'average')

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
    // Metrics are read in this order, in one turn of the event loop. The first read starts a new interval; the others
    // show the interval that ended.
    let seen = delay.take()
    registry.read(lag, () => {
      seen = delay.take()
      return [[seen.mean]]
    })
    for (const name of Object.keys(LAG) as (keyof typeof LAG)[])
      registry.read(LAG[name], () => [[seen[name]]])
  },
}
