import type { ReshardStatus } from '../../../guards/allowlist/types.js'
import { SHARDS } from '../../../wire/allowlist/lists.js'
import type { ServerContext } from '../../http/context.js'
import type { App } from '../../http/instance.js'
import { addRoutes } from '../add-routes.js'

export function shardRoutes(app: App, context: ServerContext): void {
  const { allowlists } = context.catraca
  addRoutes(app, context, SHARDS, {
    getShards: ({ params }) => allowlists.resharding(params.id),
    reshardAllowlist: async (request, reply) => {
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
  })
}
