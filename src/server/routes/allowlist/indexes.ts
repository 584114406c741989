import type { App, ServerContext } from '../../http/context.js'
import { Type } from '../../http/typebox.js'
import { answers } from '../responses.js'
import * as schemas from './schemas.js'

const tags = ['allowlists']
const params = Type.Object({ id: schemas.listId }, { additionalProperties: false })
const status = { description: 'The index as this process knows it', schema: schemas.indexStatus }

/** The state of the membership index, and its rebuild. */
export function indexRoutes(app: App, { catraca: { allowlists } }: ServerContext): void {
  app.get(
    '/allowlists/:id/index',
    {
      config: { scope: 'read' },
      schema: {
        tags,
        operationId: 'getIndex',
        summary: 'State of the membership index',
        params,
        response: answers({ 200: status }),
      },
    },
    (request) => allowlists.index(request.params.id),
  )

  app.post(
    '/allowlists/:id/rebuild',
    {
      config: { scope: 'admin' },
      schema: {
        tags,
        operationId: 'rebuildIndex',
        summary: 'Rebuild the membership index',
        params,
        response: answers({ 202: { ...status, description: 'The build has started' } }),
      },
    },
    async (request, reply) => {
      const { id } = request.params
      const before = await allowlists.index(id)
      allowlists.rebuild(id).catch((error: unknown) => {
        request.log.error({ err: error, requestId: request.id }, 'building an index failed')
      })
      reply.code(202).header('location', `/allowlists/${before.allowlistId}/index`)
      return { ...before, building: true }
    },
  )
}
