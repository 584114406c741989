import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import fc from 'fast-check'
import { UNSALTED_WAVE_VECTORS, WAVE_HASH_VECTORS } from '../../../src/conformance/vectors/wave-hash.js'
import { isCatracaError } from '../../../src/core/errors.js'
import { identifier } from '../../../src/core/identifiers.js'
import { hashFromState, murmur3, placeBy, saltState } from '../../../src/guards/allowlist/wave/hash.js'
import { compileWave } from '../../../src/guards/allowlist/wave/index.js'

const SALT = '0123456789abcdef0123456789abcdef'
const ID_CHARACTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._~:@+=-'
const anyId = fc.string({ unit: fc.constantFrom(...ID_CHARACTERS), minLength: 1, maxLength: 256 })
const anySalt = fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), minLength: 32, maxLength: 32 })

test('the hash is the standard MurmurHash3_x86_32', () => {
  assert.equal(murmur3('', 0), 0)
  assert.equal(murmur3('', 1), 0x514e28b7)
  assert.equal(murmur3('', 0xffffffff), 0x81f16f39)
  assert.equal(murmur3('hello', 0), 0x248bfa47)
  assert.equal(murmur3('hello, world', 0), 0x149bbb7f)
  assert.equal(murmur3('The quick brown fox jumps over the lazy dog', 0x9747b28c), 0x2fa826cd)
  assert.equal(murmur3('aaaa', 0x9747b28c), 0x5a97808a)
  assert.equal(murmur3('aaa', 0x9747b28c), 0x283e0130)
  assert.equal(murmur3('aa', 0x9747b28c), 0x5d211726)
  assert.equal(murmur3('a', 0x9747b28c), 0x7fa09ea6)
})

test('every published vector comes out of the code', () => {
  assert.ok(WAVE_HASH_VECTORS.length >= 12)
  for (const { salt, customerId, hash, place } of WAVE_HASH_VECTORS) {
    const actual = hashFromState(saltState(salt), customerId)
    assert.equal(actual.toString(16).padStart(8, '0'), hash, `hash of ${salt} ${customerId}`)
    assert.equal(placeBy(salt)(customerId), actual / 2 ** 32)
    assert.equal(placeBy(salt)(customerId).toFixed(10), place, `place of ${salt} ${customerId}`)
  }
})

test('the vectors reach every length of the last block and both ends of the range', () => {
  const tails = new Set(WAVE_HASH_VECTORS.map(({ customerId }) => customerId.length % 4))
  assert.deepEqual([...tails].sort(), [0, 1, 2, 3])
  assert.ok(WAVE_HASH_VECTORS.some(({ hash }) => hash.startsWith('000')))
  assert.ok(WAVE_HASH_VECTORS.some(({ hash }) => hash.startsWith('fff')))
})

test('the table in the reference is the vectors', () => {
  const page = readFileSync(new URL('../../../../docs/reference/wave-hash.md', import.meta.url), 'utf8')
  const rows = [...page.matchAll(/^\| `(\w{32})` \| `([^`]+)` \| `(\w{8})` \| ([\d.]+) \|$/gm)]
  const published = rows.map(([, salt, customerId, hash, place]) => ({ salt, customerId, hash, place }))
  assert.deepEqual(published, WAVE_HASH_VECTORS)
})

test('every vector of a wave without salt comes out of the code, and stands in the reference', () => {
  const page = readFileSync(new URL('../../../../docs/reference/wave-hash.md', import.meta.url), 'utf8')
  const rows = [...page.matchAll(/^\| `([^`]+)` \| `(\w{8})` \| ([\d.]+) \|$/gm)]
  const published = rows.map(([, customerId, hash, place]) => ({ customerId, hash, place }))
  assert.deepEqual(published, UNSALTED_WAVE_VECTORS)
  for (const { customerId, hash, place } of UNSALTED_WAVE_VECTORS) {
    assert.equal(placeBy('')(customerId), Number.parseInt(hash, 16) / 2 ** 32)
    assert.equal(placeBy('')(customerId).toFixed(10), place, `place of ${customerId}`)
  }
})

test('a wave without salt lets in by that place, and raising it keeps everybody', () => {
  for (const { customerId, hash } of UNSALTED_WAVE_VECTORS) {
    const place = Number.parseInt(hash, 16) / 2 ** 32
    const isIn = (percentage: number): boolean => {
      const wave = compileWave({ salt: '', config: { strategy: 'PERCENTAGE', percentage } })
      return wave.admission.admits(customerId, 0)
    }
    assert.deepEqual([isIn(place), isIn(place + 2 ** -32), isIn(1)], [false, true, true], customerId)
  }
})

test('going on from the salt is the same as hashing salt and customer in one piece', () => {
  fc.assert(
    fc.property(anySalt, anyId, (salt, id) => {
      assert.equal(hashFromState(saltState(salt), id), murmur3(salt + id, 0))
    }),
  )
})

test('a place is a whole number of 2^-32 steps in [0, 1)', () => {
  fc.assert(
    fc.property(anySalt, anyId, (salt, id) => {
      const place = placeBy(salt)(id)
      assert.ok(place >= 0 && place < 1)
      assert.ok(Number.isInteger(place * 2 ** 32))
    }),
  )
})

test('a UUID stands in one place, whatever its case', () => {
  const upper = '550E8400-E29B-4D4E-A164-426655440000'
  assert.equal(placeBy(SALT)(identifier('customerId', upper)), placeBy(SALT)(upper.toLowerCase()))
  assert.notEqual(placeBy(SALT)(identifier('customerId', 'A')), placeBy(SALT)('a'))
})

test('only a salt of 32 lower-case hexadecimal characters is taken', () => {
  for (const salt of ['', SALT.slice(1), `${SALT}0`, SALT.toUpperCase(), `g${SALT.slice(1)}`, `${SALT}\n`]) {
    assert.throws(
      () => saltState(salt),
      (error) => isCatracaError(error, 'INTERNAL'),
    )
  }
})
