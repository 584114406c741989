import type { RevokedSubject, RevokedToken, TokenAnswer, TokenQuestion } from './types.js'

/** The token denylist API. The library implements it, and the remote half of the CLI as far as commands need it. */
export interface TokensApi {
  revoke(token: RevokedToken): Promise<void>
  /** Any number of tokens. If one fails, those before it are revoked. */
  revokeAll(tokens: readonly RevokedToken[]): Promise<void>
  revokeSubject(mark: RevokedSubject): Promise<void>
  check(question: TokenQuestion): Promise<TokenAnswer>
}
