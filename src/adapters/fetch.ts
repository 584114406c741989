import { askLimits, checkOptions, type RateLimitOptions, type Release } from './rate-limit.js'
import { markRefused } from './refused.js'
import { askTokens, checkTokenOptions, type RevokedTokensOptions } from './token-denylist.js'

export { idempotencyContext } from './idempotency.js'
export { type FetchIdempotencyOptions, withIdempotency } from './idempotency-fetch.js'

type Handler = (request: Request) => Response | Promise<Response>

/** A fetch-style handler that is called only when the limits allow the request. */
export function withRateLimit(handler: Handler, options: RateLimitOptions<Request>): Handler {
  checkOptions(options)
  return async (request) => {
    const gate = await askLimits(options, request, request.headers.get('x-request-id') ?? undefined)
    if (!gate.pass) {
      const refusal = new Response(gate.body, { status: gate.status, headers: gate.headers })
      markRefused(refusal)
      return refusal
    }
    const response = await released(handler, request, gate.release)
    // The headers of a response from `fetch` are immutable.
    const headers = new Headers(response.headers)
    for (const [name, value] of Object.entries(gate.headers)) headers.set(name, value)
    const { status, statusText } = response
    return new Response(untilEnd(response.body, gate.release), { status, statusText, headers })
  }
}

async function released(handler: Handler, request: Request, release: Release): Promise<Response> {
  try {
    return await handler(request)
  } catch (error) {
    release?.()
    throw error
  }
}

/** Releases the slots when the response body was read to its end or cancelled. */
function untilEnd(body: Response['body'], release: Release): Response['body'] {
  if (release === undefined) return body
  if (body === null) {
    release()
    return body
  }
  const reader = body.getReader()
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read()
        if (!done) return controller.enqueue(value)
        controller.close()
      } catch (error) {
        controller.error(error)
      }
      release()
    },
    cancel(reason) {
      release()
      return reader.cancel(reason)
    },
  })
}
/** A fetch-style handler that is called only when the token of the request is not revoked. */
export function withRevokedTokens(handler: Handler, options: RevokedTokensOptions<Request>): Handler {
  checkTokenOptions(options)
  return async (request) => {
    const gate = await askTokens(options, request, request.headers.get('x-request-id') ?? undefined)
    return gate.pass
      ? handler(request)
      : new Response(gate.body, { status: gate.status, headers: gate.headers })
  }
}
