import { randomUUID } from 'node:crypto'
import { encodeIdentifier } from '../core/encode-identifier.js'
import { invalid } from '../core/errors.js'
import { type Fields, KnownFields } from '../core/fields.js'
import type { TokensApi } from '../guards/token-denylist/api.js'
import { tokenRevoked } from '../guards/token-denylist/token-revoked.js'
import type { TokenQuestion } from '../guards/token-denylist/types.js'
import { renderProblem } from '../server/http/problem.js'

/** Claims of a token as a JWT has them, times in seconds. */
export interface TokenClaims {
  jti?: string | undefined
  sub?: string | undefined
  iat?: number | undefined
}

/** Options of all adapters. */
export interface RevokedTokensOptions<Request> {
  tokens: Pick<TokensApi, 'check'>
  /** Claims of a token whose signature was verified before. Undefined: the request has no token, and passes. */
  claims: (request: Request) => TokenClaims | undefined
}

/** Continue, or send this response instead. */
export type TokenGate =
  | { pass: true }
  | { pass: false; status: number; headers: Record<string, string>; body: string }

/**
 * Checks the token of one request. A token without usable claims is refused, because it could not be revoked either.
 */
export async function askTokens<Request>(
  { tokens, claims }: RevokedTokensOptions<Request>,
  request: Request,
  requestId: string = randomUUID(),
): Promise<TokenGate> {
  const found = claims(request)
  if (found === undefined) return { pass: true }
  try {
    const { jti, sub, iat } = found
    if (jti === undefined && sub === undefined) throw invalid('token', 'has neither jti nor sub')
    const issuedAt = sub === undefined || iat === undefined ? undefined : new Date(iat * 1000)
    for (const question of questions(jti, sub)) {
      const { revoked } = await tokens.check({ ...question, issuedAt })
      if (revoked) return refusal(tokenRevoked(), requestId)
    }
    return { pass: true }
  } catch (error) {
    return refusal(error, requestId)
  }
}

/**
 * Ids are encoded, because tokens of other issuers may hold any text. An id with `~` may have been revoked by a
 * caller that did not encode it, so the raw id is checked too.
 */
function questions(jti: string | undefined, sub: string | undefined): TokenQuestion[] {
  const encoded = {
    jti: jti === undefined ? undefined : encodeIdentifier(jti, 'jti'),
    subject: sub === undefined ? undefined : encodeIdentifier(sub, 'sub'),
  }
  const asItIs = { jti, subject: sub }
  const mayBeOther = [jti, sub].some((id) => id?.includes('~')) && [jti, sub].every(isIdentifier)
  return mayBeOther ? [encoded, asItIs] : [encoded]
}

const isIdentifier = (id: string | undefined): boolean => id === undefined || /^[\w.~:@+=-]{1,256}$/.test(id)

const FIELDS: Fields<RevokedTokensOptions<unknown>> = { tokens: true, claims: true }
const KNOWN = new KnownFields(FIELDS)
export const checkTokenOptions = (options: object): void => KNOWN.check(options)

function refusal(error: unknown, requestId: string): TokenGate {
  const problem = renderProblem(error, requestId)
  // As RFC 6750 defines it.
  if (problem.headers['www-authenticate'] !== undefined) {
    problem.headers['www-authenticate'] = 'Bearer error="invalid_token"'
  }
  return { pass: false, ...problem }
}
