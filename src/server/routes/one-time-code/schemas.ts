import { CHANNELS } from '../../../guards/one-time-code/types.js'
import { Type } from '../../http/typebox.js'
import { oneOf } from '../allowlist/schemas.js'

/** The shape of requests and responses for one-time codes. The library validates the values. */
const closed = { additionalProperties: false } as const

export const channelParams = Type.Object({ channel: oneOf(CHANNELS) }, closed)

const address = Type.String({ description: 'An e-mail, or a phone number in E.164' })
const purpose = Type.Optional(Type.String({ description: 'Codes of different purposes are separate' }))

export const issueRequest = Type.Object({ address, purpose }, closed)
export const issuedCode = Type.Object(
  {
    code: Type.String({ description: 'For the caller to send; returned only this once' }),
    expiresAt: Type.String({ description: 'ISO 8601' }),
  },
  closed,
)

export const verifyRequest = Type.Object({ address, code: Type.String(), purpose }, closed)
export const verified = Type.Object(
  {
    valid: Type.Boolean(),
    reason: Type.Optional(
      oneOf(['INVALID', 'LOCKED'], 'INVALID: wrong, expired, used or never sent. LOCKED: too many failures'),
    ),
  },
  closed,
)

export const codeStatus = Type.Object(
  {
    pending: Type.Boolean({ description: 'There is a code that can still be used' }),
    expiresAt: Type.Optional(Type.String({ description: 'ISO 8601' })),
    failures: Type.Integer({ description: 'Wrong attempts that count toward the lock' }),
    lockedUntil: Type.Optional(Type.String({ description: 'ISO 8601' })),
  },
  closed,
)
export const revoked = Type.Object(
  { revoked: Type.Boolean({ description: 'False: there was neither a code nor a wrong attempt' }) },
  closed,
)
