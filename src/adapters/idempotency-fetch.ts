import { CatracaError } from '../core/errors.js'
import type { Held } from '../guards/idempotency/held-claim.js'
import { defaultEnding } from '../guards/idempotency/refusals.js'
import type { RenderedProblem } from '../server/http/problem.js'
import { type Captured, captureStream, discard, resume } from './capture.js'
import type { Handler } from './handler.js'
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

export interface FetchIdempotencyOptions extends IdempotencyOptions<Request> {
  /** Largest request body that is read to identify the request; 1 MiB when absent. */
  maxRequestBytes?: number
}

/** A fetch-style handler that executes each request once. */
export function withIdempotency<Rest extends unknown[] = []>(
  handler: Handler<Rest>,
  options: FetchIdempotencyOptions,
): Handler<Rest> {
  checkFetchOptions(options)
  return (request, ...rest) =>
    answerOnce(options, request, askedBy(request, options), () => handler(request, ...rest), wasRefused)
}

/**
 * Executes a request once. `subject` is what the options are asked about: the request, or what a framework has for it.
 */
export async function answerOnce<Subject extends object>(
  options: IdempotencyOptions<Subject>,
  subject: Subject,
  asked: FrameworkRequest,
  handle: () => Response | Promise<Response>,
  isRefusal: (response: Response) => boolean,
): Promise<Response> {
  const start = await startRequest(options, subject, asked)
  if (start.go === 'on') return handle()
  if (start.go === 'refuse') return problemResponse(start.problem)
  if (start.go === 'replay') {
    const { answer } = start
    return new Response(mayHaveBody(answer.status) ? bodyOf(answer) : null, {
      status: answer.status,
      headers: toHeaders(replayHeaders(answer)),
    })
  }
  const { claim } = start
  const { response, captured } = await handledBy(handle, claim, maxBodyBytes(options))
  const { status, statusText, headers } = response
  const body = 'whole' in captured ? captured.whole : undefined
  // Cookies that are joined into one line cannot be separated again.
  const header = (name: string) => (name === 'set-cookie' ? headers.getSetCookie() : headers.get(name))
  const given = { status, header, body, isRefusal: isRefusal(response) }
  const problem = await endRequest(options, claim, given, asked)
  if (problem !== undefined) {
    await discard(captured)
    return problemResponse(problem)
  }
  const again = 'whole' in captured ? captured.whole : ReadableStream.from(resume(captured))
  const sent = new Response(mayHaveBody(status) ? again : null, { status, statusText, headers })
  if (claim.context.degraded) sent.headers.set(DEGRADED_HEADER, 'true')
  return sent
}

async function handledBy(
  handle: () => Response | Promise<Response>,
  claim: Held,
  maxBytes: number,
): Promise<{ response: Response; captured: Captured }> {
  try {
    const response = await handle()
    const { body } = response
    return {
      response,
      captured: body === null ? { whole: Buffer.alloc(0) } : await captureStream(body, maxBytes),
    }
  } catch (error) {
    await (defaultEnding.ofError(error) === 'release' ? claim.release() : claim.fail(error)).catch(() => {})
    throw error
  }
}

const problemResponse = ({ status, headers, body }: RenderedProblem): Response =>
  new Response(body, { status, headers })

/** What the guard asks of a request. */
export function askedBy(
  request: Request,
  { maxRequestBytes = 1024 * 1024 }: { maxRequestBytes?: number | undefined },
): FrameworkRequest {
  const { pathname, search } = new URL(request.url)
  return {
    method: request.method,
    path: pathname + search,
    header: (name) => request.headers.get(name),
    body: () => readBody(request, maxRequestBytes),
  }
}

/** Reads a copy, so that the handler can still read the request. JSON bodies are compared by content. */
async function readBody(request: Request, maxBytes: number): Promise<unknown> {
  // A copy costs more than everything else here, so none is made of nothing.
  if (request.body === null) return undefined
  const captured = await captureStream(request.clone().body!, maxBytes)
  if (!('whole' in captured)) {
    await captured.rest.return?.()
    throw new CatracaError('PAYLOAD_TOO_LARGE', `the body is larger than ${maxBytes} bytes`)
  }
  return contentOf(captured.whole, request)
}

/** JSON is compared by content, everything else by its bytes. */
export function contentOf(whole: Buffer, request: Request): unknown {
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
