import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { TokenTable } from '../../../src/guards/token-denylist/token-table.js'

/** Few hashes, so that they meet, and both words of either sign. */
const word = fc.integer({ min: -3, max: 3 }).map((value) => value * 0x11111111)
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ add: fc.tuple(word, word, fc.integer({ min: 1, max: 50 })) }) },
  { weight: 1, arbitrary: fc.record({ sweep: fc.integer({ min: 1, max: 50 }) }) },
)

describe('the table of revoked tokens', () => {
  it('is a map of hashes to the later end, without what was swept', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const table = new TokenTable()
        const model = new Map<string, { hash: [number, number]; end: number }>()
        for (const one of steps) {
          if ('add' in one) {
            const [hi, lo, end] = one.add
            table.add(hi, lo, end)
            const key = `${hi} ${lo}`
            model.set(key, { hash: [hi, lo], end: Math.max(end, model.get(key)?.end ?? 0) })
          } else {
            table.sweep(one.sweep, 256)
            for (const [key, { end }] of model) if (end <= one.sweep) model.delete(key)
          }
          assert.equal(table.size, model.size)
          for (const { hash, end } of model.values()) assert.equal(table.find(...hash), end)
        }
        assert.equal(table.find(0x22222222, 0x777), 0)
      }),
    )
  })

  it('takes fewer than 24 bytes for each of many, and gives them back', () => {
    const table = new TokenTable()
    const count = 200_000
    for (let i = 0; i < count; i++)
      table.add(Math.imul(i, 0x9e3779b1), Math.imul(i, 0x85ebca6b) ^ 0x5bd1e995, 10)
    assert.equal(table.size, count)
    assert.ok(table.bytes / count < 24, `${table.bytes / count}`)
    const full = table.bytes
    table.sweep(10, 256)
    assert.equal(table.size, 0)
    assert.ok(table.bytes < full / 10, `${table.bytes}`)
  })
})
