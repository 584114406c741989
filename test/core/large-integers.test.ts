import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { largeInteger } from '../../src/core/large-integers.js'

const found = (text: string, root?: string): string | undefined => largeInteger(text, JSON.parse(text), root)

describe('largeInteger', () => {
  it('names the place of an integer that was rounded', () => {
    assert.equal(found('{"a":[{"b":1},{"b":-9007199254740993}]}'), 'a[1].b')
    assert.equal(found('{"a":12345678901234567890123}', 'value'), 'value.a')
    assert.equal(found('9007199254740993', 'value'), 'value')
    assert.equal(found('[[0,10000000000000001]]'), '[0][1]')
  })

  it('passes texts, smaller integers and floating point', () => {
    for (const text of [
      '{"a":9007199254740991,"b":-9007199254740991}',
      '{"a":9007199254740992,"b":123456789012345680000}',
      '{"a":"9007199254740993","12345678901234567890":1}',
      '{"a":"\\\\","b":"\\"9007199254740993","c":"\\\\\\"12345678901234567890"}',
      '{"a":0.12345678901234567890,"b":1234567890123456789.5,"c":1234567890123456789e5,"d":6.02e23}',
    ])
      assert.equal(found(text), undefined, text)
  })

  it('passes one that a later member of the same name has replaced', () => {
    assert.equal(found('{"a":9007199254740993,"a":1}'), undefined)
    assert.equal(found('{"a":9007199254740993,"a":1,"b":9007199254740995}'), 'b')
  })

  it('is not stopped by depth, and keeps the path short', () => {
    const depth = 200_000
    const text = `${'['.repeat(depth)}9007199254740993${']'.repeat(depth)}`
    assert.match(found(text)!, /^(\[0\]){85}\[…$/)
  })
})
