import { CatracaError } from '../../errors.js'
import type { App, ServerContext } from '../context.js'

export function metricsRoutes(app: App, { metrics }: ServerContext): void {
  app.get(
    '/metrics',
    {
      config: { scope: 'read' },
      schema: {
        tags: ['operations'],
        summary: 'Metrics for Prometheus',
        produces: ['text/plain'],
      },
    },
    async (_request, reply) => {
      if (metrics === undefined) throw new CatracaError('ROUTE_NOT_FOUND', 'metrics are switched off')
      reply.header('content-type', metrics.registry.contentType)
      return reply.send((await metrics.text()) as never)
    },
  )
}
