import { collectDefaultMetrics } from 'prom-client'
import { version } from '../version.js'
import type { MetricFacts, MetricGroup } from './group.js'

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

/** Those that prom-client collects; their values and the words in the scrape are its own. */
const OF_PROM_CLIENT: readonly MetricFacts[] = [
  gauge('process_start_time_seconds', 'Start of the process since the epoch.', 'omit'),
  counter('process_cpu_user_seconds_total', 'Processor time in user mode.'),
  counter('process_cpu_system_seconds_total', 'Processor time in the system.'),
  counter('process_cpu_seconds_total', 'Processor time, both together.'),
  gauge('process_resident_memory_bytes', 'Resident memory.'),
  gauge('process_virtual_memory_bytes', 'Virtual memory.'),
  gauge('process_heap_bytes', 'Data segment of the process.'),
  gauge('process_open_fds', 'Open file descriptors.'),
  gauge('process_max_fds', 'How many file descriptors may be open.'),
  ...['', '_min', '_max', '_mean', '_stddev', '_p50', '_p90', '_p99'].map((suffix) =>
    gauge(`nodejs_eventloop_lag${suffix}_seconds`, 'How late the event loop is.', 'average'),
  ),
  gauge('nodejs_active_resources', 'What keeps the event loop alive, by type.', 'sum', ['type']),
  gauge('nodejs_active_resources_total', 'The same, all types together.'),
  gauge('nodejs_active_handles', 'Handles of libuv, by type.', 'sum', ['type']),
  gauge('nodejs_active_handles_total', 'The same, all types together.'),
  gauge('nodejs_active_requests', 'Requests of libuv, by type.', 'sum', ['type']),
  gauge('nodejs_active_requests_total', 'The same, all types together.'),
  gauge('nodejs_heap_size_total_bytes', 'Heap of V8.'),
  gauge('nodejs_heap_size_used_bytes', 'Used heap of V8.'),
  gauge('nodejs_external_memory_bytes', 'Memory outside the heap.'),
  gauge('nodejs_heap_space_size_total_bytes', 'Heap of V8, by space.', 'sum', ['space']),
  gauge('nodejs_heap_space_size_used_bytes', 'Used heap of V8, by space.', 'sum', ['space']),
  gauge('nodejs_heap_space_size_available_bytes', 'Free heap of V8, by space.', 'sum', ['space']),
  gauge('nodejs_version_info', 'Always 1: the version of Node.', 'first', [
    'version',
    'major',
    'minor',
    'patch',
  ]),
  {
    name: 'nodejs_gc_duration_seconds',
    type: 'histogram',
    help: 'Garbage collections, by kind.',
    labels: ['kind'],
  },
]

function gauge(
  name: string,
  help: string,
  together: MetricFacts['together'] = 'sum',
  labels?: string[],
): MetricFacts {
  return { name, type: 'gauge', help, together, ...(labels && { labels }) }
}

function counter(name: string, help: string): MetricFacts {
  return { name, type: 'counter', help }
}

export const processMetrics: MetricGroup = {
  title: 'Process',
  metrics: [build, ready, ...OF_PROM_CLIENT],
  serverOnly: true,
  register(registry, { ready: isReady, process: withProcess }) {
    registry.read(build, () => [[1, { version, node: process.version }]])
    if (isReady !== undefined) registry.read(ready, () => [[isReady() ? 1 : 0]])
    if (withProcess) collectDefaultMetrics({ register: registry })
  },
}
