import { CatracaError } from '../core/errors.js'
import { defaultEnding } from '../guards/idempotency/refusals.js'
import { type Captured, capture, discard, resume } from './capture.js'
import { bodyOf, DEGRADED_HEADER, replayHeaders } from './http-answer.js'
import {
  checkFetchOptions,
  endRequest,
  type FrameworkRequest,
  type IdempotencyOptions,
  maxBodyBytes,
  startRequest,
} from './idempotency.js'
import { wasRefused } from './refused.js'

type Handler = (request: Request) => Response | Promise<Response>

export interface FetchIdempotencyOptions extends IdempotencyOptions<Request> {
  /** Largest request body that is read to identify the request; 1 MiB when absent. */
  maxRequestBytes?: number
}

/** A fetch-style handler that executes each request once. */
export function withIdempotency(handler: Handler, options: FetchIdempotencyOptions): Handler {
  checkFetchOptions(options)
  return async (request) => {
    const asked = about(request, options.maxRequestBytes ?? 1024 * 1024)
    const start = await startRequest(options, request, asked)
    if (start.go === 'on') return handler(request)
    if (start.go === 'refuse') {
      const { status, headers, body } = start.problem
      return new Response(body, { status, headers })
    }
    if (start.go === 'replay') {
      const { answer } = start
      return new Response(mayHaveBody(answer.status) ? bodyOf(answer) : null, {
        status: answer.status,
        headers: toHeaders(replayHeaders(answer)),
      })
    }
    const { claim } = start
    let response: Response
    let captured: Captured
    try {
      response = await handler(request)
      captured =
        response.body === null
          ? { whole: Buffer.alloc(0) }
          : await capture(response.body, maxBodyBytes(options))
    } catch (error) {
      await (defaultEnding.ofError(error) === 'release' ? claim.release() : claim.fail(error)).catch(() => {})
      throw error
    }
    const { status, statusText, headers } = response
    const body = 'whole' in captured ? captured.whole : undefined
    // Cookies that are joined into one line cannot be separated again.
    const header = (name: string) => (name === 'set-cookie' ? headers.getSetCookie() : headers.get(name))
    const problem = await endRequest(
      options,
      claim,
      { status, header, body, isRefusal: wasRefused(response) },
      asked,
    )
    if (problem !== undefined) {
      await discard(captured)
      return new Response(problem.body, { status: problem.status, headers: problem.headers })
    }
    const again = 'whole' in captured ? captured.whole : ReadableStream.from(resume(captured))
    const sent = new Headers(headers)
    if (claim.context.degraded) sent.set(DEGRADED_HEADER, 'true')
    return new Response(mayHaveBody(status) ? again : null, { status, statusText, headers: sent })
  }
}

function about(request: Request, maxBytes: number): FrameworkRequest {
  const { pathname, search } = new URL(request.url)
  return {
    method: request.method,
    path: pathname + search,
    header: (name) => request.headers.get(name),
    body: () => readBody(request, maxBytes),
  }
}

/** Reads a copy, so that the handler can still read the request. JSON bodies are compared by content. */
async function readBody(request: Request, maxBytes: number): Promise<unknown> {
  const { body } = request.clone()
  if (body === null) return undefined
  const captured = await capture(body, maxBytes)
  if (!('whole' in captured)) {
    await captured.rest.return?.()
    throw new CatracaError('PAYLOAD_TOO_LARGE', `the body is larger than ${maxBytes} bytes`)
  }
  const { whole } = captured
  if (!/\bjson\b/i.test(request.headers.get('content-type') ?? '')) return whole
  try {
    return JSON.parse(whole.toString('utf8'))
  } catch {
    return whole
  }
}

const mayHaveBody = (status: number): boolean => status !== 204 && status !== 205 && status !== 304

function toHeaders(kept: Record<string, string | string[]>): Headers {
  const headers = new Headers()
  for (const [name, value] of Object.entries(kept))
    for (const one of [value].flat()) headers.append(name, one)
  return headers
}
