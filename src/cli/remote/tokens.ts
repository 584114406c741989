import { identifier } from '../../core/identifiers.js'
import type { TokensApi } from '../../guards/token-denylist/api.js'
import { MAX_REVOCATIONS } from '../../guards/token-denylist/port.js'
import type {
  Moment,
  RevokedSubject,
  RevokedToken,
  TokenAnswer,
  TokenQuestion,
} from '../../guards/token-denylist/types.js'
import type { HttpTransport } from './transport.js'

/** The token denylist over HTTP, with the results and errors of the library. */
export class HttpTokens implements TokensApi {
  constructor(private readonly http: HttpTransport) {}

  async revoke({ jti, expiresAt }: RevokedToken): Promise<void> {
    await this.http.json('PUT', tokenPath(jti), { body: { expiresAt: text(expiresAt) } })
  }

  async revokeAll(tokens: readonly RevokedToken[]): Promise<void> {
    for (let from = 0; from < tokens.length; from += MAX_REVOCATIONS) {
      const part = tokens.slice(from, from + MAX_REVOCATIONS)
      const body = { tokens: part.map(({ jti, expiresAt }) => ({ jti, expiresAt: text(expiresAt) })) }
      await this.http.json('POST', '/revoked-tokens', { body })
    }
  }

  async revokeSubject({ subject, notBefore, expiresAt }: RevokedSubject): Promise<void> {
    const path = `/revoked-subjects/${encodeURIComponent(identifier('subject', subject))}`
    await this.http.json('PUT', path, { body: { notBefore: text(notBefore), expiresAt: text(expiresAt) } })
  }

  /** The API checks a token, optionally with its subject. */
  check({ jti, subject, issuedAt }: TokenQuestion): Promise<TokenAnswer> {
    const query = {
      ...(subject !== undefined && { subject }),
      ...(issuedAt !== undefined && { issuedAt: text(issuedAt) }),
    }
    return this.http.json('GET', tokenPath(jti), { query })
  }
}

const tokenPath = (jti: string | undefined): string =>
  `/revoked-tokens/${encodeURIComponent(identifier('jti', jti))}`

const text = (moment: Moment): string => (moment instanceof Date ? moment.toISOString() : moment)
