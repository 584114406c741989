import { isCatracaError } from '../../core/errors.js'
import { codeKey } from '../../guards/one-time-code/address.js'
import type { CodesApi } from '../../guards/one-time-code/api.js'
import type { CodeAddress, CodeStatus, IssueAnswer, VerifyAnswer } from '../../guards/one-time-code/types.js'
import type { HttpTransport } from './transport.js'

/** One-time codes over HTTP, with the results and errors of the library. */
export class HttpCodes implements CodesApi {
  constructor(private readonly http: HttpTransport) {}

  async issue(request: CodeAddress): Promise<IssueAnswer> {
    const { channel, ...body } = checked(request)
    try {
      const answer = await this.http.json<{ code: string; expiresAt: string }>('POST', `/otp/${channel}`, {
        body,
      })
      return { issued: true, ...answer }
    } catch (error) {
      if (!isCatracaError(error, 'QUOTA_EXCEEDED')) throw error
      const { retryAfterMs, 'violated-policies': violated } = error.facts as Record<string, never>
      return { issued: false, violated: violated!, retryAfterMs: retryAfterMs! }
    }
  }

  verify({ code, ...request }: CodeAddress & { code: string }): Promise<VerifyAnswer> {
    const { channel, ...body } = checked(request)
    return this.http.json('POST', `/otp/${channel}/verify`, { body: { ...body, code } })
  }

  async status(request: CodeAddress): Promise<CodeStatus> {
    const { channel, ...body } = checked(request)
    return this.http.json('POST', `/otp/${channel}/status`, { body })
  }

  async revoke(request: CodeAddress): Promise<{ revoked: boolean }> {
    const { channel, ...body } = checked(request)
    return this.http.json('POST', `/otp/${channel}/revoke`, { body })
  }
}

/** Checked before anything is sent, and before the channel becomes part of a path. */
function checked(request: CodeAddress): CodeAddress {
  const { channel, address, purpose } = codeKey(request)
  return { channel, address, ...(purpose !== '' && { purpose }) }
}
