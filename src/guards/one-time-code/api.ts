import type { CodeAddress, CodeStatus, IssueAnswer, VerifyAnswer } from './types.js'

/** The one-time-code API. The library implements it, and the remote half of the CLI as far as commands need it. */
export interface CodesApi {
  issue(request: CodeAddress): Promise<IssueAnswer>
  verify(request: CodeAddress & { code: string }): Promise<VerifyAnswer>
  status(request: CodeAddress): Promise<CodeStatus>
  revoke(request: CodeAddress): Promise<{ revoked: boolean }>
}
