import { MEMBERS } from '../../../wire/allowlist/members.js'
import type { ServerContext } from '../../http/context.js'
import type { App } from '../../http/instance.js'
import { addRoutes } from '../add-routes.js'
import { visiblePage } from '../visible-page.js'

export function memberRoutes(app: App, context: ServerContext): void {
  const { allowlists } = context.catraca
  addRoutes(app, context, MEMBERS, {
    addMember: async ({ params, body }, reply) => {
      const result = await allowlists.add(params.id, params.customerId, body)
      reply.code(result.added ? 201 : 200)
      return result
    },
    removeMember: ({ params }) => allowlists.remove(params.id, params.customerId),
    getMember: ({ params }) => allowlists.member(params.id, params.customerId),
    listMembers: ({ params, query }) => allowlists.members(params.id, query),
    listAllowlistsOfCustomer: ({ params, query, raw }) => {
      const read = (page: typeof query) => allowlists.listsOf(params.customerId, page)
      const reach = context.gate.reach(raw, 'read')
      if (reach === undefined) return read(query)
      return visiblePage(context, query, read, ({ allowlistId }) => reach.covers('lists', allowlistId))
    },
  })
}
