import type { OpenSpan } from '../tracing.js'
import type { App, ServerContext } from './context.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** Where traces are collected. */
    span?: OpenSpan
  }
}

/** A span for each request that comes to a route. Nothing is added where nobody collects them. */
export function addTracing(app: App, { catraca }: ServerContext): void {
  const { spans } = catraca.tracing
  if (spans === undefined) return
  app.addHook('onRequest', (request, reply, done) => {
    // The pattern and not the path, which names customers.
    const span = spans.request(request.method, request.routeOptions.url ?? 'none', request.headers)
    request.span = span
    // Also for answers that leave without the framework, and callers who hang up.
    reply.raw.once('close', () => span.answered(reply.raw.statusCode))
    span.run(done)
  })
  // A body comes by events of the connection, which know nothing of what was going on before.
  app.addHook('preHandler', (request, _reply, done) => {
    if (request.span === undefined) done()
    else request.span.run(done)
  })
}
