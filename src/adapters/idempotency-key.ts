import { invalid } from '../core/errors.js'
import type { HeaderValue } from './http-answer.js'

const PATH = 'Idempotency-Key'
/** A string in structured fields (RFC 9651); text after `;` is parameters. */
const QUOTED = /^"((?:[\x20-\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"\s*(?:;.*)?$/

/** Quoted, as in the IETF draft, or bare, as most clients write it; undefined when there is none. */
export function parseIdempotencyKey(header: HeaderValue): string | undefined {
  if (header === undefined || header === null) return undefined
  if (typeof header !== 'string') throw invalid(PATH, 'must be given once')
  const text = header.trim()
  if (!text.startsWith('"')) return text
  const quoted = QUOTED.exec(text)
  if (quoted === null) throw invalid(PATH, 'must be a quoted string, or one without quotes')
  return quoted[1]!.replace(/\\(["\\])/g, '$1')
}

export function parseExpirySeconds(header: HeaderValue): number | undefined {
  if (header === undefined || header === null) return undefined
  if (typeof header === 'string' && /^\d{1,12}$/.test(header.trim())) return Number(header)
  throw invalid('Idempotency-Expiry-Seconds', 'must be a whole number of seconds')
}
