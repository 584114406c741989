import type { IncomingMessage } from 'node:http'
import { CatracaError } from '../core/errors.js'
import type { FrameworkRequest } from './idempotency.js'

/** A request of Express, or of another framework that parses the body before its handlers. Fastify wraps that of Node. */
export type ParsedRequest = Pick<IncomingMessage, 'method' | 'headers'> & {
  url?: string | undefined
  originalUrl?: string
  body?: unknown
  readableDidRead?: boolean
  raw?: { readableDidRead?: boolean }
}

/** What the guard asks of a request whose body is parsed. */
export function about(request: ParsedRequest): FrameworkRequest {
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
function isPlaceholder({ body, readableDidRead, raw }: ParsedRequest): boolean {
  const wasRead = raw?.readableDidRead ?? readableDidRead
  return typeof body === 'object' && body !== null && Object.keys(body).length === 0 && !wasRead
}
