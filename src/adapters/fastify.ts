import { askLimits, checkOptions, type RateLimitOptions, releaseAtEnd } from './rate-limit.js'
import { markRefused } from './refused.js'
import { askTokens, checkTokenOptions, type RevokedTokensOptions } from './token-denylist.js'

export { idempotencyContext } from './idempotency.js'
export { idempotency } from './idempotency-fastify.js'

/** The part of Fastify that is used, so that no particular version is needed. */
interface Reply {
  raw: Parameters<typeof releaseAtEnd>[0]
  headers(headers: Record<string, string>): unknown
  code(status: number): { send(body: string): unknown }
}

interface App<Request> {
  addHook(name: 'preHandler', hook: (request: Request, reply: Reply) => Promise<unknown>): unknown
}

/** A plugin that rate-limits every route of the scope in which it is registered. */
export function rateLimit<Request extends { id: string }>(
  options: RateLimitOptions<Request>,
): (app: App<Request>) => Promise<void> {
  checkOptions(options)
  const plugin = async (app: App<Request>): Promise<void> => {
    app.addHook('preHandler', async (request, reply) => {
      const gate = await askLimits(options, request, request.id)
      reply.headers(gate.headers)
      if (!gate.pass) {
        markRefused(request)
        return reply.code(gate.status).send(gate.body)
      }
      releaseAtEnd(reply.raw, gate.release)
      return undefined
    })
  }
  return inTheOpen(plugin)
}

/**
 * A plugin that refuses revoked tokens on every route of its scope. Register it after the hook that verifies the
 * signature.
 */
export function revokedTokens<Request extends { id: string }>(
  options: RevokedTokensOptions<Request>,
): (app: App<Request>) => Promise<void> {
  checkTokenOptions(options)
  const plugin = async (app: App<Request>): Promise<void> => {
    app.addHook('preHandler', async (request, reply) => {
      const gate = await askTokens(options, request, request.id)
      if (gate.pass) return undefined
      reply.headers(gate.headers)
      return reply.code(gate.status).send(gate.body)
    })
  }
  return inTheOpen(plugin)
}

/** Without this, Fastify would apply the hook only inside the plugin. */
const inTheOpen = <Plugin extends object>(plugin: Plugin): Plugin =>
  Object.assign(plugin, { [Symbol.for('skip-override')]: true })
