import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { MAX_PAGE_BYTES, maxPageCustomers } from '../../../../src/guards/allowlist/membership/directory.js'
import { FuseBuilder } from '../../../../src/guards/allowlist/membership/fuse-builder.js'
import {
  buildPage,
  type EncodedPage,
  PAGE_HEADER_BYTES,
  readPage,
} from '../../../../src/guards/allowlist/membership/page.js'
import { randomHashes } from './support.js'

const builder = new FuseBuilder()

function pageOf(count: number, fingerprintBits: 16 | 32 = 16): EncodedPage {
  const identity = { range: { depth: 3, index: 5 }, fingerprintBits, keyCheck: 0xfeedbeef }
  return buildPage(builder, identity, randomHashes(count, count), 0, count)
}

function faultOf(bytes: Uint8Array): string {
  const reading = readPage(bytes)
  assert.ok(!reading.ok, 'the page was accepted')
  return reading.fault
}

/** A copy with one word of the header changed and the checksum made right again. */
function rewritten(page: EncodedPage, at: number, value: number): Uint8Array {
  const bytes = page.bytes.slice()
  const view = new DataView(bytes.buffer)
  view.setUint32(at, value, true)
  view.setUint32(36, crc32(bytes.subarray(PAGE_HEADER_BYTES), crc32(bytes.subarray(0, 36))), true)
  return bytes
}

describe('a stored page', () => {
  it('is read back as it was built', () => {
    fc.assert(
      fc.property(fc.nat(2000), fc.constantFrom(16 as const, 32 as const), (count, bits) => {
        const built = pageOf(count, bits)
        const reading = readPage(built.bytes)
        assert.ok(reading.ok)
        const { slots, ...rest } = reading.value
        assert.equal(slots.length, rest.slotCount)
        assert.equal(slots.BYTES_PER_ELEMENT, bits / 8)
        assert.deepEqual(
          [rest.range, rest.count, rest.fingerprintBits, rest.keyCheck, rest.checksum],
          [{ depth: 3, index: 5 }, count, bits, 0xfeedbeef, built.checksum],
        )
      }),
    )
  })

  it('is read without a copy from memory of its own, and copied out of any other', () => {
    const { bytes } = pageOf(100)
    const own = readPage(bytes)
    assert.ok(own.ok)
    assert.equal(own.value.slots.buffer, bytes.buffer)
    for (const offset of [1, 2, 4]) {
      const shared = new Uint8Array(bytes.length + 8)
      shared.set(bytes, offset)
      const reading = readPage(shared.subarray(offset, offset + bytes.length))
      assert.ok(reading.ok)
      shared.fill(0)
      assert.deepEqual(reading.value, own.value)
    }
    const buffer = Buffer.concat([Buffer.alloc(3), bytes]).subarray(3)
    assert.deepEqual(readPage(buffer), own)
  })

  it('is refused when any byte is not what was written', () => {
    const { bytes } = pageOf(30)
    for (let at = 0; at < bytes.length; at++) {
      for (const change of [0x01, 0x80, 0xff]) {
        const damaged = bytes.slice()
        damaged[at]! ^= change
        assert.match(faultOf(damaged), /checksum|version|begin/, `byte ${at}`)
      }
    }
  })

  it('is refused when it is cut or prolonged', () => {
    const { bytes } = pageOf(30)
    for (let length = 0; length < bytes.length; length++) faultOf(bytes.slice(0, length))
    assert.match(faultOf(new Uint8Array([...bytes, 0])), /checksum/)
    assert.match(faultOf(new Uint8Array(12)), /only 12 bytes/)
    assert.match(faultOf(new Uint8Array(100)), /does not begin/)
  })

  it('is refused when it contradicts itself, whatever its checksum says', () => {
    const page = pageOf(30)
    const byteWord = new DataView(page.bytes.buffer).getUint32(4, true)
    const withByte = (byte: number, value: number): number =>
      (byteWord & ~(0xff << (8 * byte))) | (value << (8 * byte))
    assert.ok(readPage(rewritten(page, 16, 123)).ok, 'another seed is no contradiction')
    assert.match(faultOf(rewritten(page, 4, withByte(0, 2))), /version 2/)
    assert.match(faultOf(rewritten(page, 4, withByte(1, 8))), /8 bits/)
    assert.match(faultOf(rewritten(page, 4, withByte(1, 32))), /do not hold/)
    assert.match(faultOf(rewritten(page, 4, withByte(2, 17))), /no page/)
    assert.match(faultOf(rewritten(page, 4, withByte(3, 30))), /segments of/)
    assert.match(faultOf(rewritten(page, 8, 8)), /no page 8\/8/)
    assert.match(faultOf(rewritten(page, 12, 0)), /do not fit/)
    assert.match(faultOf(rewritten(page, 20, 300)), /300 segments/)
    assert.match(faultOf(rewritten(page, 20, 2)), /do not fit/)
    assert.match(faultOf(rewritten(page, 24, 10)), /do not fit/)
  })

  it('fits an item of a store when it is as full as it may be, and is never fuller', () => {
    for (const bits of [16, 32] as const) {
      const most = maxPageCustomers(bits)
      assert.ok(pageOf(most, bits).bytes.length <= MAX_PAGE_BYTES)
      assert.throws(() => pageOf(most + 1, bits), /too big/)
    }
  })

  it('of no customers has no slots', () => {
    assert.equal(pageOf(0).bytes.length, PAGE_HEADER_BYTES)
  })
})
