import { CatracaError } from '../../../core/errors.js'
import { MAX_DEPTH, type PageRange, rangeName, topBits } from './directory.js'

const FIRST_CHUNK_HASHES = 128
const MAX_CHUNK_HASHES = 4096
const UNWANTED = -1

/** The hashes of one range, as pairs of words in chunks. All chunks but the last are full. */
export interface Bucket {
  range: PageRange
  count: number
  chunks: Uint32Array<ArrayBuffer>[]
}

/**
 * Sorts hashes into ranges as they arrive, 8 bytes each. Each range has its own chunks, so that nothing is copied,
 * no array is huge, and each range can be released separately.
 */
export class Partition {
  private readonly depth: number
  private readonly rangeAt: Int32Array
  private readonly full: Uint32Array<ArrayBuffer>[][]
  private readonly current: Uint32Array<ArrayBuffer>[]
  /** Words used in the current chunk. */
  private readonly used: Uint32Array
  private readonly counts: Float64Array

  /** Collects the hashes in these ranges, which must not overlap, and ignores the others. */
  constructor(ranges: readonly PageRange[]) {
    this.depth = ranges.reduce((depth, range) => Math.max(depth, range.depth), 0)
    if (this.depth > MAX_DEPTH) {
      throw new CatracaError('INTERNAL', `A page has at most ${MAX_DEPTH} bits of depth`)
    }
    this.rangeAt = new Int32Array(2 ** this.depth).fill(UNWANTED)
    ranges.forEach((range, number) => {
      this.assignRange(range, number)
    })
    this.full = ranges.map(() => [])
    this.current = ranges.map(() => new Uint32Array(0))
    this.used = new Uint32Array(ranges.length)
    this.counts = new Float64Array(ranges.length)
  }

  private assignRange(range: PageRange, number: number): void {
    const width = 2 ** (this.depth - range.depth)
    const entries = this.rangeAt.subarray(range.index * width, (range.index + 1) * width)
    // If two pages covered the same customers, one would lack them and deny them.
    if (entries.length !== width || entries.some((taken) => taken !== UNWANTED)) {
      throw new CatracaError('INTERNAL', `Page ${rangeName(range)} does not exist or overlaps another`)
    }
    entries.fill(number)
  }

  /** False: the hash is in none of the ranges. */
  add(hi: number, lo: number): boolean {
    const number = this.rangeAt[topBits(hi, this.depth)]!
    if (number === UNWANTED) return false
    let chunk = this.current[number]!
    let at = this.used[number]!
    if (at === chunk.length) {
      chunk = this.nextChunk(number, chunk)
      at = 0
    }
    chunk[at] = hi
    chunk[at + 1] = lo
    this.used[number] = at + 2
    return true
  }

  private nextChunk(number: number, filled: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
    if (filled.length > 0) this.full[number]!.push(filled)
    this.counts[number]! += filled.length / 2
    const words = Math.min(2 * MAX_CHUNK_HASHES, Math.max(2 * FIRST_CHUNK_HASHES, 2 * filled.length))
    return (this.current[number] = new Uint32Array(words))
  }

  count(number: number): number {
    return this.counts[number]! + this.used[number]! / 2
  }

  /** Releases the hashes of some ranges as one bucket for the range that they form. */
  take(range: PageRange, first: number, last: number): Bucket {
    const bucket: Bucket = { range, count: 0, chunks: [] }
    for (let number = first; number <= last; number++) {
      bucket.count += this.count(number)
      bucket.chunks.push(...this.full[number]!)
      if (this.used[number]! > 0) bucket.chunks.push(this.current[number]!.subarray(0, this.used[number]!))
      this.full[number] = []
      this.current[number] = new Uint32Array(0)
      this.used[number] = 0
      this.counts[number] = 0
    }
    return bucket
  }
}
