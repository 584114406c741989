import { CatracaError } from '../../../core/errors.js'
import { LONGEST_MINUTES, METRICS } from '../../../wire/server.js'
import type { ServerContext } from '../../http/context.js'
import type { App } from '../../http/instance.js'
import type { ServerMetrics } from '../../http/server-metrics.js'
import { addRoutes } from '../add-routes.js'

export function metricsRoutes(app: App, context: ServerContext): void {
  addRoutes(app, context, METRICS, {
    getMetrics: async (_request, reply) => {
      const metrics = switchedOn(context)
      reply.header('content-type', metrics.registry.contentType)
      return reply.serializer((text: unknown) => text as string).send(await metrics.text())
    },
    getSeries: async ({ query }) => switchedOn(context).series.read(query.minutes ?? LONGEST_MINUTES),
    getListTraffic: async ({ params, query }) => {
      const { traffic } = switchedOn(context)
      if (traffic === undefined) throw disabled()
      // Names that callers make up must not be counted.
      await context.catraca.allowlists.get(params.id)
      return traffic.read(params.id, query.minutes ?? LONGEST_MINUTES)
    },
  })
}

function switchedOn({ metrics }: ServerContext): ServerMetrics {
  if (metrics === undefined) throw disabled()
  return metrics
}

const disabled = (): CatracaError => new CatracaError('ROUTE_NOT_FOUND', 'metrics are disabled')
