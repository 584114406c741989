import type { IncomingMessage, ServerResponse } from 'node:http'
import { askLimits, type RateLimitOptions, releaseAtEnd } from './rate-limit.js'
import { markRefused } from './refused.js'

export { idempotencyContext } from './idempotency.js'
export { idempotency } from './idempotency-express.js'

type Next = (error?: unknown) => void

/** Middleware of Express, and of whatever hands on requests and responses of `node:http`. */
export function rateLimit<Request extends IncomingMessage = IncomingMessage>(
  options: RateLimitOptions<Request>,
): (request: Request, response: ServerResponse, next: Next) => void {
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
