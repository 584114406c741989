import type { FastifyReply, FastifyRequest } from 'fastify'
import { CatracaError, invalid } from '../../core/errors.js'
import { Type } from '../../wire/typebox.js'
import { isRepeated } from '../access/repeated-header.js'
import type { CheckFields } from '../direct/facts.js'
import { recordActors } from './actors.js'
import type { ServerContext } from './context.js'
import { answerSender, isStillSending } from './drain.js'
import { EVERY_ANSWER } from './every-answer.js'
import type { App } from './instance.js'
import { loggedCaller } from './logged-caller.js'
import { isServerFault, renderProblem } from './problem.js'
import type { RouteEntry } from './routes-page.js'

/** Adds the hooks of all routes. Returns the list of routes, which grows as they are registered. */
export function addHooks(app: App, context: ServerContext): readonly RouteEntry[] {
  const routes = collectRoutes(app)
  recordActors(app, context)
  const { metrics, accessLog } = context
  app.decorateRequest('isLogged', false)
  app.decorateRequest('route', undefined)
  app.addHook('onRequest', (request, reply, done) => {
    request.isLogged = accessLog.samples()
    request.route = request.routeOptions
    reply.header('x-request-id', request.id)
    reply.headers(EVERY_ANSWER)
    // Checked before a body is read: a client must not upload to an unknown route, or without a key.
    const decide = () => {
      const refused = refusal(request, context) ?? (request.is404 ? nowhere(request) : undefined)
      // Only now: a client that asks before it sends its body gets the refusal instead.
      if (refused === undefined && isAsking(request)) reply.raw.writeContinue()
      return refused
    }
    const visit = visitOf(request, context)
    if (visit === undefined) done(decide())
    else visit.then(() => done(decide()), done)
  })
  app.addHook('onResponse', (request, reply, done) => {
    const { statusCode: status } = reply
    metrics?.http.add(request.method, routeOf(request), status, reply.elapsedTime)
    if (request.isLogged || isServerFault(status)) logAccess(request, reply, context)
    done()
  })
  app.setErrorHandler((error, request, reply) => sendProblem(error, request, reply))
  app.setNotFoundHandler((request, reply) => sendProblem(nowhere(request), request, reply))
  return routes
}

/** Looks up the session that came with the request, where one may decide. */
function visitOf({ raw, route }: FastifyRequest, { signIn, gate }: ServerContext): Promise<void> | undefined {
  const scope = route?.config.scope
  if (signIn === undefined || scope === undefined || scope === 'open' || !signIn.hasSession(raw))
    return undefined
  return signIn.visitor(raw).then((visitor) => gate.visited(raw, visitor))
}

/** The pattern of the route. */
const routeOf = (request: FastifyRequest): string => (request.route ?? request.routeOptions).url ?? 'none'

function nowhere(request: FastifyRequest): CatracaError {
  return new CatracaError('ROUTE_NOT_FOUND', `there is no ${request.method} ${pathOf(request.url)}`)
}

const pathOf = (url: string): string => url.split('?', 1)[0]!

const NO_PARAMETERS = Type.Object({}, { additionalProperties: false })

/** Collects the routes, and throws for a route without a scope. */
function collectRoutes(app: App): RouteEntry[] {
  const routes: RouteEntry[] = []
  app.addHook('onRoute', (route) => {
    // The plugin that serves the documentation pages knows nothing of scopes.
    if (route.url === '/docs' || route.url.startsWith('/docs/'))
      route.config = { ...route.config, scope: 'open' }
    const { scope, orAdmin = false } = route.config ?? {}
    if (scope === undefined) throw new Error(`${route.method} ${route.url} has no scope`)
    // Parameters that nobody reads are a mistake of the caller's. Pages and probes are asked for by others than callers.
    if (scope !== 'open') route.schema = { querystring: NO_PARAMETERS, ...route.schema }
    if ((route.schema as { hide?: boolean } | undefined)?.hide) return
    const summary = (route.schema as { summary?: string } | undefined)?.summary
    for (const method of [route.method].flat())
      routes.push({ method, path: route.url, scope, orAdmin, summary })
  })
  return routes
}

function refusal(request: FastifyRequest, context: ServerContext): Error | undefined {
  const { scope, orAdmin, always, operating } = request.route!.config
  if (isRepeated(request.raw, 'host')) return invalid('Host', 'must come once')
  if (request.raw.httpVersion === '1.1') {
    const { host, expect } = request.headers
    if (host === undefined) return invalid('Host', 'is required')
    if (expect !== undefined && !CONTINUE.test(expect)) return expectationFailed()
  }
  if (always || request.is404) return undefined
  if (context.stopping) return new CatracaError('SHUTTING_DOWN', 'the server is stopping')
  if (scope === undefined || scope === 'open') return context.gate.openRefusal(request.raw)
  const { gate } = context
  const refused = gate.refusal(request.raw, scope, operating)
  const isAdmin = refused !== undefined && orAdmin && gate.refusal(request.raw, 'admin') === undefined
  return isAdmin ? undefined : refused
}

/** Whether the client waits for `100 Continue`. Other expectations are refused. */
const isAsking = ({ raw, headers }: FastifyRequest): boolean =>
  headers.expect !== undefined && raw.httpVersion === '1.1'

/** As Node reads it. */
const CONTINUE = /(?:^|\W)100-continue(?:$|\W)/i

/** No code has this status. */
function expectationFailed(): Error {
  return Object.assign(new Error('Expect must be 100-continue'), { statusCode: 417 })
}

/** Answers with what went wrong. */
export function sendProblem(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const problem = renderProblem(error, request.id)
  const headers = { ...problem.headers, 'x-request-id': request.id }
  request.error = error
  if (isStillSending(request.raw)) {
    reply.hijack()
    // In the same order as otherwise.
    const inOrder = { 'x-request-id': request.id, ...EVERY_ANSWER, ...problem.headers }
    answerSender(request.raw, reply.raw, { ...problem, headers: inOrder })
    return
  }
  // Fastify adds `connection: close` after a bad body; it is not needed.
  if (reply.hasHeader('connection')) reply.removeHeader('connection')
  reply.code(problem.status).headers(headers).send(problem.body)
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The error behind the response, for the log. */
    error?: unknown
    /** Fastify makes a new object whenever it is asked for the options of the route: this is the first one. */
    route: FastifyRequest['routeOptions'] | undefined
    /** Whether this request is in the sample that the access log shows. */
    isLogged: boolean
    /** How a check was answered, for the log. */
    check?: CheckFields | undefined
  }
}

function logAccess(request: FastifyRequest, reply: FastifyReply, { accessLog, gate }: ServerContext): void {
  accessLog.write({
    requestId: request.id,
    method: request.method,
    route: routeOf(request),
    status: reply.statusCode,
    latencyMs: reply.elapsedTime,
    check: request.check,
    customerId: (request.params as { customerId?: string } | undefined)?.customerId,
    ...loggedCaller(gate.principal(request.raw)),
    error: request.error,
  })
}
