/** An answer as it is kept: JSON, so that other programs can read it. */
export interface HttpAnswer {
  status: number
  headers: Record<string, string | string[]>
  /** Absent: there was none, or it was not kept. */
  body?: string
  /** The body is no text, and stands in base64. */
  base64?: true
  /** The body was too large to be kept, or did not pass by here. */
  bodyOmitted?: true
}

export type HeaderValue = string | number | readonly string[] | null | undefined
export type HeaderReader = (name: string) => HeaderValue

/** What describes the body, and where to find what was made. Not cookies: they are meant for one client. */
export const KEPT_HEADERS: readonly string[] = [
  ...['content-type', 'content-language', 'content-encoding', 'content-disposition'],
  ...['location', 'etag', 'last-modified', 'link', 'cache-control'],
]

export const REPLAYED_HEADER = 'idempotency-replayed'
export const BODY_OMITTED_HEADER = 'idempotency-body-omitted'

/** `body` undefined: it was not kept. */
export function keepAnswer(
  status: number,
  header: HeaderReader,
  body: Uint8Array | undefined,
  keptHeaders: readonly string[] = KEPT_HEADERS,
): HttpAnswer {
  const headers: HttpAnswer['headers'] = {}
  for (const name of keptHeaders) {
    const value = header(name)
    if (value !== undefined && value !== null)
      headers[name] = Array.isArray(value) ? [...value] : String(value)
  }
  if (body === undefined) return { status, headers, bodyOmitted: true }
  if (body.length === 0) return { status, headers }
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const text = bytes.toString('utf8')
  if (Buffer.from(text).equals(bytes)) return { status, headers, body: text }
  return { status, headers, body: bytes.toString('base64'), base64: true }
}

export function bodyOf({ body = '', base64 }: HttpAnswer): Buffer {
  return Buffer.from(body, base64 ? 'base64' : 'utf8')
}

/** Of the answer when it is given again. */
export function replayHeaders({ headers, bodyOmitted }: HttpAnswer): HttpAnswer['headers'] {
  return { ...headers, [REPLAYED_HEADER]: 'true', ...(bodyOmitted && { [BODY_OMITTED_HEADER]: 'true' }) }
}
