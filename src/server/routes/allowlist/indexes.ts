import { INDEXES } from '../../../wire/allowlist/lists.js'
import type { ServerContext } from '../../http/context.js'
import type { App } from '../../http/instance.js'
import { addRoutes } from '../add-routes.js'

export function indexRoutes(app: App, context: ServerContext): void {
  const { allowlists } = context.catraca
  addRoutes(app, context, INDEXES, {
    getIndex: ({ params }) => allowlists.index(params.id),
    rebuildIndex: async (request, reply) => {
      const { id } = request.params
      const before = await allowlists.index(id)
      allowlists.rebuild(id).catch((error: unknown) => {
        request.log.error({ err: error, requestId: request.id }, 'building an index failed')
      })
      reply.header('location', `/allowlists/${before.allowlistId}/index`)
      return { ...before, building: true }
    },
  })
}
