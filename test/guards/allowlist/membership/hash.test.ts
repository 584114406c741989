import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { MEMBERSHIP_HASH_VECTORS } from '../../../../src/conformance/vectors/membership-hash.js'
import { isUuid } from '../../../../src/core/identifiers.js'
import { writeCustomerKey } from '../../../../src/guards/allowlist/customer-key.js'
import { CustomerProbe, hashKey, keyCheck } from '../../../../src/guards/allowlist/membership/hash.js'
import { chaskey, type Words } from './chaskey-reference.js'
import { KEY, probeOf } from './support.js'

const ID_CHARACTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._~:@+=-'
const identifiers = fc.string({ unit: fc.constantFrom(...ID_CHARACTERS), minLength: 1, maxLength: 256 })
const keys = fc.uint8Array({ minLength: 16, maxLength: 16 }).filter((key) => key.some((byte) => byte !== 0))
/** Nearly a UUID: one character of it is something else. */
const nearUuids = fc
  .tuple(fc.uuid(), fc.nat(35), fc.constantFrom(...ID_CHARACTERS))
  .map(([id, at, character]) => id.slice(0, at) + character + id.slice(at + 1))

/** The empty message and the ends of the first blocks, from the paper's reference code. */
const PUBLISHED_KEY = [0x833d3433, 0x009f389f, 0x2398e64f, 0x417acf39]
const PUBLISHED: [number, Words][] = [
  [0, [0x792e8fe5, 0x75ce87aa, 0x2d1450b5, 0x1191970b]],
  [1, [0x13a9307b, 0x50e62c89, 0x4577bd88, 0xc0bbdc18]],
  [15, [0x51b94da4, 0xefcc4de8, 0x192412ea, 0xbbc170dd]],
  [16, [0x79271ca9, 0xd66a1c71, 0x81ca474e, 0x49831cad]],
  [17, [0x048da968, 0x4e25d096, 0x2d6cf897, 0xbc3959ca]],
  [32, [0x60b3f7af, 0x37eee7c8, 0x836cfd98, 0x782ca060]],
  [63, [0x9047fad7, 0x88136d8c, 0xa488286b, 0x7fe9352c]],
]

function hex(probe: CustomerProbe): string {
  return [probe.hi, probe.lo].map((word) => (word >>> 0).toString(16).padStart(8, '0')).join('')
}

function expected(keyBytes: Uint8Array, id: string): string {
  const uuid = isUuid(id)
  const message = uuid ? Buffer.from(id.replaceAll('-', ''), 'hex') : Buffer.from(id)
  const [hi, lo] = chaskey(keyBytes, new Uint8Array(message), 12, uuid)
  return [hi, lo].map((word) => word.toString(16).padStart(8, '0')).join('')
}

describe('the reference that the hash is compared with', () => {
  it('is Chaskey', () => {
    const key = new Uint8Array(new Uint32Array(PUBLISHED_KEY).buffer)
    for (const [length, tag] of PUBLISHED) {
      assert.deepEqual(
        chaskey(
          key,
          Uint8Array.from({ length }, (_, i) => i),
          8,
        ),
        tag,
        `length ${length}`,
      )
    }
  })
})

describe('hash of a customer', () => {
  it('gives the vectors', () => {
    for (const { key, customerId, hash } of MEMBERSHIP_HASH_VECTORS) {
      assert.equal(hex(probeOf(customerId, hashKey(Buffer.from(key, 'hex')))), hash, customerId)
    }
  })

  it('is documented with some of them', () => {
    const page = readFileSync(new URL('../../../../../docs/membership.md', import.meta.url), 'utf8')
    const rows = [...page.matchAll(/^\| `([0-9a-f]{32})` \| `(.+)` \| `([0-9a-f]{16})` \|$/gm)]
    assert.equal(rows.length, 8)
    for (const [, key, customerId, hash] of rows) {
      const vector = MEMBERSHIP_HASH_VECTORS.find((v) => v.key === key && v.customerId === customerId)
      assert.equal(hash, vector?.hash, customerId)
    }
  })

  it('is Chaskey-12 of any identifier under any key', () => {
    fc.assert(
      fc.property(keys, fc.oneof(identifiers, fc.uuid(), nearUuids), (key, id) => {
        assert.equal(hex(probeOf(id, hashKey(key))), expected(key, id))
      }),
      { numRuns: 500 },
    )
  })

  it('is the same from the string, in any case of a UUID, and from the key bytes', () => {
    const target = new Uint8Array(300)
    const probe = new CustomerProbe()
    fc.assert(
      fc.property(fc.oneof(identifiers, fc.uuid(), nearUuids), fc.nat(20), (id, offset) => {
        const fromString = hex(probeOf(id))
        probe.setKey(target, offset, writeCustomerKey(id, target, offset))
        probe.hash(KEY)
        assert.equal(hex(probe), fromString)
        if (isUuid(id)) assert.equal(hex(probeOf(id.toUpperCase())), fromString)
      }),
      { numRuns: 500 },
    )
  })

  it('does not depend on what the probe held before', () => {
    fc.assert(
      fc.property(fc.oneof(identifiers, fc.uuid()), fc.oneof(identifiers, fc.uuid()), (before, id) => {
        const fresh = new CustomerProbe()
        fresh.setId(id)
        fresh.hash(KEY)
        probeOf(before)
        const reused = probeOf(id)
        assert.equal(hex(reused), hex(fresh))
        assert.deepEqual(reused.words.subarray(0, reused.wordCount), fresh.words.subarray(0, fresh.wordCount))
      }),
    )
  })

  it('refuses what is no identifier instead of confusing it with one', () => {
    assert.throws(() => probeOf('maria\u0161'), /outside ASCII/)
    assert.throws(() => probeOf('550e8400-e29b-4d4e-a164-42665544000\u0130'), /outside ASCII/)
    assert.throws(() => probeOf('a'.repeat(257)), /at most 256/)
    assert.throws(() => hashKey(new Uint8Array(15)), /16 bytes/)
    assert.throws(() => hashKey(new Uint8Array(16)), /all zero/)
  })

  it('gives keys a check word that differs', () => {
    const words = Array.from({ length: 100 }, (_, i) => keyCheck(hashKey(new Uint8Array(16).fill(i + 1))))
    assert.equal(new Set(words).size, 100)
  })
})
