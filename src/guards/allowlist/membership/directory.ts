import type { FingerprintBits } from './fuse.js'

/**
 * A range of hashes: those that begin with `depth` bits of value `index`. The pages of a list cover all hashes
 * without overlap. A page that grows too large is split into the two ranges that are one bit longer, `2·index` and
 * `2·index + 1`. The other pages do not change, so pages of one list may differ in depth.
 */
export interface PageRange {
  depth: number
  index: number
}

export const WHOLE_LIST: PageRange = { depth: 0, index: 0 }
/** 65,536 pages: lists of several thousand million customers. */
export const MAX_DEPTH = 16

/** One page is one item of a store. The smallest limit is DynamoDB's 400 KB. */
export const MAX_PAGE_BYTES = 400_000
const MAX_CUSTOMERS = { 16: 160_000, 32: 80_000 } as const

/** Maximum number of customers of a page. */
export function maxPageCustomers(bits: FingerprintBits): number {
  return MAX_CUSTOMERS[bits]
}

/** Above this many customers a page is split when it is built, so that it has room to grow by a tenth. */
export function defaultSplitAbove(bits: FingerprintBits): number {
  return MAX_CUSTOMERS[bits] * 0.9
}

/** The top `depth` bits of a hash as a number. */
export function topBits(hi: number, depth: number): number {
  // Two shifts, because a shift by 32 would do nothing.
  return (hi >>> 1) >>> (31 - depth)
}

export function halves(range: PageRange): [PageRange, PageRange] {
  const depth = range.depth + 1
  return [
    { depth, index: 2 * range.index },
    { depth, index: 2 * range.index + 1 },
  ]
}

export function overlaps(a: PageRange, b: PageRange): boolean {
  const depth = Math.min(a.depth, b.depth)
  return a.index >>> (a.depth - depth) === b.index >>> (b.depth - depth)
}

/** Sorts ranges by the hashes they cover. */
export function compareRanges(a: PageRange, b: PageRange): number {
  return a.index * 2 ** (MAX_DEPTH - a.depth) - b.index * 2 ** (MAX_DEPTH - b.depth) || a.depth - b.depth
}

export function rangeName(range: PageRange): string {
  return `${range.index}/${2 ** range.depth}`
}

/** The error, if the sorted ranges do not cover every hash exactly once. */
export function tilingFault(ranges: readonly PageRange[]): string | undefined {
  const whole = 2 ** MAX_DEPTH
  let covered = 0
  for (const range of ranges) {
    const width = whole / 2 ** range.depth
    const begin = range.index * width
    if (begin > covered) return `no page before ${rangeName(range)}`
    if (begin < covered) return `two pages at ${rangeName(range)}`
    covered += width
  }
  return covered === whole ? undefined : 'the last page is missing'
}
