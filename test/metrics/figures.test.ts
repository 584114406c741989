import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Durations, NamedCounts } from '../../src/core/figures.js'
import { METRIC_GROUPS, MetricsRegistry } from '../../src/metrics/index.js'
import { parse, sampleOf } from './support.js'

describe('durations', () => {
  it('fall into the step whose bound they do not exceed', async () => {
    const durations = new Durations()
    for (const ms of [0, 0.5, 0.500001, 1, 2500, 2500.1, 1e9]) durations.add(ms)
    const registry = new MetricsRegistry()
    const facts = { name: 'x_seconds', type: 'histogram', help: 'x', buckets: [0.0005, 0.001, 2.5] } as const
    registry.readDurations(facts, () => [[durations]])
    const samples = parse(await registry.metrics())
    const upTo = (le: string) => sampleOf(samples, 'x_seconds_bucket', { le })
    assert.deepEqual(['0.0005', '0.001', '2.5', '+Inf'].map(upTo), [2, 4, 5, 7])
    assert.equal(sampleOf(samples, 'x_seconds_count'), 7)
    assert.ok(Math.abs(sampleOf(samples, 'x_seconds_sum')! - 1_000_005.0020999) < 1e-3)
  })

  it('know percentiles to within a step', () => {
    const durations = new Durations()
    assert.equal(durations.percentileMs(0.95), 0)
    for (let i = 1; i <= 1000; i++) durations.add(i / 100)
    for (const [share, ms] of [
      [0.5, 5],
      [0.95, 9.5],
      [0.99, 9.9],
    ] as const) {
      assert.ok(Math.abs(durations.percentileMs(share) - ms) / ms < 0.01, `${durations.percentileMs(share)}`)
    }
    const before = durations.copy()
    for (let i = 0; i < 10; i++) durations.add(100)
    const since = durations.since(before)
    assert.deepEqual([since.count, since.sumMs], [10, 1000])
    assert.ok(since.percentileMs(0.5) > 75 && since.percentileMs(0.5) <= 100)
    assert.equal(before.count, 1000)
  })

  it('are counted up to every bucket that a metric shows', () => {
    const ours = METRIC_GROUPS.flatMap(({ metrics }) => metrics).filter(
      ({ buckets }) => buckets !== undefined,
    )
    assert.ok(ours.length >= 3)
    for (const facts of ours) new MetricsRegistry().readDurations(facts, () => [])
    const odd = { name: 'x_seconds', type: 'histogram', help: 'x', buckets: [0.0123] } as const
    assert.throws(() => new MetricsRegistry().readDurations(odd, () => []), /12\.3 ms/)
  })
})

describe('named counts', () => {
  it('keep so many names apart, whatever comes', () => {
    const counts = new NamedCounts(['a', 'b'], 2)
    counts.ofKnown('made-up').b++
    for (const name of ['x', 'y', 'z', 'other', 'x', 'w']) counts.of(name).a++
    assert.deepEqual(
      [...counts.entries()],
      [
        ['other', { a: 3, b: 1 }],
        ['x', { a: 2, b: 0 }],
        ['y', { a: 1, b: 0 }],
      ],
    )
    assert.equal(counts.total('a'), 6)
    const none = new NamedCounts(['a'], 0)
    none.of('x').a++
    assert.deepEqual([...none.entries()], [['other', { a: 1 }]])
  })
})
