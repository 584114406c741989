import { KEYS } from '../../../wire/access.js'
import type { App, ServerContext } from '../../http/context.js'
import { addRoutes } from '../add-routes.js'

export function keyRoutes(app: App, context: ServerContext): void {
  const { catraca, registry } = context
  const { keys } = catraca
  addRoutes(app, context, KEYS, {
    createKey: async ({ body }, reply) => {
      const created = await keys.create(body)
      await registry.changed()
      reply.header('location', `/keys/${created.name}`)
      return created
    },
    listKeys: async () => ({ items: await keys.list() }),
    revokeKey: async ({ params }) => {
      await keys.revoke(params.name)
      await registry.changed()
    },
  })
}
