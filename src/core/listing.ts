import { type CatracaError, invalid } from './errors.js'
import { makeCursor, parsePage } from './paging.js'

/**
 * A page of what an engine keeps under a prefix, in the engine's own order. A call examines a bounded number of
 * rows, whatever the engine holds, so a page may be short, or empty, although more follow.
 */
export interface Listing<T> {
  items: T[]
  /** Pass it as `after` to go on. Absent at the end. */
  next?: string
}

export interface ListingRequest {
  /** Only names that begin so; empty: all. */
  prefix: string
  after: string | undefined
  /** How many items a page should have. An engine that gets them in bunches may return a few more. */
  limit: number
}

/** A page of a listing, as callers see it. */
export interface ListedPage<T> {
  items: T[]
  /** There may be more, even if this page is short or empty. */
  nextCursor?: string
}

export interface ListingQuery {
  /** Beginning of the name. */
  prefix?: string
  limit?: number
  cursor?: string
}

/** Rows that one call of an engine examines at most, by order of magnitude. */
export const MAX_EXAMINED = 2000

const PREFIX = /^[A-Za-z0-9._~:@+=-]{0,256}$/
/** What an engine needs to find its place again. It validates the text itself. */
const PLACE = /^[\x20-\x7e]{1,700}$/

export function prefixOf(path: string, value: unknown = ''): string {
  if (typeof value === 'string' && PREFIX.test(value)) return value
  throw invalid(path, 'must be up to 256 characters of A-Z a-z 0-9 . _ ~ : @ + = -')
}

export function parseListing({ prefix, limit, cursor }: ListingQuery): ListingRequest {
  const page = parsePage({ limit, cursor }, (text) => PLACE.test(text))
  return { prefix: prefixOf('prefix', prefix), ...page }
}

export const listedPage = <T>(items: T[], next: string | undefined): ListedPage<T> =>
  next === undefined ? { items } : { items, nextCursor: makeCursor(next) }

/** What is at least so old. Undefined: everything. */
export function minimumAge(path: string, seconds: unknown): number {
  if (seconds === undefined) return 0
  if (typeof seconds === 'number' && seconds >= 0 && seconds <= 1e10) return seconds * 1000
  throw invalid(path, 'must be a number of seconds, 0 or more')
}

/** The parts of a place that an engine made with `JSON.stringify`. */
export function placeParts(text: string, count: number): string[] {
  let parts: unknown
  try {
    parts = JSON.parse(text)
  } catch {
    throw invalidPlace()
  }
  const isPlace = Array.isArray(parts) && parts.length === count
  if (isPlace && (parts as unknown[]).every((part) => typeof part === 'string')) return parts as string[]
  throw invalidPlace()
}

export const invalidPlace = (): CatracaError => invalid('cursor', 'is not a nextCursor that a page returned')
