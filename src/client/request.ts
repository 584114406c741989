import { CatracaApiError } from './api-error.js'
import type { OperationFacts, StreamBody } from './operation.js'

export type Input = Record<string, unknown>

export interface PlannedRequest {
  url: string
  init: RequestInit
}

/** The request of an operation, ready to be sent. */
export function requestOf(
  facts: OperationFacts,
  input: Input,
  base: string,
  key: string | undefined,
  reason?: string,
): PlannedRequest {
  const headers = headersOf(facts, input)
  // Headers hold only ASCII.
  if (reason !== undefined && facts.method !== 'GET') headers['catraca-reason'] = encodeURIComponent(reason)
  if (key !== undefined) headers.authorization = `Bearer ${key}`
  return {
    url: base.replace(/\/+$/, '') + pathOf(facts.path, input) + queryOf(facts.query ?? [], input),
    init: {
      method: facts.method,
      headers,
      ...bodyOf(facts, input.body),
      // The API key must not be sent to a redirect target, and `fetch` would repeat a redirected POST as a GET.
      redirect: 'error',
      credentials: 'omit',
      cache: 'no-store',
    } as RequestInit,
  }
}

function headersOf(facts: OperationFacts, input: Input): Record<string, string> {
  const headers: Record<string, string> = { accept: acceptOf(facts, input.accept) }
  if (facts.body === 'json') headers['content-type'] = 'application/json'
  if (facts.body === 'stream') headers['content-type'] = String(input.contentType)
  for (const [name, header] of Object.entries(facts.headers ?? {})) {
    if (input[name] !== undefined) headers[header] = String(input[name])
  }
  return headers
}

function acceptOf(facts: OperationFacts, asked: unknown): string {
  if (facts.answer !== 'stream') return 'application/json, application/problem+json'
  return asked === undefined ? (facts.accept?.[0] ?? '*/*') : String(asked)
}

/** URLs are normalised: an empty part, `.` or `..` would reach another route. */
function pathOf(path: string, input: Input): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(input[name] ?? '')
    if (value !== '' && value !== '.' && value !== '..') return encodeURIComponent(value)
    const errors = [{ path: name, message: 'must not be empty, "." or ".."' }]
    throw new CatracaApiError(`${name} cannot be part of a path`, {
      code: 'INVALID_INPUT',
      status: 0,
      errors,
    })
  })
}

function queryOf(names: readonly string[], input: Input): string {
  const query = new URLSearchParams()
  for (const name of names) {
    const value = input[name]
    if (value !== undefined) query.set(name, Array.isArray(value) ? value.join(',') : String(value))
  }
  const text = query.toString()
  return text === '' ? '' : `?${text}`
}

function bodyOf(facts: OperationFacts, body: unknown): { body?: unknown; duplex?: 'half' } {
  if (facts.body === undefined) return {}
  if (facts.body === 'json') return { body: JSON.stringify(body ?? {}) }
  const isIterable = Symbol.asyncIterator in Object(body) && !(body instanceof ReadableStream)
  const stream = isIterable ? streamOf(body as AsyncIterable<Uint8Array>) : (body as StreamBody)
  return stream instanceof ReadableStream ? { body: stream, duplex: 'half' } : { body: stream }
}

function streamOf(chunks: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]()
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await iterator.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    async cancel() {
      await iterator.return?.()
    },
  })
}
