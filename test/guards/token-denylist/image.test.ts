import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Image } from '../../../src/guards/token-denylist/image.js'

const NOW = Date.UTC(2030, 0, 1)

describe('all revocations in memory', () => {
  it('drops subjects that are over a part at a time, and keeps those that are not', () => {
    const image = new Image()
    const count = 100_000
    const mark = (i: number, expiresAt: number) =>
      ({ kind: 'subject', id: `s${i}`, expiresAt, notBefore: NOW }) as const
    for (let i = 0; i < count; i++) image.apply([mark(i, NOW + (i % 10 === 0 ? 10_000 : 1000))])
    image.sweep(NOW + 1000)
    const { subjects } = image.figures
    assert.ok(subjects < count && subjects > count * 0.9 - 10_000, `${subjects} after one turn`)
    assert.ok(subjects > count / 2, `one turn dropped ${count - subjects}`)
    // What is said again while the sweep goes round is no longer over.
    image.apply([mark(count - 1, NOW + 10_000), mark(count, NOW + 1000)])
    for (let i = 0; i < 30; i++) image.sweep(NOW + 1000)
    assert.equal(image.figures.subjects, count / 10 + 1)
    assert.equal(image.isBefore(`s${count - 1}`, NOW - 1, NOW + 1000), true)
    for (let i = 0; i < 30; i++) image.sweep(NOW + 10_000)
    assert.equal(image.figures.subjects, 0)
  })
})
