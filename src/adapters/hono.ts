import type { Context, Env, MiddlewareHandler } from 'hono'
import { type AllowOptions, RequestAllowlists } from './allowlist.js'
import { forwardedFor as forwardedForRequest } from './client-address.js'
import { answerBehind } from './fetch-gate.js'
import type { Gate } from './gate.js'
import { checkFetchOptions, type FrameworkRequest, type IdempotencyOptions } from './idempotency.js'
import { answerOnce, askedBy, contentOf } from './idempotency-fetch.js'
import { type RateLimitOptions, RequestLimits } from './rate-limit.js'
import { markRefused, wasRefused } from './refused.js'
import { RequestTokens, type RevokedTokensOptions } from './token-denylist.js'

export type { AllowOptions } from './allowlist.js'
export type { DenialResponse } from './gate.js'
export { type IdempotencyOptions, idempotencyContext } from './idempotency.js'
export type { RateLimitOptions } from './rate-limit.js'
export type { RevokedTokensOptions, TokenClaims } from './token-denylist.js'

// biome-ignore lint/suspicious/noExplicitAny: as in Hono, so that the middleware fits an app with any variables.
type AnyEnv = any

export interface HonoIdempotencyOptions<E extends Env = AnyEnv> extends IdempotencyOptions<Context<E>> {
  /** Largest request body that is read to identify the request; 1 MiB when absent. */
  maxRequestBytes?: number
}

/**
 * Middleware that rate-limits requests. Hono does not tell the address of a client in the same way everywhere: give
 * `entity` or `clientAddress`.
 */
export function rateLimit<E extends Env = AnyEnv>(
  options: RateLimitOptions<Context<E>>,
): MiddlewareHandler<E> {
  const limits = new RequestLimits(options)
  return guarded((context, requestId) => limits.ask(context, requestId))
}

/** Middleware that refuses revoked tokens. Register it after the one that verifies the signature. */
export function revokedTokens<E extends Env = AnyEnv>(
  options: RevokedTokensOptions<Context<E>>,
): MiddlewareHandler<E> {
  const tokens = new RequestTokens(options)
  return guarded((context, requestId) => tokens.ask(context, requestId))
}

/** Middleware that admits customers of allowlists only. Register it after the one that authenticates them. */
export function allow<E extends Env = AnyEnv>(options: AllowOptions<Context<E>>): MiddlewareHandler<E> {
  const lists = new RequestAllowlists(options)
  return guarded((context, requestId) => lists.ask(context, requestId))
}

/** Middleware that executes each request once. */
export function idempotency<E extends Env = AnyEnv>(
  options: HonoIdempotencyOptions<E>,
): MiddlewareHandler<E> {
  checkFetchOptions(options)
  return async (context, next) => {
    const handle = async () => {
      await next()
      return context.res
    }
    const asked = askedIn(context, options)
    return send(context, await answerOnce(options, context, asked, handle, () => wasRefused(context)))
  }
}

/** As in the other adapters, for `clientAddress`. */
export function forwardedFor(options: { proxies: number }): (context: Context) => string | undefined {
  const addressOf = forwardedForRequest(options)
  return ({ req }) => addressOf(req.raw)
}

function guarded<E extends Env>(
  ask: (context: Context<E>, requestId: string | undefined) => Promise<Gate>,
): MiddlewareHandler<E> {
  return async (context, next) => {
    const gate = await ask(context, context.req.header('x-request-id'))
    if (!gate.pass) markRefused(context)
    const handle = async () => {
      await next()
      return context.res
    }
    return send(context, await answerBehind(gate, handle))
  }
}

/** Hono takes what a middleware returns only if there is no response yet. */
function send(context: Context, response: Response): Response {
  if (!context.finalized || context.res === response) return response
  // Hono would merge the headers of the earlier response into this one, which has them where it should.
  context.res = undefined
  context.res = response
  return response
}

function askedIn({ req }: Context, options: HonoIdempotencyOptions): FrameworkRequest {
  const asked = askedBy(req.raw, options)
  // Hono keeps what an earlier middleware has read.
  const readAgain = async () => contentOf(Buffer.from(await req.arrayBuffer()), req.raw)
  return { ...asked, body: () => (req.raw.bodyUsed ? readAgain() : asked.body()) }
}
