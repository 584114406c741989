import { TOKENS } from '../../../wire/token-denylist.js'
import type { ServerContext } from '../../http/context.js'
import type { App } from '../../http/instance.js'
import { addRoutes } from '../add-routes.js'

export function tokenRoutes(app: App, context: ServerContext): void {
  const { tokens } = context.catraca
  // A server that revokes has the revocations in memory: what is counted there bounds them.
  const follow = (): void => void tokens.warmUp().catch(() => {})
  addRoutes(app, context, TOKENS, {
    checkToken: ({ params, query }) => tokens.check({ ...params, ...query }),
    revokeToken: ({ params, body }) => {
      follow()
      return tokens.revoke({ ...params, ...body })
    },
    revokeTokens: ({ body }) => {
      follow()
      return tokens.revokeAll(body.tokens)
    },
    getRevokedSubject: ({ params }) => tokens.subject(params.subject),
    revokeSubject: ({ params, body }) => {
      follow()
      return tokens.revokeSubject({ ...params, ...body })
    },
  })
}
