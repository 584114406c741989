import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Request as ExpressRequest } from 'express'
import { type AllowOptions, RequestAllowlists } from './allowlist.js'
import type { Gate } from './gate.js'
import { type RateLimitOptions, RequestLimits } from './rate-limit.js'
import { markRefused } from './refused.js'
import { sendAnswer, tellEnd } from './response-end.js'
import { RequestTokens, type RevokedTokensOptions } from './token-denylist.js'

export type { AllowOptions } from './allowlist.js'
export { forwardedFor } from './client-address.js'
export type { DenialResponse } from './gate.js'
export { type IdempotencyOptions, idempotencyContext } from './idempotency.js'
export { idempotency } from './idempotency-express.js'
export type { RateLimitOptions } from './rate-limit.js'
export type { RevokedTokensOptions, TokenClaims } from './token-denylist.js'

/**
 * Fits `app.use` of Express, and other frameworks on `node:http`. It takes any request: if it named the type of the request,
 * Express would forget the parameters of the route that it stands in.
 */
export type Middleware = (
  request: IncomingMessage,
  response: ServerResponse,
  next: (error?: unknown) => void,
) => void

/** Middleware that rate-limits requests. */
export function rateLimit<Request extends IncomingMessage = ExpressRequest>(
  options: RateLimitOptions<Request>,
): Middleware {
  const limits = new RequestLimits(options, addressOf)
  return guarded<Request>((request, requestId) => limits.ask(request, requestId))
}

/** Middleware that refuses revoked tokens. Register it after the one that verifies the signature. */
export function revokedTokens<Request extends IncomingMessage = ExpressRequest>(
  options: RevokedTokensOptions<Request>,
): Middleware {
  const tokens = new RequestTokens(options)
  return guarded<Request>((request, requestId) => tokens.ask(request, requestId))
}

/** Middleware that admits customers of allowlists only. Register it after the one that authenticates them. */
export function allow<Request extends IncomingMessage = ExpressRequest>(
  options: AllowOptions<Request>,
): Middleware {
  const lists = new RequestAllowlists(options)
  return guarded<Request>((request, requestId) => lists.ask(request, requestId))
}

/** Express decides by its setting `trust proxy`. Without Express there is only the connection. */
function addressOf(request: IncomingMessage & { ip?: string | undefined }): string | undefined {
  return request.ip ?? request.socket.remoteAddress
}

function guarded<Request extends IncomingMessage>(
  ask: (request: Request, requestId: string | undefined) => Promise<Gate>,
): Middleware {
  return (request, response, next) => {
    const given = request.headers['x-request-id']
    const goOn = (gate: Gate) => {
      if (!gate.pass) {
        markRefused(request)
        return sendAnswer(response, gate)
      }
      tellEnd(response, gate.atEnd)
      // A time limit of the service, for example, has answered while the guard decided.
      if (response.writableEnded) return
      if (!response.headersSent)
        for (const name in gate.headers) response.setHeader(name, gate.headers[name]!)
      next()
    }
    ask(request as Request, typeof given === 'string' ? given : undefined)
      .then(goOn)
      .catch(next)
  }
}
