import type { CodeAddress, CodeStatus, IssueAnswer, VerifyAnswer } from './types.js'

/** One-time codes as a caller sees them: the same in the library and, over HTTP, in the client of the command line. */
export interface CodesApi {
  issue(request: CodeAddress): Promise<IssueAnswer>
  verify(request: CodeAddress & { code: string }): Promise<VerifyAnswer>
  status(request: CodeAddress): Promise<CodeStatus>
  revoke(request: CodeAddress): Promise<{ revoked: boolean }>
}
