import type { SortedCustomers } from '../port.js'
import { defaultSplitAbove, halves, maxPageCustomers, type PageRange, WHOLE_LIST } from './directory.js'
import type { FingerprintBits } from './fuse.js'
import { CustomerProbe, type HashKey, keyCheck } from './hash.js'
import type { EncodedPage } from './page.js'
import { type PageKind, PageMaker } from './page-maker.js'
import { type Bucket, Partition } from './partition.js'

export interface IndexBuilderOptions {
  key: HashKey
  fingerprintBits: FingerprintBits
  /** Build only these pages of an existing snapshot. Customers outside are ignored. */
  ranges?: readonly PageRange[]
  /**
   * Split a page that has more customers than this. Smaller pages are cheaper to rebuild, but there are more of them.
   */
  splitAbove?: number
}

/** A whole list is first divided into ranges of this many bits, which are then joined or divided further. */
const COARSE_DEPTH = 8

/**
 * Builds the pages of a list from any number of customers in any order. First all are added, then the pages are
 * returned one by one. Needs 8 bytes per customer until its page is made.
 */
export class IndexBuilder {
  readonly kind: PageKind
  private readonly key: HashKey
  private readonly probe = new CustomerProbe()
  private readonly partition: Partition
  private readonly onlyRanges: readonly PageRange[] | undefined
  private addedCount = 0

  constructor({ key, fingerprintBits, ranges, splitAbove }: IndexBuilderOptions) {
    this.key = key
    const limit = Math.min(
      splitAbove ?? defaultSplitAbove(fingerprintBits),
      maxPageCustomers(fingerprintBits),
    )
    this.kind = { fingerprintBits, keyCheck: keyCheck(key), splitAbove: limit }
    this.onlyRanges = ranges
    this.partition = new Partition(ranges ?? coarseRanges())
  }

  /** Customers added so far, without ignored ones. */
  get customers(): number {
    return this.addedCount
  }

  addId(customerId: string): void {
    this.probe.setId(customerId)
    this.addProbe()
  }

  /** Adds a customer by its key, encoded as in `customer-key.ts`. */
  addKey(bytes: Uint8Array, start: number, end: number): void {
    this.probe.setKey(bytes, start, end)
    this.addProbe()
  }

  addBlock(block: Pick<SortedCustomers, 'count' | 'bytes' | 'start' | 'end'>): void {
    for (let i = 0; i < block.count; i++) this.addKey(block.bytes, block.start(i), block.end(i))
  }

  private addProbe(): void {
    const { probe } = this
    probe.hash(this.key)
    if (this.partition.add(probe.hi, probe.lo)) this.addedCount++
  }

  /** The pages, made on this thread. Afterwards the builder is empty. */
  *finish(): Generator<EncodedPage, void, undefined> {
    const maker = new PageMaker(this.kind)
    for (const bucket of this.buckets()) yield* maker.make(bucket)
  }

  /** The hashes, to be made into pages elsewhere. Each bucket is released when it is returned. */
  *buckets(): Generator<Bucket, void, undefined> {
    const { partition, onlyRanges } = this
    if (onlyRanges === undefined) yield* this.joined(WHOLE_LIST)
    else for (let i = 0; i < onlyRanges.length; i++) yield partition.take(onlyRanges[i]!, i, i)
  }

  /** The coarse ranges, joined while they fit in one page. */
  private *joined(range: PageRange): Generator<Bucket, void, undefined> {
    const width = 2 ** (COARSE_DEPTH - range.depth)
    const first = range.index * width
    let count = 0
    for (let i = first; i < first + width; i++) count += this.partition.count(i)
    if (width > 1 && count > this.kind.splitAbove) {
      const [lower, upper] = halves(range)
      yield* this.joined(lower)
      yield* this.joined(upper)
    } else {
      yield this.partition.take(range, first, first + width - 1)
    }
  }
}

function coarseRanges(): PageRange[] {
  return Array.from({ length: 2 ** COARSE_DEPTH }, (_, index) => ({ depth: COARSE_DEPTH, index }))
}
