import type { ServerContext } from './context.js'
import type { App } from './instance.js'

/** Creates a span for each request that reaches a route. Adds no hook when no tracing is registered. */
export function addTracing(app: App, { catraca }: ServerContext): void {
  const { spans } = catraca.tracing
  if (spans === undefined) return
  app.addHook('onRequest', (request, reply, done) => {
    // The route pattern, not the path, which contains customer ids.
    const span = spans.request(request.method, request.routeOptions.url ?? 'none', request.headers)
    // Also fires for responses that are sent without the framework, and for clients that disconnect.
    reply.raw.once('close', () => span.answered(reply.raw.statusCode))
    span.run(done)
  })
}
