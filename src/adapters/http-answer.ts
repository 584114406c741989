import { isUtf8 } from 'node:buffer'
import { validateHeaderName, validateHeaderValue } from 'node:http'

/** A response as it is stored: JSON, so that other programs can read it. */
export interface HttpAnswer {
  status: number
  headers: Record<string, string | string[]>
  /** Absent: there was no body, or it was not stored. */
  body?: string
  /** The body is not text and is stored in base64. */
  base64?: true
  /** The body was too large to be stored, or was not seen by the adapter. */
  bodyOmitted?: true
}

export type HeaderValue = string | number | readonly string[] | null | undefined
export type HeaderReader = (name: string) => HeaderValue

/** Headers that describe the body or locate a created resource. Not cookies: they are meant for one client. */
export const KEPT_HEADERS: readonly string[] = [
  ...['content-type', 'content-language', 'content-encoding', 'content-disposition'],
  ...['location', 'etag', 'last-modified', 'link', 'cache-control'],
]

/** Headers of one connection or one transfer: neither stored nor replayed. */
const NEVER_KEPT: readonly string[] = [
  ...['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'te', 'trailer', 'upgrade'],
  ...['transfer-encoding', 'content-length'],
]

export const REPLAYED_HEADER = 'idempotency-replayed'
export const BODY_OMITTED_HEADER = 'idempotency-body-omitted'
/** Set when the request was executed without any guarantee, because the engine did not answer. */
export const DEGRADED_HEADER = 'idempotency-degraded'

/** `body` undefined: it was not stored. */
export function recordResponse(
  status: number,
  header: HeaderReader,
  body: Uint8Array | undefined,
  keptHeaders: readonly string[] = KEPT_HEADERS,
): HttpAnswer {
  const headers: HttpAnswer['headers'] = {}
  for (const name of keptHeaders) {
    if (NEVER_KEPT.includes(name)) continue
    const value = header(name)
    if (value !== undefined && value !== null)
      headers[name] = Array.isArray(value) ? [...value] : String(value)
  }
  if (body === undefined) return { status, headers, bodyOmitted: true }
  if (body.length === 0) return { status, headers }
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  if (isUtf8(bytes)) return { status, headers, body: bytes.toString('utf8') }
  return { status, headers, body: bytes.toString('base64'), base64: true }
}

export function bodyOf({ body = '', base64 }: HttpAnswer): Buffer {
  return Buffer.from(body, base64 ? 'base64' : 'utf8')
}

/** The headers of a replayed response. */
export function replayHeaders({ headers, bodyOmitted }: HttpAnswer): HttpAnswer['headers'] {
  const replayed: HttpAnswer['headers'] = { ...headers, [REPLAYED_HEADER]: 'true' }
  if (!bodyOmitted) return replayed
  // An empty body has no valid compressed form: clients would fail to decompress it.
  const { 'content-encoding': _, ...plain } = replayed
  return { ...plain, [BODY_OMITTED_HEADER]: 'true' }
}

/** Another program may have written the record, so only a value that can be sent is a response. */
export function asAnswer(value: unknown): HttpAnswer | undefined {
  const { status, headers, body, base64, bodyOmitted } = (value ?? {}) as Partial<HttpAnswer>
  if (!Number.isInteger(status) || status! < 200 || status! > 599) return undefined
  if (typeof headers !== 'object' || headers === null || Array.isArray(headers)) return undefined
  if (body !== undefined && typeof body !== 'string') return undefined
  const sendable = Object.entries(headers).filter(([name]) => !NEVER_KEPT.includes(name.toLowerCase()))
  if (!sendable.every(([name, fields]) => isField(name, fields))) return undefined
  return {
    ...{ status: status!, headers: Object.fromEntries(sendable) },
    ...(body !== undefined && { body }),
    ...(base64 && { base64 }),
    ...(bodyOmitted && { bodyOmitted }),
  }
}

function isField(name: string, value: unknown): boolean {
  const values = Array.isArray(value) ? value : [value]
  try {
    validateHeaderName(name)
    for (const one of values) validateHeaderValue(name, one)
  } catch {
    return false
  }
  return values.every((one) => typeof one === 'string')
}
