import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { makeTables } from '../support/dynamodb-engine.js'
import { CREDENTIALS, startDynamo } from '../support/dynamodb-server.js'
import { commandCounts, inTime, type RedisServers, startSingle } from '../support/redis/index.js'
import { serve, until } from './support.js'

/** `/health`, `/ready` and `/live` over engines that stop and go on. */
let redis: RedisServers
before(async () => {
  redis = await startSingle()
})
after(() => redis.stop())

const HEALTH_TIMEOUT_MS = 400

/** The embedded store for all but limits, which are in Redis. */
const mixed = () => ({ store: 'memory:', sweepIntervalMs: 0, limits: { store: redis.storeUrl } })

describe('health of several engines', () => {
  it('one that hangs is told apart, in time, and hides nothing of the others', async (t) => {
    const server = await serve(t, { healthTimeoutMs: HEALTH_TIMEOUT_MS }, mixed())
    const well = await server.call('GET', '/health')
    assert.equal(well.status, 200, well.text)
    const [embedded, limits] = well.json.engines
    assert.deepEqual([embedded.name, embedded.store, embedded.status], ['embedded', 'memory:', 'healthy'])
    assert.ok(embedded.sizeBytes > 0 && embedded.freeBytes > 0, well.text)
    assert.deepEqual([limits.name, limits.status, limits.topology], ['redis', 'healthy', 'single'])
    const [node] = limits.nodes
    assert.deepEqual([node.address, node.role], [redis.servers[0]!.address, 'master'])
    assert.match(node.version, /^\d+\.\d+/)
    assert.ok(node.usedMemoryBytes > 0 && node.connectedClients > 0, well.text)
    assert.equal(well.json.cache.metaCacheSize, 0)

    redis.servers[0]!.pause()
    try {
      await until('it is seen', async () => (await server.call('GET', '/health')).status === 503)
      const ill = await inTime(server.call('GET', '/health'), 5 * HEALTH_TIMEOUT_MS)
      assert.equal(ill.json.status, 'unhealthy')
      const [other, stopped] = ill.json.engines
      assert.deepEqual([other.status, other.sizeBytes > 0], ['healthy', true])
      assert.deepEqual([stopped.name, stopped.status], ['redis', 'unhealthy'])
      assert.match(stopped.error, /no answer/)
      assert.equal((await server.call('GET', '/ready')).status, 200, 'memory still answers')
      assert.equal((await server.call('GET', '/live')).status, 200)
    } finally {
      redis.servers[0]!.resume()
    }
    await until('it is well again', async () => (await server.call('GET', '/health')).status === 200)
  })

  it('a storm of questions is one question to the engine', async (t) => {
    const server = await serve(t, { healthTimeoutMs: 5000 }, mixed())
    const asked = async () => (await commandCounts(redis.servers[0]!)).get('info') ?? 0
    const before = await asked()
    const startedMs = performance.now()
    for (let i = 0; i < 5; i++) {
      const answers = await Promise.all(Array.from({ length: 40 }, () => server.call('GET', '/health')))
      assert.ok(answers.every(({ status }) => status === 200))
    }
    const seconds = (performance.now() - startedMs) / 1000
    // One of them is that which counts.
    const questions = (await asked()) - before - 1
    assert.ok(questions <= Math.ceil(seconds), `${questions} questions in ${seconds} s`)
  })
})

const LIMITS = { limits: { rpm: { capacity: 5, refillPeriodSeconds: 60 } }, onUnavailable: 'allow' } as const

