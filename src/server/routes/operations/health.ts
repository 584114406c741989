import type { FastifyReply, FastifyRequest } from 'fastify'
import { CatracaError, isCatracaError } from '../../../core/errors.js'
import { version } from '../../../core/version.js'
import { HEALTH } from '../../../wire/server.js'
import type { ServerContext } from '../../http/context.js'
import { sendProblem } from '../../http/hooks.js'
import type { App } from '../../http/instance.js'
import { addRoutes } from '../add-routes.js'

/**
 * Responds while API keys cannot be read, so callers cannot be verified: only the state of the engines, without
 * details.
 */
async function sendUnreadKeys(
  error: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
  { catraca, settings }: ServerContext,
): Promise<void> {
  if (!isCatracaError(error, 'ENGINE_UNAVAILABLE')) return sendProblem(error, request, reply)
  const { engines } = await catraca.health({ timeoutMs: settings.healthTimeoutMs })
  const facts = { engines: engines.map(({ name, status }) => ({ name, status })) }
  sendProblem(new CatracaError(error.code, error.message, { facts }), request, reply)
}

export function operationRoutes(app: App, context: ServerContext): void {
  const { catraca, settings } = context
  addRoutes(
    app,
    context,
    HEALTH,
    {
      live: () => ({ status: 'live' }),
      ready: (_request, reply) => {
        const status = context.stopping ? 'stopping' : settings.ready() ? 'ready' : 'starting'
        reply.code(status === 'ready' ? 200 : 503)
        return { status }
      },
      health: async (_request, reply) => {
        const { status, engines } = await catraca.health({ timeoutMs: settings.healthTimeoutMs })
        reply.code(status === 'healthy' ? 200 : 503)
        return {
          status,
          timestamp: new Date().toISOString(),
          uptime: process.uptime(),
          version,
          store: catraca.store,
          engines,
          cache: catraca.stats(),
        }
      },
    },
    {
      live: { exposeHeadRoute: true },
      ready: { exposeHeadRoute: true },
      health: { errorHandler: (error, request, reply) => sendUnreadKeys(error, request, reply, context) },
    },
  )
  app.get('/', { config: { scope: 'open' }, schema: { hide: true } }, async () => ({
    name: 'catraca',
    version,
    links: {
      console: '/console',
      docs: '/docs',
      openapi: '/openapi.json',
      health: '/health',
      ready: '/ready',
      live: '/live',
    },
  }))
}
