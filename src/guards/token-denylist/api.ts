import type { RevokedSubject, RevokedToken, TokenAnswer, TokenQuestion } from './types.js'

/** The denylist as a caller sees it: the same in the library and, over HTTP, in the client of the command line. */
export interface TokensApi {
  revoke(token: RevokedToken): Promise<void>
  /** Any number of them. Those before one that fails are revoked. */
  revokeAll(tokens: readonly RevokedToken[]): Promise<void>
  revokeSubject(mark: RevokedSubject): Promise<void>
  check(question: TokenQuestion): Promise<TokenAnswer>
}
