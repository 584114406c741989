import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Catraca } from '../../src/app/open-catraca.js'
import { ManualClock } from '../../src/core/clock.js'
import { EmfReporter, HttpFigures, metricsOf, Series } from '../../src/metrics/index.js'
import { serve } from '../server/support.js'
import { openPatiently } from '../support/patient.js'

const NOW = Date.UTC(2030, 0, 1)

async function opened(t: { after(fn: () => unknown): void }): Promise<Catraca> {
  const catraca = await openPatiently({ store: 'memory:' })
  t.after(() => catraca.close())
  await catraca.allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
  await catraca.allowlists.add('vip', 'ann')
  await catraca.allowlists.rebuild('vip')
  return catraca
}

/** `ann` is confirmed once and then known, everybody else is filtered. */
async function check(catraca: Catraca, members: number, others: number): Promise<void> {
  for (let i = 0; i < members; i++) await catraca.allowlists.check('ann', ['vip'])
  for (let i = 0; i < others; i++) await catraca.allowlists.check(`x${i}`, ['vip'])
}

describe('series of the last hour', () => {
  it('go on in a process that has no file descriptor left to ask for its memory', async (t) => {
    const catraca = await opened(t)
    const clock = new ManualClock(NOW)
    const series = new Series({ catraca, http: new HttpFigures() }, clock)
    t.after(() => series.stop())
    const fail = () => {
      throw Object.assign(new Error('too many open files'), { code: 'EMFILE' })
    }
    t.mock.method(process.memoryUsage, 'rss', fail)
    t.mock.method(process, 'memoryUsage', fail)
    clock.advance(5000)
    series.sample()
    const { residentBytes, heapUsedBytes } = series.read(60).points
    assert.deepEqual(residentBytes, [null])
    assert.ok(heapUsedBytes[0]! > 0)
    await metricsOf(catraca, { process: true }).metrics()
  })

  it('tell of each step what happened in it', async (t) => {
    const catraca = await opened(t)
    const clock = new ManualClock(NOW)
    const http = new HttpFigures()
    const series = new Series({ catraca, http }, clock)
    t.after(() => series.stop())
    assert.deepEqual(series.read(60).points.checksPerSecond, [])
    await check(catraca, 10, 30)
    for (let i = 0; i < 100; i++) http.add('GET', '/x', 200, 10)
    clock.advance(5000)
    series.sample()
    clock.advance(5000)
    series.sample()
    const { stepSeconds, from, points } = series.read(60)
    assert.deepEqual([stepSeconds, from], [5, '2030-01-01T00:00:00.000Z'])
    assert.deepEqual(points.checksPerSecond, [8, 0])
    assert.deepEqual([points.allowedPerSecond[0], points.deniedPerSecond[0]], [2, 6])
    assert.deepEqual(points.fromMemoryShare, [0.975, null])
    assert.deepEqual(points.requestsPerSecond, [20, 0])
    assert.ok(points.httpP50Ms[0]! > 7.5 && points.httpP99Ms[0]! <= 10)
    assert.equal(points.httpP50Ms[1], null)
    assert.ok(points.residentBytes[1]! > 1e6 && points.eventLoopLagMs[1]! >= 0)
    assert.equal(series.read(1).points.checksPerSecond.length, 2)
  })

  it('leave steps empty that the process slept through, and keep an hour at most', async (t) => {
    const catraca = await opened(t)
    const clock = new ManualClock(NOW)
    const series = new Series({ catraca }, clock)
    t.after(() => series.stop())
    clock.advance(20_000)
    series.sample()
    assert.deepEqual(series.read(60).points.checksPerSecond, [null, null, null, 0])
    for (let i = 0; i < 1000; i++) {
      clock.advance(5000)
      series.sample()
    }
    const { from, points } = series.read(60)
    assert.equal(points.checksPerSecond.length, 720)
    assert.equal(Date.parse(from), clock.now() - 3_600_000)
    assert.equal(series.read(2).points.heapUsedBytes.length, 24)
  })

  it('are served, for so many minutes', async (t) => {
    const { call } = await serve(t)
    const { status, json } = await call('GET', '/stats/series?minutes=5')
    assert.deepEqual([status, json.stepSeconds, json.points.checksPerSecond], [200, 5, []])
    for (const minutes of ['0', '61', 'x']) {
      const refused = await call('GET', `/stats/series?minutes=${minutes}`)
      assert.deepEqual([refused.status, refused.json.errors[0].path], [400, 'minutes'])
    }
  })
})

describe('the embedded metric format', () => {
  it('is a line a minute with the values since the last one', async (t) => {
    const catraca = await opened(t)
    const lines: string[] = []
    const clock = new ManualClock(NOW)
    const reporter = new EmfReporter(catraca, { clock, podId: 'pod-1', write: (line) => lines.push(line) })
    t.after(() => reporter.stop())
    // 1 asked of the store, 9 known by then, 30 filtered.
    await check(catraca, 10, 30)
    clock.advance(60_000)
    reporter.report()
    await check(catraca, 5, 0)
    reporter.report()
    reporter.report()
    const [first, second, idle] = lines.map((line) => JSON.parse(line))
    const names = [
      'CacheHitRate',
      'BloomFilterEfficiency',
      'DynamoQueriesPerMinute',
      'AverageLatency',
      'P95Latency',
    ]
    const units = ['Percent', 'Percent', 'Count', 'Milliseconds', 'Milliseconds']
    assert.deepEqual(first._aws, {
      Timestamp: NOW + 60_000,
      CloudWatchMetrics: [
        {
          Namespace: 'Allowlist/Pod',
          Dimensions: [[], ['PodId']],
          Metrics: names.map((Name, i) => ({ Name, Unit: units[i] })),
        },
      ],
    })
    assert.equal(first.PodId, 'pod-1')
    assert.equal(first.CacheHitRate, 97.5)
    assert.equal(first.BloomFilterEfficiency, (100 * 30) / 31)
    assert.equal(first.DynamoQueriesPerMinute, 1)
    assert.ok(first.AverageLatency > 0 && first.P95Latency > 0)
    assert.deepEqual([second.CacheHitRate, second.DynamoQueriesPerMinute], [100, 0])
    assert.equal(second.BloomFilterEfficiency, undefined, 'nothing came to the filter')
    const { _aws, ...values } = idle
    assert.deepEqual(values, { PodId: 'pod-1', DynamoQueriesPerMinute: 0 })
    assert.equal(_aws.CloudWatchMetrics[0].Metrics.length, 1)
    assert.ok(lines.every((line) => !line.includes('\n')))
  })
})
