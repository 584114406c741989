import { CHECKS } from '../../../wire/allowlist/checks.js'
import { answerJson } from '../../check/answer.js'
import { CheckFacts } from '../../check/facts.js'
import type { App, ServerContext } from '../../http/context.js'
import { addRoutes } from '../add-routes.js'

/** More take some milliseconds: other callers get their turns between two such requests. */
const PAIRS_AT_ONCE = 500

export function checkRoutes(app: App, context: ServerContext): void {
  const { catraca } = context
  const { allowlists } = catraca
  addRoutes(app, context, CHECKS, {
    checkCustomer: async (request, reply) => {
      const { allowlists: lists, ...options } = request.query
      const facts = new CheckFacts(catraca)
      const pending = allowlists.check(request.params.customerId, lists, options)
      facts.asked()
      const answer = await pending
      request.check = facts.fields(answer)
      reply.header('content-type', 'application/json; charset=utf-8')
      return reply.send(answerJson(answer))
    },
    explainCheck: ({ params, query }) => allowlists.explain(params.customerId, query.allowlists),
    checkCustomers: async ({ body, query }, reply) => {
      if (body.customerIds.length * body.allowlists.length > PAIRS_AT_ONCE) await context.bodies.turn()
      const { results } = await allowlists.checkMany(body, query)
      reply.header('content-type', 'application/json; charset=utf-8')
      return reply.send(`{"results":[${results.map(answerJson).join(',')}]}`)
    },
  })
}
