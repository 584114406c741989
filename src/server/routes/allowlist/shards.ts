import type { ReshardStatus } from '../../../guards/allowlist/types.js'
import type { App, ServerContext } from '../../http/context.js'
import { Type } from '../../http/typebox.js'
import { answers } from '../responses.js'
import * as schemas from './schemas.js'

const tags = ['allowlists']
const params = Type.Object({ id: schemas.listId }, { additionalProperties: false })
const body = Type.Object({ shards: Type.Integer() }, { additionalProperties: false })

/** The shards of a list, for engines that split lists. */
export function shardRoutes(app: App, { catraca: { allowlists } }: ServerContext): void {
  app.get(
    '/allowlists/:id/reshard',
    {
      config: { scope: 'read' },
      schema: {
        tags,
        operationId: 'getShards',
        summary: 'Read the shards of an allowlist, and the progress of a move',
        params,
        response: answers({ 200: { description: 'Its shards', schema: schemas.reshardStatus } }),
      },
    },
    (request) => allowlists.resharding(request.params.id),
  )

  app.post(
    '/allowlists/:id/reshard',
    {
      config: { scope: 'admin' },
      schema: {
        tags,
        operationId: 'reshardAllowlist',
        summary: 'Move an allowlist to another number of shards, while checks continue',
        params,
        body,
        response: answers({
          200: {
            description: 'The allowlist has this number of shards already',
            schema: schemas.reshardStatus,
          },
          202: { description: 'The move has started', schema: schemas.reshardStatus },
        }),
      },
    },
    async (request, reply) => {
      const { id } = request.params
      // Refusals are returned in the response; later failures go to the log.
      const begun = new Promise<ReshardStatus | undefined>((resolve, reject) => {
        allowlists.reshard(id, request.body.shards, { onProgress: resolve }).then(
          () => resolve(undefined),
          (error: unknown) => {
            request.log.error(
              { err: error, requestId: request.id },
              'moving an allowlist to other shards failed',
            )
            reject(error)
          },
        )
      })
      const moving = await begun
      reply.code(moving === undefined ? 200 : 202).header('location', `/allowlists/${id}/reshard`)
      return moving ?? allowlists.resharding(id)
    },
  )
}
