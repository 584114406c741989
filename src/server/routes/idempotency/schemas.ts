import type { RecordView } from '../../../guards/idempotency/types.js'
import { type Static, Type } from '../../http/typebox.js'
import { oneOf } from '../allowlist/schemas.js'

/**
 * The shape of requests and responses for idempotency. The library validates the values, as for the other schemas.
 */
const closed = { additionalProperties: false } as const
const isoTime = Type.String({ description: 'ISO 8601 in UTC' })

export const recordParams = Type.Object(
  {
    operation: Type.String({ description: 'Such as PRODUCE or CONSUME' }),
    key: Type.String({ description: 'The idempotency key; UUIDs in any case' }),
  },
  closed,
)

/** Other headers are ignored. */
export const claimHeaders = Type.Object({
  'idempotency-expiry-seconds': Type.Optional(
    Type.String({ description: 'Life of the record, within the configured range' }),
  ),
})

export const claimRequest = Type.Object(
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

export const claimed = Type.Object(
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

export const replayed = Type.Object(
  {
    status: oneOf(['COMPLETED']),
    response: Type.Optional(Type.Unknown({ description: 'As it was recorded' })),
    omittedBytes: Type.Optional(
      Type.Integer({ description: 'Size of a response that was too large to be stored' }),
    ),
  },
  closed,
)

const token = Type.String({ description: 'Token that the claim returned' })
export const completeRequest = Type.Object(
  { token, response: Type.Optional(Type.Unknown({ description: 'Any JSON' })) },
  closed,
)
export const completed = Type.Object(
  {
    status: oneOf(['COMPLETED']),
    omitted: Type.Optional(Type.Literal(true, { description: 'The response is too large to be stored' })),
  },
  closed,
)
export const failRequest = Type.Object(
  { token, error: Type.Optional(Type.String({ description: 'Why; at most 1,000 characters' })) },
  closed,
)
export const failed = Type.Object({ status: oneOf(['FAILED']) }, closed)
export const extendRequest = Type.Object({ token, leaseSeconds: Type.Number() }, closed)
export const extended = Type.Object({ status: oneOf(['IN_PROGRESS']) }, closed)
export const releaseRequest = Type.Object({ token }, closed)

export const record = Type.Object(
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

/** Compiles only while schema and type are equal. */
type Same<A, B> = [A, B] extends [B, A] ? true : never
export const recordSchemaAgrees: Same<Static<typeof record>, RecordView> = true
