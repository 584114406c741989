import { issueDenied } from '../../../guards/one-time-code/issue-denied.js'
import { retryAfterSeconds } from '../../../guards/rate-limit/headers.js'
import { CODES } from '../../../wire/one-time-code.js'
import type { ServerContext } from '../../http/context.js'
import type { App } from '../../http/instance.js'
import { addRoutes } from '../add-routes.js'

export function codeRoutes(app: App, context: ServerContext): void {
  const { codes } = context.catraca
  addRoutes(app, context, CODES, {
    issueCode: async ({ params, body }, reply) => {
      const answer = await codes.issue({ ...params, ...body })
      if (!answer.issued) {
        reply.header('retry-after', String(retryAfterSeconds(answer.retryAfterMs)))
        throw issueDenied(answer)
      }
      const { code, expiresAt } = answer
      return { code, expiresAt }
    },
    verifyCode: ({ params, body }) => codes.verify({ ...params, ...body }),
    getCodeStatus: ({ params, body }) => codes.status({ ...params, ...body }),
    revokeCode: ({ params, body }) => codes.revoke({ ...params, ...body }),
  })
}
