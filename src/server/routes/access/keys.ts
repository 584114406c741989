import { KEYS } from '../../../wire/access.js'
import type { ServerContext } from '../../http/context.js'
import type { App } from '../../http/instance.js'
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
    updateKey: async ({ params, body }) => {
      const changed = await keys.update(params.name, body)
      await registry.changed()
      return changed
    },
    revokeKey: async ({ params }) => {
      await keys.revoke(params.name)
      await registry.changed()
    },
  })
}
