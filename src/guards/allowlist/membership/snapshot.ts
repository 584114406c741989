import { CatracaError } from '../../../core/errors.js'
import { compareRanges, overlaps, type PageRange, rangeName, tilingFault, topBits } from './directory.js'
import { contains16, contains32, type FingerprintBits, type Fingerprints } from './fuse.js'
import type { Overlay } from './overlay.js'
import { type FilterPage, PAGE_HEADER_BYTES, type Reading } from './page.js'

const PARAMETERS = 3
const POINTER_BYTES = 8

/**
 * The immutable filter of a whole list. Each page has its own array, so that a snapshot with a few rebuilt pages
 * shares the others. Measured: one array for all pages is not faster.
 */
export class Snapshot {
  readonly fingerprintBits: FingerprintBits
  readonly keyCheck: number
  /** Members in all pages. */
  readonly count: number
  readonly sizeBytes: number
  /** The directory has one entry for each value of this many bits. A page of less depth has several entries. */
  private readonly depth: number
  private readonly slots: Fingerprints[]
  /** Seed, segment count and log2 of the segment length of each entry. */
  private readonly parameters: Int32Array
  private readonly pageOfEntry: Uint16Array

  /** `pages` cover the list and are sorted. */
  private constructor(readonly pages: readonly FilterPage[]) {
    const [first] = pages
    this.fingerprintBits = first!.fingerprintBits
    this.keyCheck = first!.keyCheck
    this.depth = pages.reduce((depth, page) => Math.max(depth, page.range.depth), 0)
    const entries = 2 ** this.depth
    this.parameters = new Int32Array(PARAMETERS * entries)
    this.pageOfEntry = new Uint16Array(entries)
    this.slots = []
    pages.forEach((page, number) => {
      for (let i = 2 ** (this.depth - page.range.depth); i > 0; i--) this.enter(page, number)
    })
    this.count = pages.reduce((sum, page) => sum + page.count, 0)
    this.sizeBytes =
      pages.reduce((sum, page) => sum + page.slots.byteLength + PAGE_HEADER_BYTES, 0) +
      this.parameters.byteLength +
      this.pageOfEntry.byteLength +
      POINTER_BYTES * entries
  }

  private enter(page: FilterPage, number: number): void {
    const entry = this.slots.length
    this.slots.push(page.slots)
    this.parameters.set([page.seed, page.segmentCount, page.segmentLengthLog2], PARAMETERS * entry)
    this.pageOfEntry[entry] = number
  }

  static of(pages: readonly FilterPage[]): Reading<Snapshot> {
    const inOrder = [...pages].sort((a, b) => compareRanges(a.range, b.range))
    const fault = tilingFault(inOrder.map((page) => page.range)) ?? differing(inOrder)
    return fault === undefined ? { ok: true, value: new Snapshot(inOrder) } : { ok: false, fault }
  }

  /** False: certainly not a member of the snapshot. True: a member, or a rare false positive. */
  mayContain(hi: number, lo: number): boolean {
    const entry = topBits(hi, this.depth)
    const { parameters } = this
    const at = PARAMETERS * entry
    const segmentCount = parameters[at + 1]!
    if (segmentCount === 0) return false
    const seed = parameters[at]!
    const log2 = parameters[at + 2]!
    return this.fingerprintBits === 16
      ? contains16(this.slots[entry] as Uint16Array, seed, segmentCount, log2, hi, lo)
      : contains32(this.slots[entry] as Uint32Array, seed, segmentCount, log2, hi, lo)
  }

  /** The ranges of the pages that these changes affect, which must be rebuilt. */
  dirtyRanges(overlay: Overlay): PageRange[] {
    const dirty = new Uint8Array(this.pages.length)
    for (let entry = 0; entry < overlay.size; entry++) {
      dirty[this.pageOfEntry[topBits(overlay.hashHi(entry), this.depth)]!] = 1
    }
    return this.pages.filter((_, number) => dirty[number] === 1).map((page) => page.range)
  }

  /** The snapshot with some pages replaced. A split page must be given as all its parts. */
  withPages(replacements: readonly FilterPage[]): Snapshot {
    const covered = (range: PageRange): boolean => replacements.some((page) => overlaps(page.range, range))
    const kept = this.pages.filter((page) => !covered(page.range))
    const reading = Snapshot.of([...kept, ...replacements])
    if (!reading.ok)
      throw new CatracaError('INTERNAL', `The new pages do not fit the snapshot: ${reading.fault}`)
    return reading.value
  }
}

function differing(pages: readonly FilterPage[]): string | undefined {
  const [first] = pages
  for (const page of pages) {
    if (page.fingerprintBits !== first!.fingerprintBits || page.keyCheck !== first!.keyCheck) {
      return `page ${rangeName(page.range)} belongs to another list or precision`
    }
  }
  return undefined
}
