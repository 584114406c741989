import { randomUUID } from 'node:crypto'
import { type Fields, KnownFields } from '../core/fields.js'
import type { MaybePromise } from '../core/maybe-promise.js'
import type { TokensApi } from '../guards/token-denylist/api.js'
import { questionsOf, type TokenClaims } from '../guards/token-denylist/claims.js'
import { tokenRevoked } from '../guards/token-denylist/token-revoked.js'
import {
  type DenialResponse,
  type Gate,
  type GuardOptions,
  guardOf,
  PASS,
  type Refusal,
  refusalOf,
  withDenial,
} from './gate.js'

export type { TokenClaims }

type TokensGuard = Pick<TokensApi, 'check'>

/** Options of all adapters. */
export interface RevokedTokensOptions<Request> extends GuardOptions<Request> {
  /** An instance, or a server: `openCatraca(…)` or `connectCatraca(…)`. */
  catraca?: { tokens: TokensGuard } | undefined
  /** The guard itself, as in the first version. */
  tokens?: TokensGuard
  /** Claims of a token whose signature was verified before. Undefined: the request has no token, and passes. */
  claims: (request: Request) => MaybePromise<TokenClaims | undefined>
  /** The response to a revoked token; when absent a problem with status 401. */
  denial?: (request: Request) => DenialResponse | undefined
}

const FIELDS: Fields<RevokedTokensOptions<unknown>> = {
  ...{ catraca: true, tokens: true, claims: true, denial: true, skip: true, report: true },
}
const KNOWN = new KnownFields(FIELDS)

/** Refuses requests with revoked tokens. */
export class RequestTokens<Request> {
  private readonly guard: TokensGuard

  /** Refuses wrong options, so that a mistake is found before the first request. */
  constructor(private readonly options: RevokedTokensOptions<Request>) {
    KNOWN.check(options)
    this.guard = guardOf<'tokens', TokensGuard>(options, 'tokens')
  }

  /**
   * Checks the token of one request. A token without usable claims is refused, because it could not be revoked either.
   */
  async ask(request: Request, requestId: string = randomUUID()): Promise<Gate> {
    const { skip, claims, denial } = this.options
    if (await skip?.(request)) return PASS
    try {
      const found = await claims(request)
      if (found === undefined) return PASS
      for (const question of questionsOf(found)) {
        const { revoked } = await this.guard.check(question)
        if (revoked) return withDenial(bearerRefusal(tokenRevoked(), requestId), denial?.(request))
      }
      return PASS
    } catch (error) {
      return bearerRefusal(error, requestId)
    }
  }
}

/** `WWW-Authenticate` as RFC 6750 defines it. */
function bearerRefusal(error: unknown, requestId: string): Refusal {
  const refusal = refusalOf(error, requestId)
  const { headers } = refusal
  if (headers['www-authenticate'] === undefined) return refusal
  return { ...refusal, headers: { ...headers, 'www-authenticate': 'Bearer error="invalid_token"' } }
}
