import type { FingerprintBits } from './fuse.js'

/**
 * Where customers belong: the customers whose hash begins with `depth` bits of value `index`. The pages of a list
 * tile all hashes. A page that grows too big splits into the ranges that are one bit longer, `2·index` and
 * `2·index + 1`, and the other pages stay as they are; so pages of one list may differ in depth.
 */
export interface PageRange {
  depth: number
  index: number
}

export const WHOLE_LIST: PageRange = { depth: 0, index: 0 }
/** 65,536 pages: lists of several thousand million customers. */
export const MAX_DEPTH = 16

/** One page is one item of a store, and the smallest of those ends at 400 KB. */
export const MAX_PAGE_BYTES = 400_000
const MAX_CUSTOMERS = { 16: 160_000, 32: 80_000 } as const

/** How many customers a page may hold. */
export function maxPageCustomers(bits: FingerprintBits): number {
  return MAX_CUSTOMERS[bits]
}

/** Above this many customers a page is split when it is built, so that it has room to grow by a tenth. */
export function defaultSplitAbove(bits: FingerprintBits): number {
  return MAX_CUSTOMERS[bits] * 0.9
}

/** The number that the top `depth` bits of a hash make. */
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

/** Ranges in the order of the hashes that they cover. */
export function compareRanges(a: PageRange, b: PageRange): number {
  return a.index * 2 ** (MAX_DEPTH - a.depth) - b.index * 2 ** (MAX_DEPTH - b.depth) || a.depth - b.depth
}

export function rangeName(range: PageRange): string {
  return `${range.index}/${2 ** range.depth}`
}

/** What is wrong with ranges, in order, that should cover every hash exactly once. */
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
