import type { FastifyReply, FastifyRequest } from 'fastify'
import { CatracaError, isCatracaError } from '../../../core/errors.js'
import { version } from '../../../core/version.js'
import type { App, ServerContext } from '../../http/context.js'
import { sendProblem } from '../../http/hooks.js'
import { Type } from '../../http/typebox.js'
import { answers } from '../responses.js'

const tags = ['operations']

const state = Type.Object({ status: Type.String() }, { additionalProperties: false })
const health = Type.Object(
  {
    status: Type.String(),
    timestamp: Type.String(),
    uptime: Type.Number({ description: 'Seconds' }),
    version: Type.String(),
    store: Type.String(),
    engines: Type.Array(
      Type.Object({ name: Type.String(), status: Type.String() }, { additionalProperties: true }),
    ),
  },
  { additionalProperties: true },
)

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
  app.get(
    '/live',
    {
      config: { scope: 'open', always: true },
      exposeHeadRoute: true,
      schema: {
        tags,
        operationId: 'live',
        summary: 'Is the process alive?',
        response: answers({ 200: { description: 'Yes', schema: state } }),
      },
    },
    async () => ({ status: 'live' }),
  )

  app.get(
    '/ready',
    {
      config: { scope: 'open', always: true },
      exposeHeadRoute: true,
      schema: {
        tags,
        operationId: 'ready',
        summary: 'Should the server get requests?',
        response: answers({
          200: { description: 'Yes', schema: state },
          503: { description: 'Not yet, or no longer', schema: state },
        }),
      },
    },
    async (_request, reply) => {
      const status = context.stopping ? 'stopping' : context.settings.ready() ? 'ready' : 'starting'
      reply.code(status === 'ready' ? 200 : 503)
      return { status }
    },
  )

  app.get(
    '/health',
    {
      config: { scope: 'read', operating: true },
      errorHandler: (error, request, reply) => sendUnreadKeys(error, request, reply, context),
      schema: {
        tags,
        operationId: 'health',
        summary: 'State of every engine',
        response: answers({
          200: { description: 'The server can serve', schema: health },
          503: { description: 'The server cannot serve', schema: health },
        }),
      },
    },
    async (_request, reply) => {
      const { status, engines } = await context.catraca.health({
        timeoutMs: context.settings.healthTimeoutMs,
      })
      reply.code(status === 'healthy' ? 200 : 503)
      const { store } = context.catraca
      return {
        status,
        timestamp: new Date().toISOString(),
        uptime: process.uptime(),
        version,
        store,
        engines,
        cache: context.catraca.stats(),
      }
    },
  )

  app.get(
    '/',
    {
      config: { scope: 'open' },
      schema: { hide: true },
    },
    async () => ({
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
    }),
  )
}
