import { type CatracaError, invalid } from './errors.js'

const MAX_PAGE = 1000
const DEFAULT_PAGE = 100
/** An identifier, with an optional prefix that an engine needs to find its place again. */
const PLACE = /^[A-Za-z0-9._~:@+=-]{1,350}$/

export const invalidCursor = (): CatracaError => invalid('cursor', 'is not a nextCursor that a page returned')

/** Validates a page request. A cursor is the end of the previous page, encoded so that callers treat it as opaque. */
export function parsePage(
  { limit = DEFAULT_PAGE, cursor }: { limit?: number | undefined; cursor?: string | undefined },
  isPlace = (text: string) => PLACE.test(text),
): { limit: number; after: string | undefined } {
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE) {
    throw invalid('limit', `must be a whole number from 1 to ${MAX_PAGE}`)
  }
  return { limit, after: cursor === undefined ? undefined : readCursor(cursor, isPlace) }
}

export function makeCursor(end: string): string {
  return Buffer.from(`1${end}`).toString('base64url')
}

function readCursor(cursor: unknown, isPlace: (text: string) => boolean): string {
  if (typeof cursor === 'string' && /^[A-Za-z0-9_-]{2,1000}$/.test(cursor)) {
    const text = Buffer.from(cursor, 'base64url').toString('latin1')
    if (text.startsWith('1') && isPlace(text.slice(1))) return text.slice(1)
  }
  throw invalidCursor()
}
