import { Type } from '../../http/typebox.js'

/** The shape of requests and responses for locks. The library validates the values, as for the other schemas. */
const closed = { additionalProperties: false } as const

const token = Type.String({ description: 'Token that the acquire returned; a secret' })
const ttlMs = Type.Optional(
  Type.Integer({
    description: 'The lock expires after this time unless it is extended; 30000 when absent',
  }),
)
const expiresAt = Type.String({
  format: 'date-time',
  description: 'When the lock expires unless it is extended',
})
const fence = Type.Optional(
  Type.Integer({ description: 'Fencing number: grows with every holder of the name. Absent with Redlock' }),
)

export const lockParams = Type.Object(
  { name: Type.String({ description: 'What is locked, such as claim:claim_abc123' }) },
  closed,
)
export const acquireRequest = Type.Object(
  {
    ttlMs,
    waitMs: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 30_000,
        description: 'How long to wait while another caller holds the lock; no waiting when absent',
      }),
    ),
  },
  closed,
)
export const acquired = Type.Object({ token, fence, expiresAt }, closed)
export const extendRequest = Type.Object({ token, ttlMs }, closed)
export const extended = Type.Object({ expiresAt }, closed)
export const releaseRequest = Type.Object({ token }, closed)
export const lockState = Type.Object(
  {
    name: Type.String(),
    held: Type.Boolean(),
    fence,
    expiresAt: Type.Optional(expiresAt),
  },
  closed,
)
