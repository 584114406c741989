import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { seeded } from '../../../src/cli/load/arrivals.js'
import { Histogram } from '../../../src/cli/load/histogram.js'

describe('histogram', () => {
  it('tells any one time to 1/256, from microseconds to minutes', () => {
    for (let ms = 0.001; ms < 400_000; ms *= 1.37) {
      const one = new Histogram()
      one.add(ms)
      // The longest time must not cover up what the bucket says.
      one.add(ms * 1.5)
      const told = one.percentile(0.5)
      const slackMs = 0.00005
      assert.ok(Math.abs(told - ms) <= ms / 256 + slackMs, `${ms} is told as ${told}`)
    }
  })

  it('tells the percentiles of many as sorting them would', () => {
    const random = seeded(7)
    const all = Array.from({ length: 20_000 }, () => 0.05 * (1 / (1 - random())) ** 0.8)
    const histogram = new Histogram()
    for (const ms of all) histogram.add(ms)
    all.sort((a, b) => a - b)
    for (const share of [0.01, 0.5, 0.9, 0.99, 0.999, 1]) {
      const exact = all[Math.max(0, Math.ceil(share * all.length) - 1)]!
      const told = histogram.percentile(share)
      assert.ok(Math.abs(told - exact) <= exact / 250, `p${100 * share} is ${exact}, told as ${told}`)
    }
    assert.equal(histogram.count, 20_000)
    assert.equal(histogram.maxMs, all.at(-1))
  })

  it('never tells more than the longest, and nothing of nothing', () => {
    const histogram = new Histogram()
    assert.ok(Number.isNaN(histogram.percentile(0.5)))
    for (let ms = 1; ms < 1000; ms *= 1.01) {
      histogram.clear()
      histogram.add(ms)
      assert.ok(histogram.percentile(1) <= ms, `${ms} is told as ${histogram.percentile(1)}`)
    }
    histogram.add(10_000_000)
    assert.ok(histogram.percentile(1) > 400_000)
    histogram.clear()
    assert.equal(histogram.count, 0)
  })
})
