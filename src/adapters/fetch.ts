import { askLimits, type RateLimitOptions } from './rate-limit.js'
import { askTokens, type RevokedTokensOptions } from './token-denylist.js'

type Handler = (request: Request) => Response | Promise<Response>

/** A fetch-style handler that is asked only when the limits admit the request. */
export function withRateLimit(handler: Handler, options: RateLimitOptions<Request>): Handler {
  return async (request) => {
    const gate = await askLimits(options, request, request.headers.get('x-request-id') ?? undefined)
    if (!gate.pass) return new Response(gate.body, { status: gate.status, headers: gate.headers })
    const response = await handler(request)
    // The headers of a response that came from elsewhere cannot be changed.
    const headers = new Headers(response.headers)
    for (const [name, value] of Object.entries(gate.headers)) headers.set(name, value)
    const { status, statusText, body } = response
    return new Response(body, { status, statusText, headers })
  }
}

/** A fetch-style handler that is asked only when the token of the request was not revoked. */
export function withRevokedTokens(handler: Handler, options: RevokedTokensOptions<Request>): Handler {
  return async (request) => {
    const gate = await askTokens(options, request, request.headers.get('x-request-id') ?? undefined)
    return gate.pass
      ? handler(request)
      : new Response(gate.body, { status: gate.status, headers: gate.headers })
  }
}
