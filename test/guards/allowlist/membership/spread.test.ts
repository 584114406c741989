import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { topBits } from '../../../../src/guards/allowlist/membership/directory.js'
import {
  fingerprint,
  firstSlot,
  fuseShape,
  mixHigh,
  mixLow,
  secondSlot,
  thirdSlot,
} from '../../../../src/guards/allowlist/membership/fuse.js'
import { chiSquareDeviation, probeOf, uuidOf } from './support.js'

/** Ids as real systems number their customers; a weak hash would put neighbours near each other. */
const COUNT = 150_000
const SOURCES: Record<string, (i: number) => string> = {
  'sequential UUIDs': (i) => uuidOf(BigInt(i)),
  'UUIDs that differ in their first digits': (i) => uuidOf(BigInt(i) << 100n),
  'version 7 UUIDs': (i) => uuidOf(versionSeven(i)),
  'numbers as text': (i) => String(i),
  'numbers of 11 digits': (i) => String(10_000_000_000 + i),
}
/** Keys and ids are fixed, so this is no gamble: what is within the limit once stays there. */
const LIMIT = 4.5

/** Milliseconds, version, counter and variant, with a random part that never changes: the hardest case. */
function versionSeven(i: number): bigint {
  const time = 0x18f3c5e7b20n + BigInt(i >> 6)
  return (time << 80n) | (7n << 76n) | (BigInt(i & 63) << 64n) | (2n << 62n) | 12345n
}

/** How often each value of what a page does with a hash occurs. */
class Tally {
  private readonly shape = fuseShape(COUNT)
  readonly segment = new Uint32Array(this.shape.segmentCount)
  readonly page = new Uint32Array(256)
  readonly first = new Uint32Array(256)
  readonly second = new Uint32Array(256)
  readonly third = new Uint32Array(256)
  readonly secondWithThird = new Uint32Array(256)
  readonly upperPrint = new Uint32Array(256)
  readonly lowerPrint = new Uint32Array(256)

  count(hi: number, lo: number): void {
    const { segmentCount, segmentLengthLog2 } = this.shape
    const x = mixLow(lo, 0x9e3779b9)
    const y = mixHigh(hi, x)
    const first = firstSlot(x, segmentCount, segmentLengthLog2)
    const second = secondSlot(first, y, segmentLengthLog2)
    const third = thirdSlot(first, y, segmentLengthLog2)
    const print = fingerprint(x, y)
    const coarse = segmentLengthLog2 - 8
    this.segment[first >>> segmentLengthLog2]!++
    this.page[topBits(hi, 8)]!++
    this.first[(first >>> coarse) & 255]!++
    this.second[(second >>> coarse) & 255]!++
    this.third[(third >>> coarse) & 255]!++
    this.secondWithThird[((second & 15) << 4) | (third & 15)]!++
    this.upperPrint[print >>> 24]!++
    this.lowerPrint[print & 255]!++
  }

  assertEven(names: (keyof Tally)[]): void {
    for (const name of names) {
      const deviation = chiSquareDeviation(this[name] as Uint32Array)
      assert.ok(Math.abs(deviation) < LIMIT, `${name}: ${deviation.toFixed(2)} deviations`)
    }
  }
}

const IN_PAGE: (keyof Tally)[] = [
  'segment',
  'first',
  'second',
  'third',
  'secondWithThird',
  'upperPrint',
  'lowerPrint',
]

describe('spread of the hash', () => {
  for (const [name, idOf] of Object.entries(SOURCES)) {
    it(`is even over pages, slots and fingerprints: ${name}`, () => {
      const tally = new Tally()
      for (let i = 0; i < COUNT; i++) {
        const { hi, lo } = probeOf(idOf(i))
        tally.count(hi, lo)
      }
      tally.assertEven(['page', ...IN_PAGE])
    })
  }

  it('is even within one page of 65,536, where half of the upper word is always the same', () => {
    const tally = new Tally()
    const places = new Set<number>()
    for (let i = 0; i < COUNT; i++) {
      const { hi, lo } = probeOf(String(i))
      const sameTop = (hi & 0xffff) | 0x12340000
      tally.count(sameTop, lo)
      places.add(mixHigh(sameTop, mixLow(lo, 1)))
    }
    tally.assertEven(IN_PAGE)
    assert.ok(places.size > 0.999 * COUNT, `the second and third slots come from only ${places.size} values`)
  })

  it('changes every bit of the hash half of the time for each bit of a UUID', () => {
    const rounds = 400
    let worst = 0
    for (let bit = 0n; bit < 128n; bit += 5n) {
      const flips = new Uint32Array(64)
      for (let i = 0; i < rounds; i++) {
        const number = BigInt(i) << 40n
        const { hi, lo } = probeOf(uuidOf(number))
        const other = probeOf(uuidOf(number ^ (1n << bit)))
        for (let j = 0; j < 32; j++) {
          flips[j]! += ((hi ^ other.hi) >>> j) & 1
          flips[32 + j]! += ((lo ^ other.lo) >>> j) & 1
        }
      }
      for (const count of flips) worst = Math.max(worst, Math.abs(count / rounds - 0.5))
    }
    // Five standard deviations of 400 coin tosses.
    assert.ok(worst < 0.125, `a bit flips ${worst} off one half`)
  })
})
