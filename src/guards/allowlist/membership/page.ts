import { crc32 } from 'node:zlib'
import { CatracaError } from '../../../core/errors.js'
import { MAX_DEPTH, MAX_PAGE_BYTES, maxPageCustomers, type PageRange, rangeName } from './directory.js'
import {
  type FingerprintBits,
  type Fingerprints,
  type FuseShape,
  MAX_SEGMENT_LENGTH_LOG2,
  MAX_SEGMENTS,
} from './fuse.js'
import type { FuseBuilder } from './fuse-builder.js'

/**
 * The stored form of a page, little-endian:
 *
 * | byte | holds |
 * |---|---|
 * | 0 | `CTPG` |
 * | 4 | version of this format, bits per fingerprint, depth, log2 of the segment length (a byte each) |
 * | 8 | index of the range |
 * | 12 | customers |
 * | 16 | seed |
 * | 20 | segments in which a first slot may lie |
 * | 24 | slots |
 * | 28 | check word of the list's key |
 * | 32 | 0 |
 * | 36 | CRC-32 of bytes 0 to 35 and 40 to the end |
 * | 40 | fingerprints |
 */
const MAGIC = 0x47505443
const VERSION = 1
const CHECKSUM_AT = 36
export const PAGE_HEADER_BYTES = 40

// Pages are used as they are stored, so a big-endian machine would read every fingerprint wrong.
if (new Uint8Array(new Uint16Array([1]).buffer)[0] !== 1) {
  throw new CatracaError('INTERNAL', 'The membership index needs a little-endian machine')
}

export interface FilterPage extends FuseShape {
  range: PageRange
  fingerprintBits: FingerprintBits
  count: number
  seed: number
  /** Distinguishes pages of lists with different keys. See `keyCheck`. */
  keyCheck: number
  checksum: number
  slots: Fingerprints
}

/** The value read, or the fault. */
export type Reading<T> = { ok: true; value: T } | { ok: false; fault: string }

export interface PageIdentity {
  range: PageRange
  fingerprintBits: FingerprintBits
  keyCheck: number
}

export interface EncodedPage {
  range: PageRange
  count: number
  checksum: number
  bytes: Uint8Array<ArrayBuffer>
}

/** Builds the page of the hashes [from, to), which may be reordered. */
export function buildPage(
  builder: FuseBuilder,
  identity: PageIdentity,
  hashes: Uint32Array,
  from: number,
  to: number,
): EncodedPage {
  const { range, fingerprintBits } = identity
  const fit = builder.fit(hashes, from, to)
  const sizeBytes = PAGE_HEADER_BYTES + (fit.slotCount * fingerprintBits) / 8
  if (fit.count > maxPageCustomers(fingerprintBits) || sizeBytes > MAX_PAGE_BYTES) {
    throw new CatracaError('INTERNAL', `Page ${rangeName(range)} with ${fit.count} customers is too big`)
  }
  const bytes = new Uint8Array(sizeBytes)
  builder.assign(fit, slotsOf(bytes, fingerprintBits))
  const checksum = writeHeader(bytes, { ...identity, ...fit })
  return { range, count: fit.count, checksum, bytes }
}

function writeHeader(bytes: Uint8Array<ArrayBuffer>, page: Omit<FilterPage, 'slots' | 'checksum'>): number {
  const view = new DataView(bytes.buffer)
  view.setUint32(0, MAGIC, true)
  bytes.set([VERSION, page.fingerprintBits, page.range.depth, page.segmentLengthLog2], 4)
  const words = [page.range.index, page.count, page.seed, page.segmentCount, page.slotCount, page.keyCheck, 0]
  words.forEach((word, i) => {
    view.setUint32(8 + 4 * i, word, true)
  })
  const checksum = checksumOf(bytes)
  view.setUint32(CHECKSUM_AT, checksum, true)
  return checksum
}

function checksumOf(bytes: Uint8Array): number {
  return crc32(bytes.subarray(PAGE_HEADER_BYTES), crc32(bytes.subarray(0, CHECKSUM_AT)))
}

function slotsOf(bytes: Uint8Array, bits: FingerprintBits): Fingerprints {
  const at = bytes.byteOffset + PAGE_HEADER_BYTES
  const length = (bytes.byteLength - PAGE_HEADER_BYTES) / (bits / 8)
  return bits === 16 ? new Uint16Array(bytes.buffer, at, length) : new Uint32Array(bytes.buffer, at, length)
}

/** The stored form of a page that was read: it still uses that memory. */
export function pageBytes({ slots }: FilterPage): Uint8Array {
  return new Uint8Array(
    slots.buffer,
    slots.byteOffset - PAGE_HEADER_BYTES,
    PAGE_HEADER_BYTES + slots.byteLength,
  )
}

/**
 * Reads a page and verifies all of it. If `bytes` is a whole buffer, the page uses its memory. Otherwise it copies
 * it: a view would keep a larger buffer in memory, or could be overwritten.
 */
export function readPage(bytes: Uint8Array): Reading<FilterPage> {
  if (bytes.byteLength < PAGE_HEADER_BYTES) return fault(`it has only ${bytes.byteLength} bytes`)
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const word = (at: number): number => view.getUint32(at, true)
  if (word(0) !== MAGIC) return fault('it does not begin as a page does')
  if (bytes[4] !== VERSION)
    return fault(`it has format version ${bytes[4]}, and this program reads ${VERSION}`)
  const checksum = word(CHECKSUM_AT)
  if (checksumOf(bytes) !== checksum) return fault('its checksum is wrong')
  const page: Omit<FilterPage, 'slots'> = {
    range: { depth: bytes[6]!, index: word(8) },
    fingerprintBits: bytes[5] as FingerprintBits,
    count: word(12),
    seed: word(16) | 0,
    segmentLengthLog2: bytes[7]!,
    segmentCount: word(20),
    slotCount: word(24),
    keyCheck: word(28),
    checksum,
  }
  const shapeFault = faultOfShape(page, bytes.byteLength)
  if (shapeFault !== undefined) return fault(shapeFault)
  const own = bytes.byteLength === bytes.buffer.byteLength ? bytes : Uint8Array.prototype.slice.call(bytes)
  return { ok: true, value: { ...page, slots: slotsOf(own, page.fingerprintBits) } }
}

const fault = (text: string): { ok: false; fault: string } => ({ ok: false, fault: text })

/** A page that was built wrong still has a right checksum, so its fields must also be consistent. */
function faultOfShape(page: Omit<FilterPage, 'slots'>, sizeBytes: number): string | undefined {
  const { range, fingerprintBits, segmentCount, segmentLengthLog2, slotCount } = page
  if (fingerprintBits !== 16 && fingerprintBits !== 32)
    return `it has ${fingerprintBits} bits per fingerprint`
  if (range.depth > MAX_DEPTH || range.index >= 2 ** range.depth)
    return `there is no page ${rangeName(range)}`
  if (segmentCount > MAX_SEGMENTS || segmentLengthLog2 > MAX_SEGMENT_LENGTH_LOG2) {
    return `it has ${segmentCount} segments of 2^${segmentLengthLog2} slots`
  }
  const expectedSlots = segmentCount === 0 ? 0 : (segmentCount + 2) * 2 ** segmentLengthLog2
  if (slotCount !== expectedSlots || (segmentCount === 0) !== (page.count === 0)) {
    return `${slotCount} slots do not fit ${segmentCount} segments and ${page.count} customers`
  }
  if (sizeBytes !== PAGE_HEADER_BYTES + (slotCount * fingerprintBits) / 8) {
    return `${sizeBytes} bytes do not hold ${slotCount} slots`
  }
  return undefined
}
