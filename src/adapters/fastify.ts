import type { FastifyPluginAsync, FastifyRequest } from 'fastify'
import { type AllowOptions, RequestAllowlists } from './allowlist.js'
import type { Gate } from './gate.js'
import { type RateLimitOptions, RequestLimits } from './rate-limit.js'
import { markRefused } from './refused.js'
import { tellEnd } from './response-end.js'
import { RequestTokens, type RevokedTokensOptions } from './token-denylist.js'

export type { AllowOptions } from './allowlist.js'
export { forwardedFor } from './client-address.js'
export type { DenialResponse } from './gate.js'
export { type IdempotencyOptions, idempotencyContext } from './idempotency.js'
export { idempotency } from './idempotency-fastify.js'
export type { RateLimitOptions } from './rate-limit.js'
export type { RevokedTokensOptions, TokenClaims } from './token-denylist.js'

/** When the guard asks. Before `preValidation` there is no body. */
export interface WithHook {
  hook?: 'onRequest' | 'preValidation' | 'preHandler'
}

/**
 * A plugin that rate-limits every route of the scope in which it is registered. It asks in `onRequest`, before the body is
 * read; choose another hook if `entity` or `consume` need what later hooks find out.
 */
export function rateLimit<Request extends FastifyRequest = FastifyRequest>(
  options: RateLimitOptions<Request> & WithHook,
): FastifyPluginAsync {
  const { hook = 'onRequest', ...rest } = options
  // Fastify decides by its option `trustProxy`.
  const limits = new RequestLimits<Request>(rest, ({ ip }) => ip)
  return guarded(hook, (request) => limits.ask(request as Request, request.id))
}

/**
 * A plugin that refuses revoked tokens on every route of its scope, in `preHandler` unless another hook is chosen. Register
 * it after the hook that verifies the signature.
 */
export function revokedTokens<Request extends FastifyRequest = FastifyRequest>(
  options: RevokedTokensOptions<Request> & WithHook,
): FastifyPluginAsync {
  const { hook = 'preHandler', ...rest } = options
  const tokens = new RequestTokens<Request>(rest)
  return guarded(hook, (request) => tokens.ask(request as Request, request.id))
}

/**
 * A plugin that admits customers of allowlists only, in `preHandler` unless another hook is chosen. Register it after the
 * hook that authenticates them.
 */
export function allow<Request extends FastifyRequest = FastifyRequest>(
  options: AllowOptions<Request> & WithHook,
): FastifyPluginAsync {
  const { hook = 'preHandler', ...rest } = options
  const lists = new RequestAllowlists<Request>(rest)
  return guarded(hook, (request) => lists.ask(request as Request, request.id))
}

function guarded(
  hook: NonNullable<WithHook['hook']>,
  ask: (request: FastifyRequest) => Promise<Gate>,
): FastifyPluginAsync {
  const plugin: FastifyPluginAsync = async (app) => {
    // The hooks have the same form; the types of Fastify name each.
    app.addHook(hook as 'onRequest', async (request, reply) => {
      const gate = await ask(request)
      if (gate.headers !== undefined) reply.headers(gate.headers)
      if (gate.pass) {
        tellEnd(reply.raw, gate.atEnd)
        return undefined
      }
      markRefused(request)
      return reply.code(gate.status).send(gate.body)
    })
  }
  // Without this, Fastify would apply the hook only inside the plugin.
  return Object.assign(plugin, { [Symbol.for('skip-override')]: true })
}
