import type { IncomingMessage, ServerResponse } from 'node:http'
import { askLimits, checkOptions, type RateLimitOptions, releaseAtEnd } from './rate-limit.js'
import { markRefused } from './refused.js'
import { askTokens, checkTokenOptions, type RevokedTokensOptions } from './token-denylist.js'

export { idempotencyContext } from './idempotency.js'
export { idempotency } from './idempotency-express.js'

type Next = (error?: unknown) => void

/** Middleware for Express and other frameworks on `node:http`. */
export function rateLimit<Request extends IncomingMessage = IncomingMessage>(
  options: RateLimitOptions<Request>,
): (request: Request, response: ServerResponse, next: Next) => void {
  checkOptions(options)
  return (request, response, next) => {
    const given = request.headers['x-request-id']
    askLimits(options, request, typeof given === 'string' ? given : undefined).then((gate) => {
      for (const [name, value] of Object.entries(gate.headers)) response.setHeader(name, value)
      if (gate.pass) {
        releaseAtEnd(response, gate.release)
        return next()
      }
      markRefused(request)
      response.statusCode = gate.status
      response.end(gate.body)
    }, next)
  }
}

/** Middleware that refuses revoked tokens. Register it after the one that verifies the signature. */
export function revokedTokens<Request extends IncomingMessage = IncomingMessage>(
  options: RevokedTokensOptions<Request>,
): (request: Request, response: ServerResponse, next: Next) => void {
  checkTokenOptions(options)
  return (request, response, next) => {
    const given = request.headers['x-request-id']
    askTokens(options, request, typeof given === 'string' ? given : undefined).then((gate) => {
      if (gate.pass) return next()
      for (const [name, value] of Object.entries(gate.headers)) response.setHeader(name, value)
      response.statusCode = gate.status
      response.end(gate.body)
    }, next)
  }
}
