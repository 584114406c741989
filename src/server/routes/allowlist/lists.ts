import type { FastifyReply } from 'fastify'
import { CatracaError, invalid } from '../../../core/errors.js'
import type { Allowlist } from '../../../guards/allowlist/types.js'
import { LISTS } from '../../../wire/allowlist/lists.js'
import type { ServerContext } from '../../http/context.js'
import type { App } from '../../http/instance.js'
import { addRoutes } from '../add-routes.js'
import { visiblePage } from '../visible-page.js'

export function allowlistRoutes(app: App, context: ServerContext): void {
  const { allowlists } = context.catraca
  addRoutes(app, context, LISTS, {
    createAllowlist: async (request, reply) => {
      const list = await allowlists.create(request.body)
      reply.header('location', `/allowlists/${list.id}`)
      return versioned(reply, list)
    },
    listAllowlists: ({ query, raw }) => {
      const reach = context.gate.reach(raw, 'read')
      if (reach === undefined) return allowlists.list(query)
      // Without the total, which would count those of others.
      return visiblePage(
        context,
        query,
        (page) => allowlists.list(page),
        ({ id }) => reach.covers('lists', id),
      )
    },
    getAllowlist: async ({ params }, reply) => versioned(reply, await allowlists.get(params.id)),
    listUses: async ({ params, raw }) => {
      const reach = context.gate.reach(raw, 'read')
      const items = await allowlists.usedBy(params.id)
      return { items: items.filter(({ allowlistId }) => reach?.covers('lists', allowlistId) ?? true) }
    },
    updateAllowlist: async ({ params, body, headers }, reply) =>
      versioned(reply, await allowlists.update(params.id, body, precondition(headers))),
    pauseAllowlist: async ({ params }, reply) => versioned(reply, await allowlists.pause(params.id)),
    resumeAllowlist: async ({ params, body, headers }, reply) =>
      versioned(reply, await allowlists.resume(params.id, { ...precondition(headers), ...body })),
    deleteAllowlist: ({ params }) => allowlists.delete(params.id),
    changeAllowlists: ({ body }) => allowlists.changeAll(body.changes),
  })
}

/** Sends a list with its version as ETag, for `If-Match`. */
function versioned(reply: FastifyReply, list: Allowlist): Allowlist {
  reply.header('etag', `"${list.version}"`)
  return list
}

/** Parses `"3"`, also `3` and `W/"3"`. `*` sets no condition, because a missing list is a 404 anyway. */
function precondition(headers: { 'if-match'?: string | undefined }): { ifVersion?: number } {
  const value = headers['if-match']?.trim()
  if (value === undefined || value === '*') return {}
  const version = /^(?:(?:W\/)?"(\d{1,15})"|(\d{1,15}))$/.exec(value)
  if (version !== null) return { ifVersion: Number(version[1] ?? version[2]) }
  if (/^(?:W\/)?"[^"]*"$/.test(value)) {
    throw new CatracaError('VERSION_MISMATCH', 'If-Match is not a version of an allowlist')
  }
  throw invalid('If-Match', 'must be one version in quotes, or *')
}
