import { FLAG_ERRORS, FLAG_REASONS } from '../guards/allowlist/flags/flag.js'
import { closed, oneOf, open, shared } from './common.js'
import { operations } from './operation.js'
import { flagInPath } from './reach.js'
import { Type } from './typebox.js'

/*
 * OFREP 0.3, the remote evaluation protocol of OpenFeature. Requests may have more fields than we read, as the protocol
 * demands.
 */

const metadata = open(
  {
    type: Type.Optional(Type.String({ description: 'FIXA or ONDA' })),
    checkReason: Type.Optional(Type.String({ description: '`reason` of the check' })),
    listVersion: Type.Optional(Type.Integer()),
    catracaAtLeast: Type.Optional(
      Type.String({
        description:
          'In the context of a later evaluation: it sees at least what this one saw. Not in bulk evaluations',
      }),
    ),
    degraded: Type.Optional(Type.Literal(true, { description: 'The store did not answer' })),
    asOf: Type.Optional(
      Type.String({ description: 'Of a degraded value: when it was last known. Not in bulk evaluations' }),
    ),
  },
  { description: 'What the check says beside the value' },
)

const key = Type.String({ description: 'Id of the list or wave' })

export const Flag = Type.Object(
  {
    key,
    value: Type.Boolean(),
    variant: oneOf(['on', 'off']),
    reason: oneOf(FLAG_REASONS),
    metadata,
  },
  { $id: 'Flag', ...closed },
)

export const FlagFailure = Type.Object(
  { key: Type.Optional(key), errorCode: oneOf(FLAG_ERRORS), errorDetails: Type.String() },
  { $id: 'FlagFailure', ...closed },
)

const EventStream = Type.Object(
  {
    type: Type.Literal('sse'),
    endpoint: Type.Object({ requestUri: Type.String() }, closed),
    inactivityDelaySec: Type.Integer(),
  },
  closed,
)

const context = Type.Optional(
  Type.Unknown({
    description:
      '`targetingKey`: the customer. `catracaAtLeast`: a token of a write, or of an earlier evaluation, that must be seen. Other fields are ignored',
  }),
)
const request = open({ context })

const failures = {
  400: ['The context or the request is wrong', shared(FlagFailure)],
  404: ['There is no such list', shared(FlagFailure)],
  500: ['The flag could not be evaluated', shared(FlagFailure)],
} as const

export const FLAGS = operations('flags', {
  evaluateFlag: {
    route: 'POST /ofrep/v1/evaluate/flags/:key',
    summary: 'Evaluate a list or wave as a boolean flag',
    scope: 'check',
    reach: flagInPath,
    rules: { isLiberal: true },
    params: { key },
    body: request,
    answers: { 200: ['The flag', shared(Flag)], ...failures },
  },
  evaluateFlags: {
    route: 'POST /ofrep/v1/evaluate/flags',
    summary: 'Evaluate all flags that `flags.exposed` names',
    scope: 'check',
    rules: { isLiberal: true },
    query: {
      flagConfigEtag: Type.Optional(Type.String({ description: 'From an event; not needed here' })),
      flagConfigLastModified: Type.Optional(Type.String({ description: 'From an event; not needed here' })),
    },
    body: request,
    answers: {
      200: [
        'The flags. `ETag` covers the context too',
        Type.Object(
          {
            flags: Type.Array(Type.Union([shared(Flag), shared(FlagFailure)])),
            eventStreams: Type.Optional(Type.Array(EventStream)),
          },
          closed,
        ),
      ],
      304: 'Context and flags are those of the ETag in `If-None-Match`',
      400: failures[400],
      500: failures[500],
    },
  },
  followFlags: {
    route: 'GET /ofrep/v1/events',
    summary: 'Follow the flags of one customer: an event for every change',
    scope: 'check',
    query: { targetingKey: Type.Optional(Type.String({ description: 'The customer' })) },
    headers: { 'last-event-id': Type.Optional(Type.String()) },
    answers: { 200: ['Server-sent events', ['text/event-stream']] },
  },
})
