import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { NO_PAYLOAD_SHA256, REQUEST_HASH_VECTORS } from '../../../src/conformance/vectors/idempotency-hash.js'
import { canonicalForm, requestHashOf } from '../../../src/guards/idempotency/canonical.js'

/** Without integers that are no longer what somebody wrote. */
const exact = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (_, each) =>
    Number.isInteger(each) && !Number.isSafeInteger(each) ? 1 / each : each,
  )

describe('the canonical form of a payload', () => {
  for (const { name, payload, canonical, sha256 } of REQUEST_HASH_VECTORS) {
    it(`has the published form: ${name}`, () => {
      assert.equal(canonicalForm(payload), canonical)
      assert.equal(requestHashOf(payload), sha256)
    })
  }

  it('of no payload is nothing, and is not that of null', () => {
    assert.equal(requestHashOf(undefined), NO_PAYLOAD_SHA256)
    assert.notEqual(requestHashOf(null), NO_PAYLOAD_SHA256)
  })

  it('is the same however the JSON is spelled', () => {
    const shuffled = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(shuffled)
      if (typeof value !== 'object' || value === null) return value
      return Object.fromEntries(
        Object.entries(value)
          .reverse()
          .map(([key, one]) => [key, shuffled(one)]),
      )
    }
    fc.assert(
      fc.property(fc.jsonValue().map(exact), (value) => {
        const form = canonicalForm(value)
        assert.equal(canonicalForm(shuffled(value)), form)
        assert.deepEqual(JSON.parse(form), JSON.parse(JSON.stringify(value)))
        assert.equal(canonicalForm(JSON.parse(form)), form)
      }),
      { numRuns: 500 },
    )
  })

  it('differs where values differ', () => {
    const forms = [
      1,
      '1',
      [1],
      { 1: 1 },
      true,
      'true',
      null,
      'null',
      '',
      [],
      {},
      [[]],
      new Uint8Array(),
      'b""',
    ]
    assert.equal(new Set(forms.map(canonicalForm)).size, forms.length)
  })

  it('does not follow or set prototypes', () => {
    const hostile = JSON.parse('{"__proto__":{"admin":true},"constructor":1}')
    assert.equal(canonicalForm(hostile), '{"__proto__":{"admin":true},"constructor":1}')
    assert.equal(({} as { admin?: boolean }).admin, undefined)
    assert.equal(canonicalForm(Object.create({ inherited: 1 }, {}) && Object.create(null)), '{}')
  })

  it('is refused for what is no data, by its path', () => {
    const refused: [unknown, RegExp][] = [
      [{ a: [1, undefined] }, /^payload\.a\[1\] must be data: undefined/],
      [{ a: () => 1 }, /^payload\.a must be data: function/],
      [Symbol('x'), /^payload must be data: symbol/],
      [JSON.parse('{ "id": 9007199254740993 }'), /^payload\.id must be an integer below 2\^53/],
      [JSON.parse('[12345678901234567890]'), /^payload\[0\] must be an integer below 2\^53/],
      [{ a: Number.NaN }, /^payload\.a must be a finite number/],
      [[Number.POSITIVE_INFINITY], /^payload\[0\] must be a finite number/],
      [new Map([[1, 2]]), /^payload must be data: an object of class Map/],
      [Promise.resolve(1), /class Promise/],
      [new Date(Number.NaN), /must be a date/],
    ]
    for (const [payload, message] of refused)
      assert.throws(() => requestHashOf(payload), { code: 'INVALID_INPUT', message })
  })

  it('is that of what an object says it is', () => {
    class Money {
      constructor(private readonly cents: number) {}
      toJSON() {
        return { cents: this.cents }
      }
    }
    assert.equal(canonicalForm({ price: new Money(5) }), '{"price":{"cents":5}}')
    assert.equal(canonicalForm({ price: { toJSON: () => [5] } }), '{"price":[5]}')
    const foreign = runInNewContext('({ b: new Date(0), a: [new Uint8Array([1]), Object.create(null)] })')
    assert.equal(canonicalForm(foreign), '{"a":[b"AQ==",{}],"b":"1970-01-01T00:00:00.000Z"}')
  })

  it('is bounded in depth and length, so that cycles and bombs end', () => {
    const cycle: Record<string, unknown> = {}
    cycle.self = cycle
    assert.throws(() => canonicalForm(cycle), { code: 'INVALID_INPUT', message: /nested deeper than 64/ })
    let bomb: unknown = 'x'.repeat(100)
    for (let i = 0; i < 40; i++) bomb = [bomb, bomb]
    assert.throws(() => canonicalForm(bomb), { code: 'INVALID_INPUT', message: /longer than/ })
    let deep: unknown = 1
    for (let i = 0; i < 64; i++) deep = [deep]
    assert.equal(canonicalForm(deep).length, 129)
  })
})
