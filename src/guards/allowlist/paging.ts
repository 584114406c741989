import { type CatracaError, invalid } from '../../core/errors.js'
import type { PageRequest } from './types.js'

export const MAX_PAGE = 1000
const DEFAULT_PAGE = 100
/** An identifier, with an optional prefix that an engine needs to find its place again. */
const PLACE = /^1[A-Za-z0-9._~:@+=-]{1,350}$/

export const invalidCursor = (): CatracaError => invalid('cursor', 'is not a nextCursor that a page returned')

/** Validates a page request. A cursor is the end of the previous page, encoded so that callers treat it as opaque. */
export function parsePage({ limit = DEFAULT_PAGE, cursor }: PageRequest): {
  limit: number
  after: string | undefined
} {
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE) {
    throw invalid('limit', `must be a whole number from 1 to ${MAX_PAGE}`)
  }
  return { limit, after: cursor === undefined ? undefined : readCursor(cursor) }
}

export function makeCursor(end: string): string {
  return Buffer.from(`1${end}`).toString('base64url')
}

function readCursor(cursor: unknown): string {
  if (typeof cursor === 'string' && /^[A-Za-z0-9_-]{2,500}$/.test(cursor)) {
    const text = Buffer.from(cursor, 'base64url').toString('latin1')
    if (PLACE.test(text)) return text.slice(1)
  }
  throw invalidCursor()
}
