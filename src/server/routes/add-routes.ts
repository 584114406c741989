import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { closed, Problem, reasonHeader, shared } from '../../wire/common.js'
import {
  type Answer,
  type AnswerType,
  type BodyOf,
  type HeadersOf,
  isAudited,
  type Operation,
  type Operations,
  type ParamsOf,
  type QueryOf,
} from '../../wire/operation.js'
import { type TProperties, Type } from '../../wire/typebox.js'
import { splitLists } from '../direct/query.js'
import type { DirectRoutes } from '../direct/routes.js'
import type { ServerContext } from '../http/context.js'
import type { App } from '../http/instance.js'

export type RequestOf<O> = FastifyRequest<{
  Params: ParamsOf<O>
  Querystring: QueryOf<O>
  Headers: HeadersOf<O>
  Body: BodyOf<O>
}>

/** What a handler returns, or `reply` after it has sent the answer. */
type Returned<O extends Operation> =
  | AnswerType<O['answers'][keyof O['answers']], FastifyReply, void>
  | FastifyReply

/** A function for every operation of a group. */
type Handlers<Group extends Operations> = {
  readonly [Id in keyof Group]: (
    request: RequestOf<Group[Id]>,
    reply: FastifyReply,
  ) => Returned<Group[Id]> | Promise<Returned<Group[Id]>>
}

/** Adds the routes of a group of operations. `special` are options of single routes for the framework. */
export function addRoutes<Group extends Operations>(
  app: App,
  { settings, direct }: ServerContext,
  group: Group,
  handlers: Handlers<Group>,
  special: { readonly [Id in keyof Group]?: Partial<RouteOptions> } = {},
): void {
  for (const [id, operation] of Object.entries(group)) {
    const [method, url] = operation.route.split(' ') as [string, string]
    const handler = handlers[id] as unknown as RouteOptions['handler']
    // Handlers need not set the only status of success that there is.
    const status = Math.min(...Object.keys(operation.answers).map(Number))
    direct.add(operation, status, handler as Parameters<DirectRoutes['add']>[2])
    app.route({
      method,
      url,
      config: { scope: operation.scope, reach: operation.reach, ...operation.rules },
      schema: { tags: [operation.tag], operationId: id, summary: operation.summary, ...schemasOf(operation) },
      handler: withStatus(status, handler),
      ...(operation.hasLargeBody && { bodyLimit: settings.bodyLimitBytes }),
      ...beforeValidation(operation),
      ...special[id],
    } as RouteOptions)
  }
}

function withStatus(status: number, handler: RouteOptions['handler']): RouteOptions['handler'] {
  if (status === 200) return handler
  return function (request, reply) {
    reply.code(status)
    return handler.call(this, request, reply)
  }
}

const listsIn = (query: TProperties = {}): string[] =>
  Object.keys(query).filter((name) => (query[name] as { type?: string }).type === 'array')

function schemasOf({ route, scope, rules, params, query, headers: own, body, consumes, answers }: Operation) {
  const hasReason = isAudited(route.split(' ')[0]!, scope, rules?.audited)
  const headers = hasReason ? { ...own, ...reasonHeader } : own
  const known = rules?.isLiberal ? {} : closed
  const inQuery = listsIn(query).length > 0 ? { ...known, style: 'form', explode: false } : known
  return {
    ...(params && { params: Type.Object(params, closed) }),
    ...(query && { querystring: Type.Object(query, inQuery) }),
    // Other headers are ignored.
    ...(headers && { headers: Type.Object(headers) }),
    ...(body && { body }),
    ...(consumes && { consumes }),
    response: {
      ...Object.fromEntries(Object.entries(answers).map(([status, answer]) => [status, responseOf(answer)])),
      // Every route can send problems.
      '4xx': problem('Refused'),
      '5xx': problem('Failed'),
    },
  }
}

function responseOf(answer: Answer): unknown {
  if (typeof answer === 'string') return { type: 'null', description: answer }
  const [description, body] = answer
  const content = Array.isArray(body)
    ? Object.fromEntries(body.map((mediaType) => [mediaType, { schema: Type.String() }]))
    : { 'application/json': { schema: body } }
  return { description, content }
}

const problem = (description: string) => ({
  description,
  content: { 'application/problem+json': { schema: shared(Problem) } },
})

/** Brings a request into the form that the schemas require. */
function beforeValidation({ query, bodyMayBeAbsent }: Operation): Partial<RouteOptions> {
  const lists = listsIn(query)
  if (lists.length === 0 && !bodyMayBeAbsent) return {}
  const preValidation: RouteOptions['preValidation'] = (request, _reply, done) => {
    if (bodyMayBeAbsent && request.body === undefined) request.body = {}
    const given = request.query as Record<string, unknown>
    for (const name of lists) {
      if (given[name] !== undefined) given[name] = splitLists(given[name] as string | string[])
    }
    done()
  }
  return { preValidation }
}