describe('a server over a Redis that stops', () => {
  it('stays keyless where there never was a key, and a change takes the time of one write', async (t) => {
    const commandTimeoutMs = 1500
    const open = { store: redis.storeUrl, sweepIntervalMs: 0, redis: { commandTimeoutMs } }
    const settings = { healthTimeoutMs: HEALTH_TIMEOUT_MS, keyMaxStaleMs: 50 }
    const server = await serve(t, settings, open)
    const { allowlists, limits } = server.catraca
    await limits.setConfig({ level: 'system', resource: 'gpt' }, LIMITS)
    await allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
    const acquire = () => server.call('POST', '/limits/acquire', { body: { entity: 'ann', resource: 'gpt' } })
    assert.equal((await acquire()).status, 200)
    redis.servers[0]!.pause()
    try {
      await until('it is seen', async () => {
        const { status, json } = await server.call('GET', '/health')
        return status === 503 && json.engines[0].status === 'unhealthy'
      })
      const [answer, metrics] = [await acquire(), await server.call('GET', '/metrics')]
      assert.deepEqual([answer.status, answer.json.degraded, metrics.status], [200, true, 200])
      const changes: [string, () => Promise<unknown>][] = [
        ['update', () => allowlists.update('vip', { name: 'V' })],
        ['add', () => allowlists.add('vip', 'ann')],
        ['delete', () => allowlists.delete('vip')],
      ]
      for (const [name, change] of changes) {
        const rejected = assert.rejects(change(), /ENGINE_UNAVAILABLE|UNKNOWN_OUTCOME|CatracaError/, name)
        await inTime(rejected, 1.7 * commandTimeoutMs, name)
      }
    } finally {
      redis.servers[0]!.resume()
    }
  })

  it('says that a full one is full, and gives back all the same', async (t) => {
    const server = await serve(t, {}, { store: redis.storeUrl, sweepIntervalMs: 0 })
    const { limits, allowlists, keys } = server.catraca
    await limits.setConfig({ level: 'system', resource: 'full' }, { ...LIMITS, onUnavailable: 'block' })
    await allowlists.create({ id: 'full', name: 'Full', type: 'FIXA' })
    await allowlists.add('full', 'ann')
    const held = await server.call('POST', '/locks/held', { body: { ttlMs: 60_000 } })
    const acquire = () =>
      server.call('POST', '/limits/acquire', { body: { entity: 'ann', resource: 'full' } })
    assert.equal((await acquire()).status, 200)
    await redis.servers[0]!.say('CONFIG', 'SET', 'maxmemory', '1')
    try {
      const refused = [await acquire(), await server.call('POST', '/locks/free', { body: { ttlMs: 1000 } })]
      for (const { status, json } of refused) assert.deepEqual([status, json.code], [507, 'STORE_FULL'])
      const { token } = held.json
      const released = await server.call('POST', '/locks/held/release', { body: { token } })
      assert.equal(released.status, 204, released.text)
      for (const path of ['/allowlists/full/customers/ann', '/allowlists/full', '/limits/ann/full']) {
        const { status, text } = await server.call('DELETE', path)
        assert.ok(status < 300, `${path}: ${text}`)
      }
    } finally {
      await redis.servers[0]!.say('CONFIG', 'SET', 'maxmemory', '0')
    }
    assert.equal((await keys.stored()).lock, 'never')
  })
})

describe('health of the embedded engine', () => {
  it('warns of a disk on which nothing can be written any more', async (t) => {
    const server = await serve(t, {}, { embedded: { minFreeBytes: Number.MAX_SAFE_INTEGER } })
    const { status, json } = await server.call('GET', '/health')
    assert.equal(status, 200, 'what is stored can be read')
    assert.match(json.engines[0].warnings[0], /writes are refused/)
  })

  it('is 503 when the store cannot be read', async (t) => {
    const server = await serve(t)
    await server.catraca.close()
    const { status, json } = await server.call('GET', '/health')
    assert.deepEqual([status, json.engines[0].status], [503, 'unhealthy'])
    assert.match(json.engines[0].error, /closed/)
  })
})

describe('health of DynamoDB', async () => {
  const dynamo = await startDynamo()
  const { names } = await makeTables(dynamo)

  it('tells of its tables, and that it hangs', async (t) => {
    const writeTimeoutMs = 2000
    const dynamodb = { credentials: CREDENTIALS, writeTimeoutMs }
    const open = { store: dynamo.url(names), sweepIntervalMs: 0, dynamodb }
    // No key was ever stored: that is known, however long the store is silent.
    const server = await serve(t, { healthTimeoutMs: HEALTH_TIMEOUT_MS, keyMaxStaleMs: 50 }, open)
    const health = () => server.call('GET', '/health')
    await until(
      'tables were looked at',
      async () => (await health()).json.engines[0].tableStatus !== undefined,
    )
    const [engine] = (await health()).json.engines
    assert.deepEqual(engine.tables, names)
    assert.deepEqual(
      engine.tableStatus,
      Object.fromEntries(Object.keys(names).map((role) => [role, 'ACTIVE'])),
    )
    assert.ok('feedAgeMs' in engine)
    dynamo.pause()
    try {
      await until('it is seen', async () => (await health()).status === 503)
      assert.match((await health()).json.engines[0].error, /no answer|Timeout/)
      assert.equal((await server.call('GET', '/ready')).status, 200)
      const created = server.catraca.allowlists.create({ id: 'late', name: 'Late', type: 'FIXA' })
      await inTime(assert.rejects(created), 1.7 * writeTimeoutMs, 'a change')
    } finally {
      dynamo.resume()
    }
    await until('it is well again', async () => (await health()).status === 200)
  })
})
