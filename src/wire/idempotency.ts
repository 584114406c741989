import { RECORD_STATUSES } from '../guards/idempotency/types.js'
import { ageMs, closed, isoTime, listing, olderThanSeconds, oneOf, pageOf, yesOrNo } from './common.js'
import { operations } from './operation.js'
import { Type } from './typebox.js'

const params = {
  operation: Type.String({ description: 'Such as PRODUCE or CONSUME' }),
  key: Type.String({ description: 'The idempotency key; UUIDs in any case' }),
}
const token = Type.String({ description: 'Token that the claim returned' })

const Claim = Type.Object(
  {
    payload: Type.Optional(
      Type.Unknown({ description: 'What identifies the request; not together with requestHash' }),
    ),
    requestHash: Type.Optional(
      Type.String({ description: 'SHA-256 of the payload, computed by the caller' }),
    ),
    leaseSeconds: Type.Optional(
      Type.Number({ description: 'The claim can be taken over when it was not extended for this time' }),
    ),
    onLeaseExpired: Type.Optional(
      oneOf(['reclaim', 'unknown'], 'Whether to take over a claim whose owner let its lease pass'),
    ),
  },
  closed,
)
const Claimed = Type.Object(
  {
    status: oneOf(['IN_PROGRESS']),
    token: Type.String({
      description: 'Needed to extend, complete, fail or release the claim; returned only this once',
    }),
    attempt: Type.Integer({ description: 'Counts claims of this record' }),
    expiresAt: isoTime,
    leaseUntil: isoTime,
  },
  closed,
)
const Replayed = Type.Object(
  {
    status: oneOf(['COMPLETED']),
    response: Type.Optional(Type.Unknown({ description: 'As it was recorded' })),
    omittedBytes: Type.Optional(
      Type.Integer({ description: 'Size of a response that was too large to be stored' }),
    ),
  },
  closed,
)
const Completed = Type.Object(
  {
    status: oneOf(['COMPLETED']),
    omitted: Type.Optional(Type.Literal(true, { description: 'The response is too large to be stored' })),
  },
  closed,
)

const IdempotencyRecord = Type.Object(
  {
    pk: Type.String(),
    operationType: Type.String(),
    idempotencyKey: Type.String(),
    status: oneOf(['IN_PROGRESS', 'COMPLETED', 'FAILED']),
    requestHash: Type.Optional(Type.String({ description: 'SHA-256 of the canonical payload' })),
    responsePayload: Type.Optional(Type.String({ description: 'JSON text' })),
    createdAt: isoTime,
    updatedAt: isoTime,
    expiresAt: isoTime,
    ttl: Type.Integer({ description: '`expiresAt` in epoch seconds' }),
    attempt: Type.Integer(),
    leaseUntil: Type.Optional(isoTime),
    omittedBytes: Type.Optional(Type.Integer()),
    error: Type.Optional(Type.String()),
    onLeaseExpired: Type.Optional(oneOf(['unknown'], 'It is not taken over when its lease has passed')),
  },
  closed,
)

const ListedRecord = Type.Object(
  {
    operation: Type.String(),
    key: Type.String(),
    status: oneOf(RECORD_STATUSES),
    attempt: Type.Integer(),
    createdAt: isoTime,
    updatedAt: isoTime,
    expiresAt: isoTime,
    leaseUntil: Type.Optional(isoTime),
    omittedBytes: Type.Optional(Type.Integer()),
    error: Type.Optional(Type.String()),
    ageMs,
  },
  closed,
)

export const IDEMPOTENCY = operations('idempotency', {
  listIdempotencyRecords: {
    route: 'GET /idempotency',
    summary: 'List records, without requests, responses and owners. Does not block the store',
    scope: 'idempotency',
    rules: { orAdmin: true },
    query: {
      ...listing,
      operation: Type.Optional(Type.String({ description: 'Only records of this operation' })),
      status: Type.Optional(oneOf(RECORD_STATUSES)),
      leaseEnded: yesOrNo('Only claims whose lease has ended'),
      olderThanSeconds,
    },
    answers: { 200: ['A page, in the order of the store', pageOf(ListedRecord)] },
  },
  claimRequest: {
    route: 'POST /idempotency/:operation/:key',
    isHot: true,
    summary: 'Claim a request, or get the recorded response',
    scope: 'idempotency',
    params,
    headers: {
      'idempotency-expiry-seconds': Type.Optional(
        Type.String({ description: 'Life of the record, within the configured range' }),
      ),
    },
    body: Claim,
    // A request that is identified by its key alone needs no body.
    bodyMayBeAbsent: true,
    hasLargeBody: true,
    answers: {
      200: ['Executed before: the recorded response', Replayed],
      201: ['Claimed: execute the request, then record the result', Claimed],
    },
  },
  completeRequest: {
    route: 'POST /idempotency/:operation/:key/complete',
    isHot: true,
    summary: 'Complete a claim: record the response, once',
    scope: 'idempotency',
    params,
    body: Type.Object({ token, response: Type.Optional(Type.Unknown({ description: 'Any JSON' })) }, closed),
    hasLargeBody: true,
    answers: { 200: ['Recorded', Completed] },
  },
  failRequest: {
    route: 'POST /idempotency/:operation/:key/fail',
    summary: 'Record that the request failed: it can be claimed again',
    scope: 'idempotency',
    params,
    body: Type.Object(
      { token, error: Type.Optional(Type.String({ description: 'Why; at most 1,000 characters' })) },
      closed,
    ),
    answers: { 200: ['Recorded', Type.Object({ status: oneOf(['FAILED']) }, closed)] },
  },
  releaseRequest: {
    route: 'POST /idempotency/:operation/:key/release',
    summary: 'Release a claim: nothing was executed, and nothing is recorded',
    scope: 'idempotency',
    params,
    body: Type.Object({ token }, closed),
    answers: { 204: 'Given back' },
  },
  extendRequest: {
    route: 'POST /idempotency/:operation/:key/extend',
    summary: 'Extend a claim',
    scope: 'idempotency',
    params,
    body: Type.Object({ token, leaseSeconds: Type.Number() }, closed),
    answers: { 200: ['Extended', Type.Object({ status: oneOf(['IN_PROGRESS']) }, closed)] },
  },
  getIdempotencyRecord: {
    route: 'GET /idempotency/:operation/:key',
    summary: 'Read a record, without the token of its owner',
    scope: 'idempotency',
    rules: { orAdmin: true },
    params,
    answers: { 200: ['The record', IdempotencyRecord] },
  },
  deleteIdempotencyRecord: {
    route: 'DELETE /idempotency/:operation/:key',
    summary: 'Delete a record: the request can be executed again',
    scope: 'idempotency',
    rules: { orAdmin: true, audited: true },
    params,
    answers: { 204: 'Gone' },
  },
})
