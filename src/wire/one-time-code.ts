import { CHANNELS } from '../guards/one-time-code/types.js'
import { closed, iso8601, oneOf } from './common.js'
import { operations } from './operation.js'
import { Type } from './typebox.js'

const params = { channel: oneOf(CHANNELS) }
const address = Type.String({ description: 'An e-mail, or a phone number in E.164' })
const purpose = Type.Optional(Type.String({ description: 'Codes of different purposes are separate' }))
const CodeAddress = Type.Object({ address, purpose }, closed)

const IssuedCode = Type.Object(
  {
    code: Type.String({ description: 'For the caller to send; returned only this once' }),
    expiresAt: iso8601,
  },
  closed,
)
const Verification = Type.Object(
  {
    valid: Type.Boolean(),
    reason: Type.Optional(
      oneOf(['INVALID', 'LOCKED'], 'INVALID: wrong, expired, used or never sent. LOCKED: too many failures'),
    ),
  },
  closed,
)
const CodeStatus = Type.Object(
  {
    pending: Type.Boolean({ description: 'There is a code that can still be used' }),
    expiresAt: Type.Optional(iso8601),
    failures: Type.Integer({ description: 'Wrong attempts that count toward the lock' }),
    lockedUntil: Type.Optional(iso8601),
  },
  closed,
)
const Revoked = Type.Object(
  { revoked: Type.Boolean({ description: 'False: there was neither a code nor a wrong attempt' }) },
  closed,
)

export const CODES = operations('codes', {
  issueCode: {
    route: 'POST /otp/:channel',
    summary: 'Issue a one-time code; it replaces the pending one',
    scope: 'codes:issue',
    params,
    body: CodeAddress,
    answers: { 201: ['The code, shown only now', IssuedCode] },
  },
  verifyCode: {
    route: 'POST /otp/:channel/verify',
    summary: 'Verify a one-time code; a code works once',
    scope: 'codes:verify',
    params,
    body: Type.Object({ address, code: Type.String(), purpose }, closed),
    answers: { 200: ['Whether the code is right', Verification] },
  },
  getCodeStatus: {
    route: 'POST /otp/:channel/status',
    summary: 'Read whether a code is pending and whether the address is locked; never the code',
    scope: 'admin',
    params,
    body: CodeAddress,
    answers: { 200: ['The current state', CodeStatus] },
  },
  revokeCode: {
    route: 'POST /otp/:channel/revoke',
    summary: 'Revoke the pending code, and unlock the address',
    scope: 'admin',
    params,
    body: CodeAddress,
    answers: { 200: ['Whether there was a code or a lock to remove', Revoked] },
  },
})
