import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { run as load } from '../../bench/proof/load.js'
import { run as soak } from '../../bench/proof/soak.js'
import { trendOf } from '../../bench/support/trend.js'

/** What is proven over minutes by `npm run proof`, for seconds. Times are told there; here only behaviour decides. */
describe('proofs of load, small', () => {
  it("load: the source's mix without an error, and made as the mix says", async () => {
    const sizes = { rate: 500, seconds: 2, stepSeconds: 0, members: 3000 }
    const figures = await load({ ...sizes, stores: ['embedded'], isPinned: false })
    assert.equal(figures['embedded: at 500/s: errors'], 0)
    assert.ok(figures['embedded: at 500/s: share filtered']! > 0.1, JSON.stringify(figures))
  })

  it('soak: everything at once on one server, every answer right', async () => {
    const figures = await soak({ seconds: 4, rate: 100, batch: 200, sampleSeconds: 0.4 })
    assert.ok(figures.requests! > 50 && figures['live heap: mean MiB']! > 1, JSON.stringify(figures))
    for (const lane of ['addAndRemove', 'tide', 'replace', 'createAndDelete', 'codes', 'revocations'])
      assert.ok(figures[lane]! > 0, `${lane} was never done`)
  })

  it('a slope is found where there is one', () => {
    const points = Array.from({ length: 50 }, (_, i) => ({ seconds: 10 * i, value: 100 + i + (i % 2) }))
    const { perHour, share, mean } = trendOf(points)
    assert.ok(Math.abs(perHour - 360) < 5 && Math.abs(share - 0.39) < 0.02 && Math.abs(mean - 125) < 1)
    assert.equal(trendOf(points.map(({ seconds }) => ({ seconds, value: 7 }))).perHour, 0)
  })
})
