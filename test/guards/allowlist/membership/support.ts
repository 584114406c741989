import type { FingerprintBits } from '../../../../src/guards/allowlist/membership/fuse.js'
import { CustomerProbe, type HashKey, hashKey } from '../../../../src/guards/allowlist/membership/hash.js'
import { IndexBuilder } from '../../../../src/guards/allowlist/membership/index-builder.js'
import {
  type EncodedPage,
  type FilterPage,
  readPage,
} from '../../../../src/guards/allowlist/membership/page.js'
import { Snapshot } from '../../../../src/guards/allowlist/membership/snapshot.js'

export const KEY: HashKey = hashKey(Uint8Array.from({ length: 16 }, (_, i) => 17 * i + 3))
const probe = new CustomerProbe()

/** The customer, hashed under a key; the same object each time. */
export function probeOf(customerId: string, key: HashKey = KEY): CustomerProbe {
  probe.setId(customerId)
  probe.hash(key)
  return probe
}

export function uuidOf(number: bigint): string {
  const hex = number.toString(16).padStart(32, '0')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

export function buildPages(
  ids: Iterable<string>,
  options: { fingerprintBits?: FingerprintBits; splitAbove?: number; ranges?: FilterPage['range'][] } = {},
): EncodedPage[] {
  const builder = new IndexBuilder({ key: KEY, fingerprintBits: 16, ...options })
  for (const id of ids) builder.addId(id)
  return [...builder.finish()]
}

export function open(page: EncodedPage): FilterPage {
  const reading = readPage(page.bytes)
  if (!reading.ok) throw new Error(reading.fault)
  return reading.value
}

export function snapshotOf(pages: readonly EncodedPage[]): Snapshot {
  const reading = Snapshot.of(pages.map(open))
  if (!reading.ok) throw new Error(reading.fault)
  return reading.value
}

/** Pseudo-random pairs of words, the same for the same seed (splitmix32). */
export function randomHashes(count: number, seed: number): Uint32Array<ArrayBuffer> {
  const hashes = new Uint32Array(2 * count)
  let state = seed
  for (let i = 0; i < hashes.length; i++) {
    state = (state + 0x9e3779b9) | 0
    let z = Math.imul(state ^ (state >>> 16), 0x21f0aaad)
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97)
    hashes[i] = z ^ (z >>> 15)
  }
  return hashes
}

/** How far observed counts are from equal shares, in standard deviations of the chi-square distribution. */
export function chiSquareDeviation(observed: ArrayLike<number>): number {
  let total = 0
  for (let i = 0; i < observed.length; i++) total += observed[i]!
  const expected = total / observed.length
  let chiSquare = 0
  for (let i = 0; i < observed.length; i++) chiSquare += (observed[i]! - expected) ** 2 / expected
  const freedom = observed.length - 1
  return (chiSquare - freedom) / Math.sqrt(2 * freedom)
}
