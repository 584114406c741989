import { randomUUID } from 'node:crypto'
import { invalid } from '../errors.js'
import { renderProblem } from '../server/problem.js'
import type { TokensApi } from '../token-denylist/api.js'
import { tokenRevoked } from '../token-denylist/token-revoked.js'

/** Claims of a token as a JWT has them, times in seconds. */
export interface TokenClaims {
  jti?: string | undefined
  sub?: string | undefined
  iat?: number | undefined
}

/** What the adapters of all frameworks have in common. */
export interface RevokedTokensOptions<Request> {
  tokens: Pick<TokensApi, 'check'>
  /** Claims of the token whose signature was verified before; undefined: the request carries none, and passes. */
  claims: (request: Request) => TokenClaims | undefined
}

/** Go on, or answer this instead. */
export type TokenGate =
  | { pass: true }
  | { pass: false; status: number; headers: Record<string, string>; body: string }

/** Asks for one request. A token of which nothing can be asked is refused: it could not be revoked either. */
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
    const { revoked } = await tokens.check({
      jti,
      subject: sub,
      issuedAt: sub === undefined || iat === undefined ? undefined : new Date(iat * 1000),
    })
    return revoked ? refusal(tokenRevoked(), requestId) : { pass: true }
  } catch (error) {
    return refusal(error, requestId)
  }
}

function refusal(error: unknown, requestId: string): TokenGate {
  const problem = renderProblem(error, requestId)
  // As RFC 6750 has it.
  if (problem.headers['www-authenticate'] !== undefined) {
    problem.headers['www-authenticate'] = 'Bearer error="invalid_token"'
  }
  return { pass: false, ...problem }
}
