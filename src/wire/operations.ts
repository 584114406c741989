import { LOG_LEVELS } from '../core/log-levels.js'
import { byName, closed, oneOf, open } from './common.js'
import { operations } from './operation.js'
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
    rules: { operating: true },
    answers: { 200: ['The server can serve', Health], 503: ['The server cannot serve', Health] },
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

export const LONGEST_MINUTES = 60
const Series = Type.Object({
  stepSeconds: Type.Number(),
  from: Type.String({ description: 'When the first step began' }),
  points: byName(Type.Array(Type.Union([Type.Number(), Type.Null()])), {
    description: 'Oldest first; null when there was nothing to measure',
  }),
})

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
    query: {
      minutes: Type.Optional(
        Type.Integer({ minimum: 1, maximum: LONGEST_MINUTES, default: LONGEST_MINUTES }),
      ),
    },
    answers: { 200: ['Its figures', Series] },
  },
})
