import { invalid } from '../../../core/errors.js'
import { whenReady } from '../../../core/maybe-promise.js'
import { explainedWithin } from '../../../guards/allowlist/explainer.js'
import { CHECKS } from '../../../wire/allowlist/checks.js'
import { answerJson } from '../../direct/answer.js'
import { CheckFacts } from '../../direct/facts.js'
import type { ServerContext } from '../../http/context.js'
import { whilePresent } from '../../http/disconnect.js'
import type { App } from '../../http/instance.js'
import { addRoutes } from '../add-routes.js'

/** More take some milliseconds: other callers get their turns between two such requests. */
const PAIRS_AT_ONCE = 500

export function checkRoutes(app: App, context: ServerContext): void {
  const { catraca } = context
  const { allowlists } = catraca
  addRoutes(app, context, CHECKS, {
    checkCustomer: (request, reply) => {
      const { allowlists: lists, ...options } = request.query
      const facts = request.isLogged ? new CheckFacts(catraca) : undefined
      const pending = allowlists.checkNow(request.params.customerId, lists, options)
      facts?.asked()
      return whenReady(pending, (answer) => {
        request.check = facts?.fields(answer)
        reply.header('content-type', 'application/json; charset=utf-8')
        return reply.send(answerJson(answer))
      })
    },
    explainCheck: async ({ params, query, raw }) => {
      const { allowlists: lists, ...all } = query
      if (lists === undefined) return allowlists.explainAll(params.customerId, all)
      const [unused] = Object.keys(all)
      if (unused !== undefined) throw invalid(unused, 'belongs to an explanation of all lists')
      const explanation = await allowlists.explain(params.customerId, lists)
      const reach = context.gate.reach(raw, CHECKS.explainCheck.scope)
      return reach === undefined
        ? explanation
        : explainedWithin(explanation, (id) => reach.covers('lists', id))
    },
    checkCustomers: async ({ body, query, raw }, reply) => {
      const pairs = body.customerIds.length * body.allowlists.length
      if (pairs > PAIRS_AT_ONCE) await whilePresent(raw, context.bodies.turn(raw))
      const pause = () => whilePresent(raw, context.bodies.nextTurn(raw))
      const { results } = await allowlists.checkMany(body, query, pause)
      reply.header('content-type', 'application/json; charset=utf-8')
      return reply.send(`{"results":[${results.map(answerJson).join(',')}]}`)
    },
  })
}
