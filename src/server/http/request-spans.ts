import type { App, ServerContext } from './context.js'

/** A span for each request that comes to a route. Nothing is added where nobody collects them. */
export function addTracing(app: App, { catraca }: ServerContext): void {
  const { spans } = catraca.tracing
  if (spans === undefined) return
  app.addHook('onRequest', (request, reply, done) => {
    // The pattern and not the path, which names customers.
    const span = spans.request(request.method, request.routeOptions.url ?? 'none', request.headers)
    // Also for answers that leave without the framework, and callers who hang up.
    reply.raw.once('close', () => span.answered(reply.raw.statusCode))
    span.run(done)
  })
}
