import type { FastifyRequest } from 'fastify'
import { answerJson } from '../../check/answer.js'
import { CheckFacts } from '../../check/facts.js'
import { splitLists } from '../../check/query.js'
import type { App, ServerContext } from '../../http/context.js'
import { CHECK_ROUTE } from '../../http/server-metrics.js'
import { Type } from '../../http/typebox.js'
import { answers, shared } from '../responses.js'
import * as schemas from './schemas.js'

const tags = ['checks']
const closed = { additionalProperties: false } as const
const freshness = {
  consistency: Type.Optional(schemas.oneOf(['strong'], '`strong`: read the store, not memory')),
  atLeast: Type.Optional(Type.String({ description: 'Token of a write that the check must see' })),
}

const asked = Type.Array(Type.String(), { description: '1 to 100 ids, comma-separated or repeated' })
const comma = { ...closed, style: 'form', explode: false } as const

/** Runs before the schema, which requires an array. */
const splitQuery = (request: FastifyRequest, _reply: unknown, done: () => void): void => {
  const query = request.query as { allowlists?: unknown }
  if (query.allowlists !== undefined) query.allowlists = splitLists(query.allowlists as string | string[])
  done()
}

export function checkRoutes(app: App, { catraca, settings }: ServerContext): void {
  const { allowlists } = catraca
  app.get(
    CHECK_ROUTE,
    {
      config: { scope: 'check' },
      schema: {
        tags,
        operationId: 'checkCustomer',
        summary: 'May this customer pass?',
        params: Type.Object({ customerId: schemas.customerId }, closed),
        querystring: Type.Object({ allowlists: asked, ...freshness }, comma),
        response: answers({
          200: { description: 'The answer, list by list', schema: shared('CheckAnswer') },
        }),
      },
      preValidation: splitQuery,
    },
    async (request, reply) => {
      const { allowlists: lists, ...options } = request.query
      const facts = new CheckFacts(catraca)
      const pending = allowlists.check(request.params.customerId, lists, options)
      facts.asked()
      const answer = await pending
      request.check = facts.fields(answer)
      reply.header('content-type', 'application/json; charset=utf-8')
      return reply.send(answerJson(answer) as never)
    },
  )

  app.get(
    '/customers/:customerId/explain',
    {
      config: { scope: 'read' },
      schema: {
        tags,
        operationId: 'explainCheck',
        summary: 'May this customer pass, and why?',
        params: Type.Object({ customerId: schemas.customerId }, closed),
        querystring: Type.Object({ allowlists: asked }, comma),
        response: answers({ 200: { description: 'The answer, step by step', schema: schemas.explanation } }),
      },
      preValidation: splitQuery,
    },
    (request) => allowlists.explain(request.params.customerId, request.query.allowlists),
  )

  app.post(
    '/check',
    {
      config: { scope: 'check' },
      bodyLimit: settings.bodyLimitBytes,
      schema: {
        tags,
        operationId: 'checkCustomers',
        summary: 'May these customers pass?',
        querystring: Type.Object(freshness, closed),
        body: schemas.checkManyQuestion,
        response: answers({
          200: {
            description: 'The answers, customer by customer',
            schema: Type.Object({ results: Type.Array(shared('CheckAnswer')) }, closed),
          },
        }),
      },
    },
    async (request, reply) => {
      const { results } = await allowlists.checkMany(request.body, request.query)
      reply.header('content-type', 'application/json; charset=utf-8')
      return reply.send(`{"results":[${results.map(answerJson).join(',')}]}` as never)
    },
  )
}
