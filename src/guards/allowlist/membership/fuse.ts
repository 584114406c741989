import { CatracaError } from '../../../core/errors.js'

/**
 * 3-wise binary fuse filter (Graf and Lemire, 2022). Each member has three slots, one in each of three
 * neighbouring segments, whose fingerprints XOR to the member's own. A query reads three slots. A build solves the
 * equations by peeling: a member that is alone in a slot is removed first and assigned last. Hashes are pairs of
 * words, `[hi, lo, hi, lo, …]`.
 */
export type FingerprintBits = 16 | 32
export type Fingerprints = Uint16Array | Uint32Array

export interface FuseShape {
  segmentLengthLog2: number
  /** Number of segments that a member's first slot may be in. 0 for a filter without members. */
  segmentCount: number
  slotCount: number
}

/** A member's segment is computed from 24 bits, so that the product stays within 32. */
export const MAX_SEGMENTS = 255
/** Two positions within a segment are computed from 32 bits. */
export const MAX_SEGMENT_LENGTH_LOG2 = 16

/** The sizes that, according to the authors, succeed nearly always. */
export function fuseShape(count: number): FuseShape {
  if (count === 0) return { segmentLengthLog2: 0, segmentCount: 0, slotCount: 0 }
  const segmentLengthLog2 = Math.floor(Math.log(count) / Math.log(3.33) + 2.25)
  const factor = count === 1 ? 1 : Math.max(1.125, 0.875 + (0.25 * Math.log(1e6)) / Math.log(count))
  const segments = Math.ceil(Math.round(count * factor) / 2 ** segmentLengthLog2)
  const segmentCount = Math.max(1, segments - 2)
  if (segmentCount > MAX_SEGMENTS)
    throw new CatracaError('INTERNAL', `${count} hashes are too many for a page`)
  return { segmentLengthLog2, segmentCount, slotCount: (segmentCount + 2) * 2 ** segmentLengthLog2 }
}

/** Mixes the low word with the page's seed. */
export function mixLow(lo: number, seed: number): number {
  let x = lo ^ seed
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b)
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35)
  return x ^ (x >>> 16)
}

/**
 * Mixes the high word with the low one. A bijection for each `x`, so different hashes stay different. Within a
 * page, where the top bits of `hi` are all the same, the result is still well distributed.
 */
export function mixHigh(hi: number, x: number): number {
  const y = Math.imul(hi ^ x, 0x9e3779b1)
  return Math.imul(y ^ (y >>> 15), 0x2c1b3c6d)
}

/** The first slot, from the top and the bottom bits of `x`. */
export function firstSlot(x: number, segmentCount: number, log2: number): number {
  return ((Math.imul(x >>> 8, segmentCount) >>> 24) << log2) + (x & ((1 << log2) - 1))
}

export function secondSlot(first: number, y: number, log2: number): number {
  return (first + (1 << log2)) ^ (y >>> (32 - log2))
}

export function thirdSlot(first: number, y: number, log2: number): number {
  return (first + (2 << log2)) ^ ((y << log2) >>> (32 - log2))
}

/** 32 bits from all bits of both words. 16-bit filters use the upper half. */
export function fingerprint(x: number, y: number): number {
  const z = (Math.imul(x, 0x27d4eb2f) + Math.imul(y, 0x165667b1)) | 0
  return z ^ (z >>> 15)
}

/** Whether the 16-bit filter may contain this hash. Never false for a member. */
export function contains16(
  slots: Uint16Array,
  seed: number,
  segmentCount: number,
  log2: number,
  hi: number,
  lo: number,
): boolean {
  const x = mixLow(lo, seed)
  const y = mixHigh(hi, x)
  const first = firstSlot(x, segmentCount, log2)
  const second = secondSlot(first, y, log2)
  const third = thirdSlot(first, y, log2)
  return ((fingerprint(x, y) >>> 16) ^ slots[first]! ^ slots[second]! ^ slots[third]!) === 0
}

/** The same for 32 bits. A separate function, so that each sees one type of array and stays fast. */
export function contains32(
  slots: Uint32Array,
  seed: number,
  segmentCount: number,
  log2: number,
  hi: number,
  lo: number,
): boolean {
  const x = mixLow(lo, seed)
  const y = mixHigh(hi, x)
  const first = firstSlot(x, segmentCount, log2)
  const second = secondSlot(first, y, log2)
  const third = thirdSlot(first, y, log2)
  return (fingerprint(x, y) ^ slots[first]! ^ slots[second]! ^ slots[third]!) === 0
}
