import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, it, type TestContext } from 'node:test'
import { METRIC_GROUPS } from '../../src/metrics/index.js'
import { bearer, serve, type TestServer, until } from '../server/support.js'
import { declared, parse, sampleOf } from './support.js'

const OPEN = { cache: { spaces: [{ name: 'prices', ttlMs: 60_000 }] } }
const perMinute = (capacity: number) => ({ capacity, refillAmount: capacity, refillPeriodSeconds: 60 })
const scrape = async (server: TestServer) => (await server.call('GET', '/metrics')).text

/** Something of each capability. */
async function callEverything(server: TestServer): Promise<void> {
  const { call, catraca } = server
  const { allowlists, cache } = catraca
  await allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
  await allowlists.add('vip', 'ann')
  await allowlists.rebuild('vip')
  await call('GET', '/customers/ann/check?allowlists=vip')
  await call('PUT', '/config/system/gpt-4', { body: { limits: { rpm: perMinute(2) } } })
  for (let i = 0; i < 3; i++)
    await call('POST', '/limits/acquire', {
      body: { entity: 'user:1', resource: 'gpt-4', consume: { rpm: 1 } },
    })
  await call('POST', '/idempotency/pay/one', { body: { payload: 1 } })
  await call('POST', '/locks/door', { body: { ttlMs: 30_000 } })
  await call('POST', '/locks/door', { body: { ttlMs: 30_000, waitMs: 5 } })
  await call('POST', '/otp/email', { body: { address: 'ann@example.com' } })
  await call('GET', '/revoked-tokens/jti-1')
  await call('PUT', '/cache/prices/a', { body: { value: 1 } })
  await call('GET', '/cache/prices/a')
  await cache.space(OPEN.cache.spaces[0]!).getOrLoad('b', async () => 2)
}

async function used(t: TestContext): Promise<TestServer> {
  const server = await serve(t, {}, OPEN)
  await callEverything(server)
  return server
}

describe('GET /metrics', () => {
  it('shows every metric of the catalogue, and no other', async (t) => {
    const server = await used(t)
    const text = await scrape(server)
    const names = METRIC_GROUPS.flatMap(({ metrics }) => metrics.map(({ name }) => name))
    assert.equal(new Set(names).size, names.length)
    assert.deepEqual(declared(text).sort(), [...names].sort())
    const samples = parse(text)
    // Those of other engines are looked at where these engines are: `engines.test.ts`.
    const here = names.filter((name) => !/^(redis|catraca_dynamodb)_/.test(name))
    const silent = here.filter((name) => !samples.some((sample) => sample.name.startsWith(name)))
    assert.deepEqual(silent, [])
  })

  it('uses the labels that the catalogue names', async (t) => {
    const samples = parse(await scrape(await used(t)))
    const facts = METRIC_GROUPS.flatMap(({ metrics }) => metrics)
    for (const { name, labels } of samples) {
      const base = facts.find(
        (fact) => name.replace(/_(bucket|sum|count)$/, '') === fact.name || name === fact.name,
      )
      const known = [...(base?.labels ?? []), ...(base?.type === 'histogram' ? ['le'] : [])]
      assert.deepEqual(
        Object.keys(labels).filter((label) => !known.includes(label)),
        [],
        name,
      )
    }
  })

  it('is text that promtool takes', { skip: !hasPromtool() && 'promtool is not installed' }, async (t) => {
    const text = await scrape(await used(t))
    const { stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], { input: text, encoding: 'utf8' })
    assert.equal(`${stdout}${stderr}`, '')
  })

  it('needs the scope read once there are keys', async (t) => {
    const server = await serve(t)
    assert.equal((await server.call('GET', '/metrics')).status, 200)
    const reader = await server.catraca.keys.create({ name: 'scraper', scopes: ['read'] })
    const checker = await server.catraca.keys.create({ name: 'app', scopes: ['check'] })
    await until('the server is locked', async () => (await server.call('GET', '/metrics')).status === 401)
    for (const path of ['/metrics', '/stats/series']) {
      const status = async (key: string) => (await server.call('GET', path, { headers: bearer(key) })).status
      await until('both keys are known', async () => (await status(checker.key)) === 403)
      assert.equal(await status(reader.key), 200, path)
    }
  })

  it('does not exist where metrics are switched off', async (t) => {
    const server = await serve(t, { metrics: false }, { metrics: { enabled: false } })
    assert.equal(server.catraca.allowlists.figures, undefined)
    assert.equal((await server.call('GET', '/customers/ann/check?allowlists=vip')).status, 200)
    assert.equal((await server.call('GET', '/metrics')).status, 404)
    assert.equal((await server.call('GET', '/stats/series')).status, 404)
  })

  it('says whether the server is ready, and what it is', async (t) => {
    let isReady = false
    const server = await serve(t, { ready: () => isReady })
    assert.equal(sampleOf(parse(await scrape(server)), 'catraca_ready'), 0)
    isReady = true
    const samples = parse(await scrape(server))
    assert.equal(sampleOf(samples, 'catraca_ready'), 1)
    assert.equal(sampleOf(samples, 'catraca_build_info', { node: process.version }), 1)
  })
})

function hasPromtool(): boolean {
  return spawnSync('promtool', ['--version']).status === 0
}
