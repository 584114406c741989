import { MAX_REVOCATIONS } from '../../../guards/token-denylist/port.js'
import { Type } from '../../http/typebox.js'

/** The shape of requests and responses for revoked tokens. The library validates the values. */
const closed = { additionalProperties: false } as const

const jti = Type.String({ description: 'The id of the token' })
const expiresAt = Type.String({
  description: 'ISO 8601: when the token, or the last of the tokens, expires anyway',
})

export const tokenParams = Type.Object({ jti }, closed)
export const subjectParams = Type.Object(
  { subject: Type.String({ description: 'Subject of the tokens' }) },
  closed,
)
export const tokenRevocation = Type.Object({ expiresAt }, closed)
export const tokenRevocations = Type.Object(
  { tokens: Type.Array(Type.Object({ jti, expiresAt }, closed), { minItems: 1, maxItems: MAX_REVOCATIONS }) },
  closed,
)
export const subjectRevocation = Type.Object(
  {
    notBefore: Type.String({ description: 'ISO 8601: tokens issued before are revoked' }),
    expiresAt,
  },
  closed,
)
export const tokenQuery = Type.Object(
  {
    subject: Type.Optional(Type.String()),
    issuedAt: Type.Optional(
      Type.String({
        description: 'ISO 8601. Absent: the token counts as issued before every revocation of its subject',
      }),
    ),
  },
  closed,
)
export const tokenAnswer = Type.Object(
  {
    revoked: Type.Boolean(),
    degraded: Type.Optional(Type.Literal(true, { description: 'The store did not answer' })),
  },
  closed,
)

export const subjectStatus = Type.Object(
  {
    revoked: Type.Boolean(),
    notBefore: Type.Optional(Type.String({ description: 'ISO 8601: tokens issued before are revoked' })),
    expiresAt: Type.Optional(Type.String({ description: 'ISO 8601: when this revocation ends' })),
  },
  closed,
)
