import { LOG_LEVELS } from '../core/log-levels.js'
import { listId } from './allowlist/lists.js'
import { byName, closed, count, isoTime, oneOf, open, shared } from './common.js'
import { operations } from './operation.js'
import { listInPath } from './reach.js'
import { Type } from './typebox.js'

const State = Type.Object({ status: Type.String() }, closed)
const Health = open({
  status: Type.String(),
  timestamp: Type.String(),
  uptime: Type.Number({ description: 'Seconds' }),
  version: Type.String(),
  store: Type.String(),
  engines: Type.Array(open({ name: Type.String(), status: Type.String() })),
})

export const HEALTH = operations('operations', {
  live: {
    route: 'GET /live',
    summary: 'Is the process alive?',
    scope: 'open',
    rules: { always: true },
    answers: { 200: ['Yes', State] },
  },
  ready: {
    route: 'GET /ready',
    summary: 'Should the server get requests?',
    scope: 'open',
    rules: { always: true },
    answers: { 200: ['Yes', State], 503: ['Not yet, or no longer', State] },
  },
  health: {
    route: 'GET /health',
    summary: 'State of every engine',
    scope: 'read',
    reach: 'no-target',
    rules: { operating: true },
    answers: { 200: ['The server can serve', Health], 503: ['The server cannot serve', Health] },
  },
})

const FleetProcess = Type.Object(
  {
    id: Type.String({ description: 'Made at the start of the process' }),
    name: Type.String({ description: 'Of the machine or pod, or `fleet.name`' }),
    pid: Type.Integer(),
    version: Type.String(),
    engine: Type.String(),
    startedAt: isoTime,
    lists: Type.Integer({ description: 'In memory' }),
    staleLists: Type.Integer({ description: 'Of those, how many are too far behind to answer' }),
    feedLagMs: Type.Number({
      description: 'How far the list that is furthest behind may be behind the store',
    }),
    checksPerSecond: Type.Optional(Type.Number()),
    lastMinute: Type.Object(
      {
        checks: count,
        errors: Type.Integer({ minimum: 0, description: 'Calls to the store that failed' }),
        degraded: Type.Integer({ minimum: 0, description: 'Checks that were answered without the store' }),
      },
      closed,
    ),
    followed: Type.Array(Type.String(), { description: 'Lists in memory, as far as there is room' }),
    seenMsAgo: Type.Number(),
  },
  closed,
)

export const FleetView = Type.Object(
  {
    enabled: Type.Boolean({ description: 'Setting `fleet.enabled`' }),
    self: Type.Optional(Type.String({ description: 'Id of the process that answers' })),
    expireMs: Type.Integer({ description: 'A process that died is gone after this time' }),
    processes: Type.Array(FleetProcess),
    sums: Type.Object(
      {
        processes: count,
        checksPerSecond: Type.Number(),
        errorsLastMinute: count,
        degradedLastMinute: count,
        staleLists: count,
        feedLagMs: Type.Number({ description: 'The largest' }),
      },
      { ...closed, description: 'Over all processes' },
    ),
    versions: Type.Array(Type.Object({ version: Type.String(), processes: count }, closed)),
    notFollowed: Type.Array(
      Type.Object({ allowlistId: Type.String(), processes: Type.Array(Type.String()) }, closed),
      {
        description: 'Lists that some processes have in memory, and the ids of those that have not',
      },
    ),
  },
  { $id: 'FleetView', ...closed },
)

export const FLEET = operations('operations', {
  getFleet: {
    route: 'GET /fleet',
    summary: 'All processes that use the store, and their sums',
    scope: 'read',
    answers: { 200: ['The processes', shared(FleetView)] },
  },
})

const LogLevel = Type.Object(
  {
    level: Type.String(),
    configured: Type.String({ description: 'The level after a restart' }),
    until: Type.Optional(Type.String({ description: 'When the level returns to the configured one' })),
  },
  closed,
)
const DAY_SECONDS = 86_400

export const LOG_LEVEL = operations('operations', {
  getLogLevel: {
    route: 'GET /log-level',
    summary: 'Read the log level',
    scope: 'read',
    answers: { 200: ['The level', LogLevel] },
  },
  setLogLevel: {
    route: 'PUT /log-level',
    summary: 'Change the log level, for a time or until the restart',
    scope: 'admin',
    body: Type.Object(
      {
        level: oneOf(LOG_LEVELS, 'Lowest severity that is logged'),
        forSeconds: Type.Optional(Type.Integer({ minimum: 1, maximum: DAY_SECONDS })),
      },
      closed,
    ),
    answers: { 200: ['The level', LogLevel] },
  },
})

const Denials = Type.Object(
  {
    since: Type.String({ description: 'When this process began to count checks' }),
    lists: Type.Array(
      Type.Object({ allowlistId: Type.String(), denied: Type.Integer(), allowed: Type.Integer() }, closed),
      { description: 'Most denied first' },
    ),
    limitsSince: Type.String({ description: 'An hour ago, or when the process began' }),
    limits: Type.Array(
      Type.Object(
        { entity: Type.String(), resource: Type.String(), limit: Type.String(), denied: Type.Integer() },
        closed,
      ),
      { description: 'Most denied first' },
    ),
  },
  closed,
)

export const DENIALS = operations('operations', {
  getDenials: {
    route: 'GET /stats/denials',
    summary: 'The lists and limits that this process denied by most often',
    scope: 'read',
    reach: 'filtered',
    query: { limit: Type.Optional(Type.Integer({ description: 'Of each; at most 100, 10 when absent' })) },
    answers: { 200: ['Of this process', Denials] },
  },
})

export const LONGEST_MINUTES = 60
const Series = Type.Object({
  stepSeconds: Type.Number(),
  from: Type.String({ description: 'When the first step began' }),
  points: byName(Type.Array(Type.Union([Type.Number(), Type.Null()])), {
    description: 'Oldest first; null when there was nothing to measure',
  }),
})

const minutesInQuery = {
  minutes: Type.Optional(Type.Integer({ minimum: 1, maximum: LONGEST_MINUTES, default: LONGEST_MINUTES })),
}

const ListTraffic = Type.Object(
  {
    stepSeconds: Type.Number(),
    from: Type.String({ description: 'When the first step began' }),
    allowed: Type.Array(Type.Integer(), { description: 'Checks that it allowed in each step, oldest first' }),
    denied: Type.Array(Type.Integer(), { description: 'Checks that it denied in each step, oldest first' }),
  },
  closed,
)

export const METRICS = operations('operations', {
  getMetrics: {
    route: 'GET /metrics',
    summary: 'Metrics for Prometheus',
    scope: 'read',
    rules: { operating: true },
    answers: { 200: ['The text format of Prometheus', ['text/plain']] },
  },
  getSeries: {
    route: 'GET /stats/series',
    summary: 'Figures of this process over the last hour, in steps of 5 s',
    scope: 'read',
    reach: 'no-target',
    query: minutesInQuery,
    answers: { 200: ['Its figures', Series] },
  },
  getListTraffic: {
    route: 'GET /stats/allowlists/:id',
    summary: 'What a list allowed and denied in this process over the last hour, in steps of 10 s',
    scope: 'read',
    reach: listInPath,
    params: { id: listId },
    query: minutesInQuery,
    answers: { 200: ['Of this process', ListTraffic] },
  },
})
