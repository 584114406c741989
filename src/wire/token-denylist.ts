import { MAX_REVOCATIONS } from '../guards/token-denylist/port.js'
import { closed, degraded } from './common.js'
import { operations } from './operation.js'
import { Type } from './typebox.js'

const jti = Type.String({ description: 'The id of the token' })
const bySubject = { subject: Type.String({ description: 'Subject of the tokens' }) }
const expiresAt = Type.String({
  description: 'ISO 8601: when the token, or the last of the tokens, expires anyway',
})
const notBefore = Type.String({ description: 'ISO 8601: tokens issued before are revoked' })

const checking = { scope: 'tokens:check', rules: { orAdmin: true } } as const
const revoking = { scope: 'tokens:revoke', rules: { orAdmin: true } } as const

const TokenAnswer = Type.Object({ revoked: Type.Boolean(), degraded }, closed)
const SubjectStatus = Type.Object(
  {
    revoked: Type.Boolean(),
    notBefore: Type.Optional(notBefore),
    expiresAt: Type.Optional(Type.String({ description: 'ISO 8601: when this revocation ends' })),
  },
  closed,
)

export const TOKENS = operations('tokens', {
  checkToken: {
    ...checking,
    route: 'GET /revoked-tokens/:jti',
    isHot: true,
    summary: 'Check whether a token was revoked, alone or with all tokens of its subject',
    params: { jti },
    query: {
      subject: Type.Optional(Type.String()),
      issuedAt: Type.Optional(
        Type.String({
          description: 'ISO 8601. Absent: the token counts as issued before every revocation of its subject',
        }),
      ),
    },
    answers: { 200: ['Whether the token is revoked', TokenAnswer] },
  },
  revokeToken: {
    ...revoking,
    route: 'PUT /revoked-tokens/:jti',
    summary: 'Revoke a token until it expires',
    params: { jti },
    body: Type.Object({ expiresAt }, closed),
    answers: { 204: 'Revoked' },
  },
  revokeTokens: {
    ...revoking,
    route: 'POST /revoked-tokens',
    summary: 'Revoke up to 1,000 tokens',
    body: Type.Object(
      {
        tokens: Type.Array(Type.Object({ jti, expiresAt }, closed), {
          minItems: 1,
          maxItems: MAX_REVOCATIONS,
        }),
      },
      closed,
    ),
    hasLargeBody: true,
    answers: { 204: 'All revoked' },
  },
  getRevokedSubject: {
    ...checking,
    route: 'GET /revoked-subjects/:subject',
    summary: 'Read which tokens of a subject are revoked',
    params: bySubject,
    answers: { 200: ['The current state', SubjectStatus] },
  },
  revokeSubject: {
    ...revoking,
    route: 'PUT /revoked-subjects/:subject',
    summary: 'Revoke all tokens of a subject that were issued before a time',
    params: bySubject,
    body: Type.Object({ notBefore, expiresAt }, closed),
    answers: { 204: 'Revoked' },
  },
})
