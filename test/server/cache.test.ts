import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { ManualClock } from '../../src/core/clock.js'
import { bearer, knownKey, serve } from './support.js'

const NOW = Date.UTC(2030, 0, 1)
const PATH = '/cache/dict:entry:key/CPF:12345678900'
const entry = { key_type: 'CPF', key_value: '12345678900', status: 'ACTIVE' }

async function start(t: TestContext) {
  const clock = new ManualClock(NOW)
  const spaces = [{ name: 'dict:entry:key', ttlMs: 300_000, staleMs: 1000, jitter: 0 }]
  const server = await serve(t, {}, { clock, sweepIntervalMs: 0, cache: { spaces } })
  return { server, clock }
}

describe('/cache/{space}/{key}', () => {
  it('keeps a value for its TTL, and says how old it is', async (t) => {
    const { server, clock } = await start(t)
    assert.equal((await server.call('GET', PATH)).status, 404)
    const put = await server.call('PUT', PATH, { body: { value: entry } })
    assert.deepEqual([put.status, put.text], [204, ''])
    clock.advance(1500)
    const got = await server.call('GET', PATH)
    assert.deepEqual([got.status, got.json], [200, { value: entry, ageMs: 1500 }])
    clock.advance(298_500)
    assert.deepEqual((await server.call('GET', PATH)).json, { value: entry, ageMs: 300_000, stale: true })
    clock.advance(1000)
    const gone = await server.call('GET', PATH)
    assert.deepEqual([gone.status, gone.json.code], [404, 'CACHE_KEY_NOT_FOUND'])
  })

  it('takes a TTL of its own, and any JSON but null', async (t) => {
    const { server, clock } = await start(t)
    for (const value of ['OPEN', 0, false, [1, null], { a: { b: '__proto__' } }]) {
      assert.equal((await server.call('PUT', PATH, { body: { value, ttlMs: 10 } })).status, 204)
      assert.deepEqual((await server.call('GET', PATH)).json.value, value)
    }
    clock.advance(1010)
    assert.equal((await server.call('GET', PATH)).status, 404)
    for (const body of [
      {},
      { value: null },
      { value: 1, ttlMs: 0 },
      { value: 1, ttl: 5 },
      { value: 1, ttlMs: 'x' },
    ]) {
      const { status, json } = await server.call('PUT', PATH, { body })
      assert.deepEqual([status, json.code], [400, 'INVALID_INPUT'], JSON.stringify(body))
      assert.ok(json.errors.length > 0)
    }
  })

  it('forgets what is deleted, and does not mind when nothing is there', async (t) => {
    const { server } = await start(t)
    await server.call('PUT', PATH, { body: { value: entry } })
    for (let i = 0; i < 2; i++) assert.equal((await server.call('DELETE', PATH)).status, 204)
    assert.equal((await server.call('GET', PATH)).status, 404)
  })

  it('gives one caller the lease to load, and takes the value only under it', async (t) => {
    const { server, clock } = await start(t)
    const ask = (body: object = {}) => server.call('POST', `${PATH}/lease`, { body })
    const first = await ask({ ttlMs: 5000 })
    assert.equal(first.status, 201)
    const { lease, expiresAt } = first.json
    assert.equal(expiresAt, new Date(NOW + 5000).toISOString())
    const second = await ask({ waitMs: 20 })
    assert.deepEqual([second.status, second.headers['retry-after']], [202, '5'])
    assert.equal((await server.call('PUT', PATH, { body: { value: 1, lease: 'another' } })).status, 409)
    const waiting = ask({ waitMs: 20_000 })
    assert.equal((await server.call('PUT', PATH, { body: { value: entry, lease } })).status, 204)
    assert.deepEqual([(await waiting).status, (await waiting).json], [200, { value: entry, ageMs: 0 }])
    assert.deepEqual((await ask()).json, { value: entry, ageMs: 0 })
    clock.advance(300_000)
    const stale = await ask()
    assert.equal(stale.status, 200)
    const { lease: other, expiresAt: _, ...rest } = stale.json
    assert.deepEqual(rest, { value: entry, ageMs: 300_000, stale: true })
    // Another loads: what is stale is better than waiting.
    assert.deepEqual((await ask()).json, rest)
    // Invalidated while it was loaded.
    await server.call('DELETE', PATH)
    const late = await server.call('PUT', PATH, { body: { value: entry, lease: other } })
    assert.deepEqual([late.status, late.json.code], [409, 'CACHE_LEASE_LOST'])
    assert.equal((await server.call('GET', PATH)).status, 404)
  })

  it('takes a lease back, gives it by force, and takes that the source has none', async (t) => {
    const { server } = await start(t)
    const ask = async (body: object = {}) => (await server.call('POST', `${PATH}/lease`, { body })).json
    const { lease } = await ask()
    assert.equal((await server.call('DELETE', `${PATH}/lease/${lease}`)).status, 204)
    const { lease: taken } = await ask()
    const { lease: forced } = await ask({ refresh: true })
    const put = async (lease: string, value: unknown) =>
      (await server.call('PUT', PATH, { body: { value, lease } })).status
    assert.deepEqual([await put(taken, 'old'), await put(forced, 'new')], [409, 204])
    assert.equal((await server.call('GET', PATH)).json.value, 'new')
    const { lease: again } = await ask({ refresh: true })
    assert.equal(await put(again, null), 204)
    assert.equal((await server.call('GET', PATH)).status, 404)
    for (const body of [{ ttlMs: 5 }, { waitMs: 30_001 }, { wait: 1 }]) {
      const refused = await server.call('POST', `${PATH}/lease`, { body })
      assert.deepEqual([refused.status, refused.json.code], [400, 'INVALID_INPUT'], JSON.stringify(body))
    }
  })

  it('lets a value be loaded anew, and keeps it for a load that fails', async (t) => {
    const { server } = await start(t)
    await server.call('PUT', PATH, { body: { value: entry } })
    assert.equal((await server.call('POST', `${PATH}/expire`)).status, 204)
    assert.deepEqual((await server.call('GET', PATH)).json, { value: entry, ageMs: 0, stale: true })
    assert.ok((await server.call('POST', `${PATH}/lease`, { body: {} })).json.lease)
  })

  it('knows only spaces of the configuration, and identifiers', async (t) => {
    const { server } = await start(t)
    server.catraca.cache.space({ name: 'of-the-code', ttlMs: 1000 })
    for (const space of ['unknown', 'of-the-code', '__proto__']) {
      const { status, json } = await server.call('GET', `/cache/${space}/k`)
      assert.deepEqual([status, json.code], [404, 'CACHE_SPACE_NOT_FOUND'])
    }
    assert.equal((await server.call('GET', '/cache/dict:entry:key/a%20b')).status, 400)
  })

  it('tells hits, misses and the state of both tiers', async (t) => {
    const { server } = await start(t)
    await server.call('GET', PATH)
    await server.call('PUT', PATH, { body: { value: entry } })
    await server.call('GET', PATH)
    const { json } = await server.call('GET', '/cache')
    const { firstTierHits, misses, secondTier } = json.spaces['dict:entry:key']
    assert.deepEqual([firstTierHits, misses, secondTier.status], [1, 1, 'up'])
  })

  it('needs the scope cache', async (t) => {
    const { server } = await start(t)
    const { key } = await knownKey(server, 'reader', ['read'])
    const { key: other } = await knownKey(server, 'cacher', ['cache'])
    const status = async (headers: object) =>
      (await server.call('GET', '/cache', { headers: { ...headers } })).status
    assert.deepEqual([await status(bearer(key)), await status(bearer(other))], [403, 200])
  })
})
