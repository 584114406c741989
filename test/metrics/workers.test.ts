import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { remainsOf, together } from '../../src/metrics/index.js'
import { scratch, serve } from '../cli/run.js'
import { inTime, startSingle, until } from '../support/redis/index.js'
import { parse, sampleOf } from './support.js'

const dir = scratch()
after(() => dir.remove())

const CHECK = { method: 'GET', route: '/customers/:customerId/check', status: '200' }
const fresh = { headers: { connection: 'close' } }

describe('metrics of several workers', () => {
  it('are those of all, whichever is asked, and do not shrink when one dies', async () => {
    const server = await serve(['--workers', '2', '--store', 'embedded:./several'], {
      cwd: dir.path,
      env: { CATRACA_ACCESS_LOG_SAMPLING: '1' },
    })
    const [, first, second] = await server.said(/"pid":(\d+)[\s\S]*"pid":(?!\1,)(\d+)/, 'stdout')
    const check = async (times: number) => {
      // Connections go to the workers in turn.
      for (let i = 0; i < times; i++)
        await (await fetch(`${server.url}/customers/c${i}/check?allowlists=x`, fresh)).text()
    }
    const scrape = async (signal = AbortSignal.timeout(30_000)) =>
      parse(await (await fetch(`${server.url}/metrics`, { ...fresh, signal })).text())
    const checks = async (signal?: AbortSignal) =>
      sampleOf(await scrape(signal), 'catraca_http_requests_total', CHECK)
    // A worker that is asked while it gets no processor is left out.
    const sees = (count: number) => until(`${count} checks`, async () => (await checks()) === count)
    await check(10)
    for (let i = 0; i < 4; i++) await sees(10)
    const samples = await scrape()
    const total = { list: 'other', reason: 'ALLOWLIST_NOT_FOUND' }
    assert.equal(sampleOf(samples, 'catraca_checks_total', total), 10)
    assert.equal(sampleOf(samples, 'catraca_check_duration_seconds_bucket', { le: '+Inf' }), 10)
    assert.equal(sampleOf(samples, 'catraca_ready'), 1, 'as the least ready of them')
    assert.equal(sampleOf(samples, 'catraca_build_info'), 1)
    process.kill(Number(first), 'SIGKILL')
    await server.said(new RegExp(`"pid":(?!${first},|${second},)\\d+`), 'stdout')
    await sees(10)
    await check(4)
    await sees(14)
    // Connections go to the workers in turn, so one of two scrapes comes to the one that lives.
    process.kill(Number(second), 'SIGSTOP')
    // A connection that a worker takes with it into its death is never closed by Node.
    const over = new AbortController()
    const scrapes = [checks(over.signal), checks(over.signal)]
    await new Promise((resolve) => setTimeout(resolve, 300))
    process.kill(Number(second), 'SIGKILL')
    // As long as they wait for one that is alive and silent; nobody waits for one that is dead.
    assert.equal(await inTime(Promise.any(scrapes), 2500), 14)
    over.abort()
    await Promise.allSettled(scrapes)
    assert.equal((await server.stop()).code, 0)
  })

  it('tell of an engine that hangs, though each worker waits for it', async (t) => {
    const redis = await startSingle()
    t.after(() => redis.stop())
    const server = await serve(['--workers', '2', '--store', redis.storeUrl], {
      cwd: dir.path,
      env: { CATRACA_ACCESS_LOG_SAMPLING: '1' },
    })
    await server.said(/"pid":(\d+)[\s\S]*"pid":(?!\1,)(\d+)/, 'stdout')
    redis.servers[0]!.pause()
    try {
      let samples: ReturnType<typeof parse> = []
      await until('it is told', async () => {
        samples = parse(await (await fetch(`${server.url}/metrics`, fresh)).text())
        return sampleOf(samples, 'catraca_engine_up') === 0
      })
      assert.equal(sampleOf(samples, 'catraca_build_info'), 1)
      assert.equal(sampleOf(samples, 'redis_connected_clients'), undefined)
    } finally {
      redis.servers[0]!.resume()
    }
    assert.equal((await server.stop()).code, 0)
  })

  it('keep of those that are gone only what grows', async () => {
    const metric = (name: string, type: string, value: number, aggregator = 'sum') =>
      ({ name, help: name, type, aggregator, values: [{ value, labels: {} }] }) as never
    const parts = [1, 2].map((n) => [
      metric('a_total', 'counter', n),
      metric('b', 'gauge', n),
      metric('c', 'gauge', n, 'max'),
      // Of a server that all of them ask: when it begins anew, those that are gone must not hide it.
      metric('d_total', 'counter', n, 'max'),
    ])
    const samples = parse(await together(parts).metrics())
    assert.deepEqual(
      samples.map(({ name, value }) => [name, value]),
      [
        ['a_total', 3],
        ['b', 3],
        ['c', 2],
        ['d_total', 2],
      ],
    )
    const remains = await remainsOf(parts)
    assert.deepEqual(
      remains.map(({ name }) => name),
      ['a_total'],
    )
  })
})
