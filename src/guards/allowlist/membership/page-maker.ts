import { halves, MAX_DEPTH, maxPageCustomers, type PageRange } from './directory.js'
import type { FingerprintBits } from './fuse.js'
import { dropRepeats, FuseBuilder } from './fuse-builder.js'
import { buildPage, type EncodedPage } from './page.js'
import type { Bucket } from './partition.js'

export interface PageKind {
  fingerprintBits: FingerprintBits
  keyCheck: number
  /** A page with more customers than this is split when it is made. */
  splitAbove: number
}

/** Makes the pages of one bucket after another, in reused memory. */
export class PageMaker {
  private readonly fuse = new FuseBuilder()
  private hashes = new Uint32Array(0)

  constructor(private readonly kind: PageKind) {}

  /** One page for the bucket's range, or several after repeated halving if it is too full. */
  make(bucket: Bucket): EncodedPage[] {
    if (this.hashes.length < 2 * bucket.count) this.hashes = new Uint32Array(2 * bucket.count)
    let at = 0
    for (const chunk of bucket.chunks) {
      this.hashes.set(chunk, at)
      at += chunk.length
    }
    const pages: EncodedPage[] = []
    const fair = Math.ceil(Math.log2(Math.max(1, bucket.count / this.kind.splitAbove)))
    // Uniform hashes never need more than two extra levels; repeated hashes may.
    this.split(bucket.range, 0, bucket.count, Math.min(MAX_DEPTH, bucket.range.depth + fair + 2), pages)
    return pages
  }

  private split(range: PageRange, from: number, to: number, deepest: number, pages: EncodedPage[]): void {
    const { hashes } = this
    const { fingerprintBits, keyCheck, splitAbove } = this.kind
    if (to - from > splitAbove && range.depth < deepest) {
      const middle = partitionByBit(hashes, from, to, range.depth)
      const [lower, upper] = halves(range)
      this.split(lower, from, middle, deepest, pages)
      this.split(upper, middle, to, deepest, pages)
      return
    }
    const end = to - from > maxPageCustomers(fingerprintBits) ? dropRepeats(hashes, from, to) : to
    pages.push(buildPage(this.fuse, { range, fingerprintBits, keyCheck }, hashes, from, end))
  }
}

/** Moves the hashes whose bit after the first `depth` bits is 0 to the front. Returns where the others begin. */
function partitionByBit(hashes: Uint32Array, from: number, to: number, depth: number): number {
  const bit = 1 << (31 - depth)
  let low = 2 * from
  let high = 2 * to - 2
  while (low <= high) {
    const hi = hashes[low]!
    if ((hi & bit) === 0) {
      low += 2
      continue
    }
    const lo = hashes[low + 1]!
    hashes[low] = hashes[high]!
    hashes[low + 1] = hashes[high + 1]!
    hashes[high] = hi
    hashes[high + 1] = lo
    high -= 2
  }
  return low / 2
}
