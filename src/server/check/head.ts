import { type PlainCheck, parsePlainCheck } from './query.js'

/** The headers that affect a check. */
export interface CheckHeaders {
  authorization: string
  requestId: string | undefined
}

const METHOD = 'GET '
const VERSION = ' HTTP/1.1\r\n'
const END = '\r\n\r\n'

/**
 * Splits a chunk that is exactly one request without a body into its check and the text of its headers. Returns
 * undefined for anything else, such as two requests or a part of one.
 */
export function splitHead(text: string): { check: PlainCheck; headers: string } | undefined {
  if (!text.startsWith(METHOD) || text.indexOf(END) !== text.length - END.length) return undefined
  const end = text.indexOf(VERSION)
  const check = end < 0 ? undefined : parsePlainCheck(text.slice(METHOD.length, end))
  return check === undefined ? undefined : { check, headers: text.slice(end + VERSION.length) }
}

/** No space before the colon, no folded line, and only printable ASCII. */
const HEADER = /^([A-Za-z0-9-]+):[ \t]*([\x20-\x7e]*)$/

/** Headers that announce a body, or that need other handling of the request or the connection. */
const MEANS_MORE = new Set([
  'content-length',
  'transfer-encoding',
  'expect',
  'upgrade',
  'trailer',
  'te',
  // Node's parser treats it as `connection`.
  'proxy-connection',
])
/** Node drops headers beyond its own limit, which is far higher. */
const MAX_HEADERS = 100

/**
 * Reads the headers of a check. Returns undefined unless all are harmless: Node's parser then decides, so that two
 * parsers never disagree about where a request ends. Also undefined for a request with a trace header, when tracing
 * is on.
 */
export function parseHeaders(text: string, isTracing = false): CheckHeaders | undefined {
  let host: string | undefined
  let authorization: string | undefined
  let requestId: string | undefined
  const lines = text.slice(0, -END.length).split('\r\n', MAX_HEADERS + 1)
  if (lines.length > MAX_HEADERS) return undefined
  for (const line of lines) {
    const [, name, value] = HEADER.exec(line) ?? []
    if (name === undefined || value === undefined) return undefined
    const key = name.toLowerCase()
    if (MEANS_MORE.has(key) || (isTracing && key === 'traceparent')) return undefined
    if (key === 'connection' && value.trim().toLowerCase() !== 'keep-alive') return undefined
    if (key === 'host' && host !== undefined) return undefined
    if (key === 'authorization' && authorization !== undefined) return undefined
    if (key === 'x-request-id' && requestId !== undefined) return undefined
    if (key === 'host') host = value
    else if (key === 'authorization') authorization = value.trim()
    else if (key === 'x-request-id') requestId = value.trim()
  }
  return host === undefined || authorization === undefined ? undefined : { authorization, requestId }
}
