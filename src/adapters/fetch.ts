import { type AllowOptions, RequestAllowlists } from './allowlist.js'
import { answerBehind } from './fetch-gate.js'
import type { Gate } from './gate.js'
import type { Handler } from './handler.js'
import { type RateLimitOptions, RequestLimits } from './rate-limit.js'
import { markRefused } from './refused.js'
import { RequestTokens, type RevokedTokensOptions } from './token-denylist.js'

export type { AllowOptions } from './allowlist.js'
export { forwardedFor } from './client-address.js'
export type { DenialResponse } from './gate.js'
export type { Handler } from './handler.js'
export { type IdempotencyOptions, idempotencyContext } from './idempotency.js'
export { type FetchIdempotencyOptions, withIdempotency } from './idempotency-fetch.js'
export type { RateLimitOptions } from './rate-limit.js'
export type { RevokedTokensOptions, TokenClaims } from './token-denylist.js'

/**
 * A fetch-style handler that is called only when the limits allow the request. A `Request` does not tell the address of its
 * client: give `entity` or `clientAddress`.
 */
export function withRateLimit<Rest extends unknown[] = []>(
  handler: Handler<Rest>,
  options: RateLimitOptions<Request>,
): Handler<Rest> {
  const limits = new RequestLimits(options)
  return guarded(handler, (request, requestId) => limits.ask(request, requestId))
}

/** A fetch-style handler that is called only when the token of the request is not revoked. */
export function withRevokedTokens<Rest extends unknown[] = []>(
  handler: Handler<Rest>,
  options: RevokedTokensOptions<Request>,
): Handler<Rest> {
  const tokens = new RequestTokens(options)
  return guarded(handler, (request, requestId) => tokens.ask(request, requestId))
}

/** A fetch-style handler that is called only for customers of allowlists. */
export function withAllow<Rest extends unknown[] = []>(
  handler: Handler<Rest>,
  options: AllowOptions<Request>,
): Handler<Rest> {
  const lists = new RequestAllowlists(options)
  return guarded(handler, (request, requestId) => lists.ask(request, requestId))
}

function guarded<Rest extends unknown[]>(
  handler: Handler<Rest>,
  ask: (request: Request, requestId: string | undefined) => Promise<Gate>,
): Handler<Rest> {
  return async (request, ...rest) => {
    const gate = await ask(request, request.headers.get('x-request-id') ?? undefined)
    const response = await answerBehind(gate, () => handler(request, ...rest))
    if (!gate.pass) markRefused(response)
    return response
  }
}
