import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { IDENTIFIER_VECTORS } from '../../src/conformance/index.js'
import { identifier, plainName } from '../../src/core/identifiers.js'
import { encodeIdentifier, encodeName, isCatracaError } from '../../src/index.js'

const decode = (encoded: string): string =>
  Buffer.from(
    encoded.replace(/[^~]|~(..)/g, (one, hex?: string) => hex ?? Buffer.from(one).toString('hex')),
    'hex',
  ).toString()

describe('the encoder of identifiers', () => {
  it('makes of every vector what it says', () => {
    for (const { text, identifier: expected, name = expected } of IDENTIFIER_VECTORS) {
      assert.deepEqual([encodeIdentifier(text), encodeName(text)], [expected, name])
    }
  })

  it('makes identifiers of all texts, and never the same of two', () => {
    const text = fc
      .string({ unit: 'binary', minLength: 1, maxLength: 20 })
      .filter((one) => !/\p{Cs}/u.test(one))
    fc.assert(
      fc.property(text, (one) => {
        const [encoded, name] = [encodeIdentifier(one), encodeName(one)]
        assert.equal(identifier('x', encoded).toLowerCase(), encoded.toLowerCase())
        assert.equal(plainName('x', name).toLowerCase(), name.toLowerCase())
        assert.deepEqual([decode(encoded), decode(name)], [one, one])
      }),
    )
  })

  it('refuses what is empty, no text, half a character, or too long', () => {
    assert.equal(encodeIdentifier('x'.repeat(256)).length, 256)
    for (const wrong of ['', 'x'.repeat(257), '|'.repeat(86), '\ud83d', 7, undefined]) {
      assert.throws(
        () => encodeIdentifier(wrong as string, 'user'),
        (error) => isCatracaError(error, 'INVALID_INPUT') && error.errors?.[0]?.path === 'user',
      )
    }
  })
})
