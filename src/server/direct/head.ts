/** A chunk that begins with a whole head. */
export interface Head {
  method: string
  target: string
  /** The text of the header lines. */
  headers: string
  /** Where the body begins. */
  bodyAt: number
}

/** The headers that affect a direct call. */
export interface DirectHeaders {
  authorization: string
  requestId: string | undefined
  /** As it was sent; undefined without a body. */
  contentLength: number | undefined
  contentType: string | undefined
  isTraced: boolean
}

const VERSION = ' HTTP/1.1\r\n'
const END = '\r\n\r\n'

/** Splits a chunk into the parts of its head. Returns undefined for what does not look like a request of HTTP/1.1. */
export function splitHead(text: string): Head | undefined {
  const end = text.indexOf(END)
  const space = text.indexOf(' ')
  const line = text.indexOf(VERSION, space + 1)
  const headersAt = line + VERSION.length
  if (space < 0 || line < 0 || end < headersAt) return undefined
  return {
    method: text.slice(0, space),
    target: text.slice(space + 1, line),
    headers: text.slice(headersAt, end),
    bodyAt: end + END.length,
  }
}

/** No space before the colon, no folded line, and only printable ASCII. */
const HEADER = /^([A-Za-z0-9-]+):[ \t]*([\x20-\x7e]*)$/
const LENGTH = /^\d{1,9}$/

/** Headers that need other handling of the request or the connection, or that only some operation reads. */
const MEANS_MORE = new Set([
  'transfer-encoding',
  'content-encoding',
  'expect',
  'upgrade',
  'trailer',
  'te',
  // Node's parser treats it as `connection`.
  'proxy-connection',
  'idempotency-expiry-seconds',
])
/** Headers that are read here, so they must not come twice. */
const READ = ['host', 'authorization', 'x-request-id', 'content-length', 'content-type'] as const
/** Node drops headers beyond its own limit, which is far higher. */
const MAX_HEADERS = 100

/**
 * Reads the headers of a request. Returns undefined unless all are harmless: Node's parser then decides, so that two
 * parsers never disagree about where a request ends.
 */
export function parseHeaders(text: string): DirectHeaders | undefined {
  const found = new Map<string, string>()
  const lines = text.split('\r\n', MAX_HEADERS + 1)
  if (lines.length > MAX_HEADERS) return undefined
  for (const line of lines) {
    const [, name, value] = HEADER.exec(line) ?? []
    if (name === undefined || value === undefined) return undefined
    const key = name.toLowerCase()
    if (MEANS_MORE.has(key)) return undefined
    if (key === 'connection' && value.trim().toLowerCase() !== 'keep-alive') return undefined
    if (found.has(key) && READ.some((once) => once === key)) return undefined
    found.set(key, value.trim())
  }
  const authorization = found.get('authorization')
  const length = found.get('content-length')
  if (!found.has('host') || authorization === undefined) return undefined
  if (length !== undefined && !LENGTH.test(length)) return undefined
  return {
    authorization,
    requestId: found.get('x-request-id'),
    contentLength: length === undefined ? undefined : Number(length),
    contentType: found.get('content-type')?.toLowerCase(),
    isTraced: found.has('traceparent'),
  }
}
