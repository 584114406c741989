import type { MetricFacts, MetricGroup } from './group.js'

const requests: MetricFacts = {
  name: 'catraca_http_requests_total',
  type: 'counter',
  help: 'Requests that were answered, by pattern of their route.',
  labels: ['method', 'route', 'status'],
}
const duration: MetricFacts = {
  name: 'catraca_http_request_duration_seconds',
  type: 'histogram',
  help: 'Time from the request to its answer.',
  labels: ['route'],
  buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
}

export const httpMetrics: MetricGroup = {
  title: 'HTTP',
  metrics: [requests, duration],
  serverOnly: true,
  register(registry, { http }) {
    if (http === undefined) return
    registry.read(requests, () =>
      Array.from(http.requests(), ({ method, route, status, count }) => [count, { method, route, status }]),
    )
    registry.readDurations(duration, () =>
      Array.from(http.routes(), ([route, durations]) => [durations, { route }]),
    )
  },
}
