import { invalid } from '../errors.js'
import { identifier } from '../key.js'
import type { PageRequest } from './types.js'

export const MAX_PAGE = 1000
const DEFAULT_PAGE = 100

/** A page request, checked. Cursors are the last id of the page before, wrapped so that nobody builds on that. */
export function parsePage({ limit = DEFAULT_PAGE, cursor }: PageRequest): {
  limit: number
  after: string | undefined
} {
  if (!Number.isInteger(limit) || limit < 1 || limit > MAX_PAGE) {
    throw invalid('limit', `must be a whole number from 1 to ${MAX_PAGE}`)
  }
  return { limit, after: cursor === undefined ? undefined : readCursor(cursor) }
}

export function makeCursor(lastId: string): string {
  return Buffer.from(`1${lastId}`).toString('base64url')
}

function readCursor(cursor: unknown): string {
  if (typeof cursor === 'string' && /^[A-Za-z0-9_-]{2,400}$/.test(cursor)) {
    const text = Buffer.from(cursor, 'base64url').toString('latin1')
    try {
      if (text.startsWith('1')) return identifier('cursor', text.slice(1))
    } catch {
      // Falls through to the one message about cursors.
    }
  }
  throw invalid('cursor', 'is not a nextCursor that a page returned')
}
