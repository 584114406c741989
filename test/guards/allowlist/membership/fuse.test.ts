import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import {
  contains16,
  contains32,
  type FingerprintBits,
  fingerprint,
  firstSlot,
  fuseShape,
  mixHigh,
  mixLow,
  secondSlot,
  thirdSlot,
} from '../../../../src/guards/allowlist/membership/fuse.js'
import {
  dropRepeats,
  FuseBuilder,
  type FuseFit,
} from '../../../../src/guards/allowlist/membership/fuse-builder.js'
import { randomHashes } from './support.js'

const builder = new FuseBuilder()

interface Filter {
  fit: FuseFit
  has(hi: number, lo: number): boolean
}

function build(hashes: Uint32Array, bits: FingerprintBits): Filter {
  const fit = builder.fit(hashes.slice(), 0, hashes.length / 2)
  const { seed, segmentCount, segmentLengthLog2, slotCount } = fit
  if (bits === 16) {
    const slots = new Uint16Array(slotCount)
    builder.assign(fit, slots)
    return { fit, has: (hi, lo) => contains16(slots, seed, segmentCount, segmentLengthLog2, hi, lo) }
  }
  const slots = new Uint32Array(slotCount)
  builder.assign(fit, slots)
  return { fit, has: (hi, lo) => contains32(slots, seed, segmentCount, segmentLengthLog2, hi, lo) }
}

function missing(filter: Filter, hashes: Uint32Array): number {
  let count = 0
  for (let i = 0; i < hashes.length; i += 2) if (!filter.has(hashes[i]!, hashes[i + 1]!)) count++
  return count
}

describe('binary fuse filter', () => {
  it('holds every member at every small size', () => {
    for (const bits of [16, 32] as const) {
      for (let count = 1; count <= 400; count++) {
        const hashes = randomHashes(count, 1000 * count)
        const filter = build(hashes, bits)
        assert.equal(filter.fit.count, count)
        assert.equal(missing(filter, hashes), 0, `${count} members at ${bits} bits`)
      }
    }
  })

  it('holds any set of hashes, however little they differ', () => {
    const words = fc.oneof(fc.nat(3), fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }))
    fc.assert(
      fc.property(fc.array(fc.tuple(words, words), { minLength: 1, maxLength: 300 }), (pairs) => {
        const hashes = Uint32Array.from(pairs.flat())
        const filter = build(hashes, 16)
        assert.equal(missing(filter, hashes), 0)
        assert.equal(filter.fit.count, new Set(pairs.map(String)).size)
      }),
    )
  })

  it('holds every member at the sizes of real pages', () => {
    for (const count of [10_000, 79_999, 143_999, 160_000]) {
      const hashes = randomHashes(count, count)
      assert.equal(missing(build(hashes, 16), hashes), 0, `${count} members`)
    }
  })

  it('is built in few attempts', () => {
    let attempts = 0
    const rounds = 300
    for (let round = 0; round < rounds; round++) {
      const { seed } = build(randomHashes(50 + 10 * round, round), 16).fit
      let attempt = 1
      while (Math.imul(attempt, 0x9e3779b9) !== seed) attempt++
      attempts += attempt
      assert.ok(attempt <= 12, `${attempt} attempts`)
    }
    assert.ok(attempts / rounds < 1.5, `${attempts / rounds} attempts on average`)
  })

  it('says yes to one stranger in 65,536', () => {
    const members = 150_000
    const filter = build(randomHashes(members, 1), 16)
    const strangers = randomHashes(3_000_000, 77)
    const wrong = strangers.length / 2 - missing(filter, strangers)
    const expected = strangers.length / 2 / 65_536
    assert.ok(
      Math.abs(wrong - expected) < 5 * Math.sqrt(expected),
      `${wrong} false positives, not ${expected}`,
    )
  })

  it('keeps all 32 bits of a wide fingerprint apart', () => {
    // One error in 2^32 cannot be counted; one in 2^12 for each run of 12 bits can.
    const fit = builder.fit(randomHashes(60_000, 5), 0, 60_000)
    const slots = new Uint32Array(fit.slotCount)
    builder.assign(fit, slots)
    const strangers = randomHashes(400_000, 99)
    const agreeing = new Uint32Array(21)
    for (let i = 0; i < strangers.length; i += 2) {
      const difference = differenceAt(fit, slots, strangers[i]!, strangers[i + 1]!)
      for (let shift = 0; shift <= 20; shift++) if (((difference >>> shift) & 0xfff) === 0) agreeing[shift]!++
    }
    const expected = 400_000 / 4096
    agreeing.forEach((count, shift) => {
      assert.ok(Math.abs(count - expected) < 5 * Math.sqrt(expected), `${count} agree from bit ${shift} on`)
    })
  })

  it('drops repeated hashes, also in the thousands', () => {
    const few = randomHashes(1000, 9)
    const repeated = (times: number): Uint32Array => {
      const hashes = new Uint32Array(2 * (1000 + times))
      for (let i = 0; i < times; i++) hashes.set(few.subarray(0, 2), 2 * i)
      hashes.set(few, 2 * times)
      return hashes
    }
    // With 4,096 more the counts at a slot begin again, and it looks as if one member used it.
    for (const times of [1, 2, 1000, 4095, 4096, 4097, 30_000]) {
      const filter = build(repeated(times), 16)
      assert.equal(filter.fit.count, 1000)
      assert.equal(missing(filter, few), 0)
    }
  })

  it('has room for all and little more', () => {
    for (let count = 1; count <= 160_000; count = Math.ceil(count * 1.1)) {
      const { slotCount, segmentCount, segmentLengthLog2 } = fuseShape(count)
      assert.equal(slotCount, (segmentCount + 2) * 2 ** segmentLengthLog2)
      assert.ok(slotCount >= 1.12 * count, `${count} members in ${slotCount} slots`)
      if (count > 50_000) assert.ok(slotCount <= 1.25 * count, `${count} members in ${slotCount} slots`)
    }
  })
})

/** In which bits a stranger's fingerprint differs from what its slots say. */
function differenceAt(fit: FuseFit, slots: Uint32Array, hi: number, lo: number): number {
  const x = mixLow(lo, fit.seed)
  const y = mixHigh(hi, x)
  const first = firstSlot(x, fit.segmentCount, fit.segmentLengthLog2)
  const second = secondSlot(first, y, fit.segmentLengthLog2)
  const third = thirdSlot(first, y, fit.segmentLengthLog2)
  return fingerprint(x, y) ^ slots[first]! ^ slots[second]! ^ slots[third]!
}

describe('dropping repeats', () => {
  it('keeps each hash once and touches nothing outside', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(20), { maxLength: 60 }), fc.nat(5), (values, from) => {
        const hashes = new Uint32Array(2 * (values.length + from + 3)).fill(7777)
        values.forEach((value, i) => {
          hashes.set([value >> 2, value & 3], 2 * (from + i))
        })
        const end = dropRepeats(hashes, from, from + values.length)
        const kept = Array.from({ length: end - from }, (_, i) => {
          const at = 2 * (from + i)
          return 4 * hashes[at]! + hashes[at + 1]!
        })
        assert.deepEqual(
          kept.sort((a, b) => a - b),
          [...new Set(values)].sort((a, b) => a - b),
        )
        assert.ok(hashes.subarray(0, 2 * from).every((word) => word === 7777))
        assert.ok(hashes.subarray(2 * (from + values.length)).every((word) => word === 7777))
      }),
    )
  })
})
