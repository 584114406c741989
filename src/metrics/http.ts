import type { MetricFacts, MetricGroup } from './group.js'

const requests: MetricFacts = {
  name: 'catraca_http_requests_total',
  type: 'counter',
  help: 'Answered requests, by route pattern, method and status.',
  labels: ['method', 'route', 'status'],
}
const duration: MetricFacts = {
  name: 'catraca_http_request_duration_seconds',
  type: 'histogram',
  help: 'Time from a request to its response.',
  labels: ['route'],
  buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
}

const connections: MetricFacts = {
  name: 'catraca_http_connections',
  type: 'gauge',
  help: 'Open connections.',
}
const connectionLimit: MetricFacts = {
  name: 'catraca_http_connections_limit',
  type: 'gauge',
  help: 'Limit of open connections: `server.maxConnections`, or what the file descriptor limit allows.',
}
const connectionsRefused: MetricFacts = {
  name: 'catraca_http_connections_refused_total',
  type: 'counter',
  help: 'Connections that were closed at once because the limit was reached.',
}

export const httpMetrics: MetricGroup = {
  title: 'HTTP',
  metrics: [requests, duration, connections, connectionLimit, connectionsRefused],
  serverOnly: true,
  register(registry, { http, connections: taken }) {
    if (taken !== undefined) {
      registry.read(connections, () => [[taken().count]])
      registry.read(connectionLimit, () => [[taken().limit]])
      registry.read(connectionsRefused, () => [[taken().refused]])
    }
    if (http === undefined) return
    registry.read(requests, () =>
      Array.from(http.requests(), ({ method, route, status, count }) => [count, { method, route, status }]),
    )
    registry.readDurations(duration, () =>
      Array.from(http.routes(), ([route, durations]) => [durations, { route }]),
    )
  },
}
