import { CatracaError } from '../../../core/errors.js'
import type { App, ServerContext } from '../../http/context.js'
import type { ServerMetrics } from '../../http/server-metrics.js'
import { Type } from '../../http/typebox.js'
import { answers } from '../responses.js'

const tags = ['operations']
const LONGEST_MINUTES = 60

const series = Type.Object({
  stepSeconds: Type.Number(),
  from: Type.String({ description: 'When the first step began' }),
  points: Type.Record(Type.String(), Type.Array(Type.Union([Type.Number(), Type.Null()])), {
    description: 'Oldest first; null when there was nothing to measure',
  }),
})

export function metricsRoutes(app: App, context: ServerContext): void {
  app.get(
    '/metrics',
    {
      config: { scope: 'read', operating: true },
      schema: {
        tags,
        operationId: 'getMetrics',
        summary: 'Metrics for Prometheus',
        response: answers({
          200: { description: 'The text format of Prometheus', schema: Type.String(), type: 'text/plain' },
        }),
      },
    },
    async (_request, reply) => {
      const metrics = switchedOn(context)
      reply.header('content-type', metrics.registry.contentType)
      return reply.serializer((text: unknown) => text as string).send(await metrics.text())
    },
  )

  app.get(
    '/stats/series',
    {
      config: { scope: 'read' },
      schema: {
        tags,
        operationId: 'getSeries',
        summary: 'Figures of this process over the last hour, in steps of 5 s',
        querystring: Type.Object(
          {
            minutes: Type.Optional(
              Type.Integer({ minimum: 1, maximum: LONGEST_MINUTES, default: LONGEST_MINUTES }),
            ),
          },
          { additionalProperties: false },
        ),
        response: answers({ 200: { description: 'Its figures', schema: series } }),
      },
    },
    async (request) => switchedOn(context).series.read(request.query.minutes ?? LONGEST_MINUTES),
  )
}

function switchedOn({ metrics }: ServerContext): ServerMetrics {
  if (metrics === undefined) throw new CatracaError('ROUTE_NOT_FOUND', 'metrics are disabled')
  return metrics
}
