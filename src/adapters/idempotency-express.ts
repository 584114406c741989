import type { IncomingMessage, ServerResponse } from 'node:http'
import { CatracaError } from '../core/errors.js'
import { HeldBackAnswer } from './held-back.js'
import { bodyOf, DEGRADED_HEADER, replayHeaders } from './http-answer.js'
import {
  checkIdempotencyOptions,
  endRequest,
  type FrameworkRequest,
  type IdempotencyOptions,
  maxBodyBytes,
  startRequest,
} from './idempotency.js'
import { wasRefused } from './refused.js'

type Next = (error?: unknown) => void
type ParsedRequest = IncomingMessage & { body?: unknown; originalUrl?: string }

/**
 * Middleware for Express and other frameworks on `node:http`. Register it after the body parser, because
 * `request.body` identifies the request.
 */
export function idempotency<Request extends ParsedRequest = ParsedRequest>(
  options: IdempotencyOptions<Request>,
): (request: Request, response: ServerResponse, next: Next) => void {
  checkIdempotencyOptions(options)
  return (request, response, next) => {
    const asked = about(request)
    startRequest(options, request, asked).then((start) => {
      if (start.go === 'refuse') return answer(response, start.problem)
      if (start.go === 'replay') {
        const { answer: kept } = start
        return answer(response, { status: kept.status, headers: replayHeaders(kept), body: bodyOf(kept) })
      }
      if (start.go === 'guarded') {
        if (start.claim.context.degraded) response.setHeader(DEGRADED_HEADER, 'true')
        const header = (name: string) => response.getHeader(name)
        const record = (body: Buffer | undefined) => {
          const given = { status: response.statusCode, header, body, isRefusal: wasRefused(request) }
          return endRequest(options, start.claim, given, asked)
        }
        const giveUp = (error: unknown) => void start.claim.fail(error).catch(() => {})
        new HeldBackAnswer(response, maxBodyBytes(options), { record, giveUp })
      }
      next()
    }, next)
  }
}

interface Answer {
  status: number
  headers: Record<string, string | string[]>
  body: string | Buffer
}

function answer(response: ServerResponse, { status, headers, body }: Answer): void {
  response.statusCode = status
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
  response.end(body)
}

function about(request: ParsedRequest): FrameworkRequest {
  return {
    method: request.method ?? '',
    path: request.originalUrl ?? request.url ?? '',
    header: (name) => request.headers[name],
    body: () => parsedBody(request),
  }
}

/** Without a parsed body all requests would look the same. */
function parsedBody(request: ParsedRequest): unknown {
  const { body, headers } = request
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
  if (!hasBody || (body !== undefined && !isPlaceholder(request))) return body
  throw new CatracaError(
    'INTERNAL',
    'no parsed body: put a body parser before idempotency, or give `payload`',
  )
}

/** The parsers of Express 4 leave `{}` for a body of another content type. */
function isPlaceholder({ body, readableDidRead }: ParsedRequest): boolean {
  return typeof body === 'object' && body !== null && Object.keys(body).length === 0 && !readableDidRead
}
