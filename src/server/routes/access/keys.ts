import type { App, ServerContext } from '../../http/context.js'
import { Type } from '../../http/typebox.js'
import { answers204 } from '../allowlist/lists.js'
import * as schemas from '../allowlist/schemas.js'
import { answers } from '../responses.js'

const tags = ['keys']

export function keyRoutes(app: App, { catraca: { keys }, registry }: ServerContext): void {
  app.post(
    '/keys',
    {
      config: { scope: 'admin' },
      schema: {
        tags,
        operationId: 'createKey',
        summary: 'Create an API key; after the first one, every call needs a key',
        body: schemas.newKey,
        response: answers({ 201: { description: 'The key, shown only now', schema: schemas.createdKey } }),
      },
    },
    async (request, reply) => {
      const created = await keys.create(request.body)
      await registry.changed()
      reply.code(201).header('location', `/keys/${created.name}`)
      return created
    },
  )

  app.get(
    '/keys',
    {
      config: { scope: 'admin' },
      schema: {
        tags,
        operationId: 'listKeys',
        summary: 'List the API keys of the store',
        response: answers({
          200: { description: 'Without the keys themselves', schema: schemas.pageOf(schemas.apiKey) },
        }),
      },
    },
    async () => ({ items: await keys.list() }),
  )

  app.delete(
    '/keys/:name',
    {
      config: { scope: 'admin' },
      schema: {
        tags,
        operationId: 'revokeKey',
        summary: 'Revoke an API key',
        params: Type.Object({ name: Type.String() }, { additionalProperties: false }),
        response: answers204('Revoked'),
      },
    },
    async (request, reply) => {
      await keys.revoke(request.params.name)
      await registry.changed()
      return reply.code(204).send()
    },
  )
}
