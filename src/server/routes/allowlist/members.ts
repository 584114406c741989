import type { App, ServerContext } from '../../http/context.js'
import { Type } from '../../http/typebox.js'
import { answers, shared } from '../responses.js'
import * as schemas from './schemas.js'

const tags = ['members']
const closed = { additionalProperties: false } as const
const listParams = Type.Object({ id: schemas.listId }, closed)
const memberParams = Type.Object({ id: schemas.listId, customerId: schemas.customerId }, closed)
const customerParams = Type.Object({ customerId: schemas.customerId }, closed)

export function memberRoutes(app: App, { catraca: { allowlists } }: ServerContext): void {
  app.put(
    '/allowlists/:id/customers/:customerId',
    {
      config: { scope: 'admin' },
      schema: {
        tags,
        operationId: 'addMember',
        summary: 'Add a customer, or replace the attributes of a member',
        params: memberParams,
        body: schemas.memberInput,
        response: answers({
          200: { description: 'Was already a member', schema: schemas.addResult },
          201: { description: 'Added', schema: schemas.addResult },
        }),
      },
      // Without attributes, most clients send no body at all.
      preValidation: (request, _reply, done) => {
        if (request.body === undefined) request.body = {}
        done()
      },
    },
    async (request, reply) => {
      const { id, customerId } = request.params
      const result = await allowlists.add(id, customerId, request.body)
      reply.code(result.added ? 201 : 200)
      return result
    },
  )

  app.delete(
    '/allowlists/:id/customers/:customerId',
    {
      config: { scope: 'admin' },
      schema: {
        tags,
        operationId: 'removeMember',
        summary: 'Remove a customer',
        params: memberParams,
        response: answers({
          200: { description: 'Removed, or was not a member', schema: schemas.removeResult },
        }),
      },
    },
    (request) => allowlists.remove(request.params.id, request.params.customerId),
  )

  app.get(
    '/allowlists/:id/customers/:customerId',
    {
      config: { scope: 'read' },
      schema: {
        tags,
        operationId: 'getMember',
        summary: 'Read a member',
        params: memberParams,
        response: answers({ 200: { description: 'The member', schema: shared('Member') } }),
      },
    },
    (request) => allowlists.member(request.params.id, request.params.customerId),
  )

  app.get(
    '/allowlists/:id/customers',
    {
      config: { scope: 'read' },
      schema: {
        tags,
        operationId: 'listMembers',
        summary: 'List the members of an allowlist',
        params: listParams,
        querystring: schemas.pageQuery,
        response: answers({
          200: { description: 'A page of members', schema: schemas.pageOf(shared('Member')) },
        }),
      },
    },
    (request) => allowlists.members(request.params.id, request.query),
  )

  app.get(
    '/customers/:customerId/allowlists',
    {
      config: { scope: 'read' },
      schema: {
        tags,
        operationId: 'listAllowlistsOfCustomer',
        summary: 'List the FIXA allowlists that a customer is on',
        params: customerParams,
        querystring: schemas.pageQuery,
        response: answers({
          200: { description: 'A page of allowlists', schema: schemas.pageOf(schemas.customerAllowlist) },
        }),
      },
    },
    (request) => allowlists.listsOf(request.params.customerId, request.query),
  )
}
