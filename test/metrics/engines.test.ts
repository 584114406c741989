import assert from 'node:assert/strict'
import { after, before, describe, it, type TestContext } from 'node:test'
import { Circuits } from '../../src/app/circuits.js'
import { EngineCalls } from '../../src/app/engine-calls.js'
import { EngineFiguresReader } from '../../src/app/engine-figures.js'
import { HealthReads } from '../../src/app/health.js'
import type { Catraca, OpenOptions } from '../../src/app/open-catraca.js'
import { openEngine, storeSource } from '../../src/engines/registry.js'
import { metricsOf } from '../../src/metrics/index.js'
import { makeTables } from '../support/dynamodb-engine.js'
import { CREDENTIALS, startDynamo } from '../support/dynamodb-server.js'
import { openPatiently, PATIENT_REDIS } from '../support/patient.js'
import {
  commandCounts,
  inTime,
  type RedisServers,
  startCluster,
  startSingle,
  until,
} from '../support/redis/index.js'

/** What the metrics of engines say while real servers work, stop and die. */
async function open(t: TestContext, options: OpenOptions) {
  const catraca = await openPatiently({ sweepIntervalMs: 0, ...options })
  t.after(() => catraca.close())
  const registry = metricsOf(catraca)
  return { catraca, text: () => registry.metrics() }
}

/** The value of one series, labels in any order; undefined when it is not shown. */
function value(text: string, name: string, labels: Record<string, string> = {}): number | undefined {
  for (const line of text.split('\n')) {
    const [, found, inside = '', number] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? []
    if (found !== name) continue
    const has = new Map([...inside.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, text]) => [key!, text!]))
    const isIt = Object.entries(labels).every(([key, wanted]) => has.get(key) === wanted)
    if (isIt) return Number(number)
  }
  return undefined
}

async function useAll({ allowlists, limits, cache }: Catraca): Promise<void> {
  await allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
  await allowlists.add('vip', 'alice')
  await allowlists.check('alice', ['vip'], { consistency: 'strong' })
  const perMinute = { capacity: 10, refillPeriodSeconds: 60 }
  await limits.acquire({ entity: 'alice', resource: 'orders', limits: { perMinute } })
  await cache.space({ name: 'things', ttlMs: 60_000 }).set('a', 1)
}

const redisCalls = (verb: string, outcome: string) => ({ engine: 'redis', verb, outcome })

describe('metrics of Redis', () => {
  let redis: RedisServers
  before(async () => {
    redis = await startSingle()
  })
  after(() => redis.stop())

  it('say which server holds the cache', async (t) => {
    const [server] = redis.servers.map(({ address }) => address) as [string]
    const cache = await open(t, { store: 'memory:', cache: { store: redis.storeUrl } })
    assert.equal(value(await cache.text(), 'redis_holds_cache', { server }), 1)
    const limits = await open(t, { store: 'memory:', limits: { store: redis.storeUrl } })
    assert.equal(value(await limits.text(), 'redis_holds_cache', { server }), 0)
    const both = await open(t, { store: redis.storeUrl })
    assert.equal(value(await both.text(), 'redis_holds_cache', { server }), 1)
  })

  it('count calls by verb and outcome, and show what INFO says', async (t) => {
    await redis.flush()
    const { catraca, text } = await open(t, { store: redis.storeUrl })
    await useAll(catraca)
    const shown = await text()
    for (const verb of ['lists.create', 'members.add', 'checks.member', 'counters.take', 'write']) {
      assert.ok(value(shown, 'catraca_engine_calls_total', redisCalls(verb, 'ok'))! >= 1, verb)
    }
    const quiet = [redisCalls('lists.create', 'error'), redisCalls('remove', 'unknown_outcome')]
    for (const labels of quiet) assert.equal(value(shown, 'catraca_engine_calls_total', labels), 0)
    for (const operation of ['ALLOWLISTS_MEMBERS_ADD', 'LIMITS_COUNTERS_TAKE', 'CACHE_WRITE']) {
      assert.ok(value(shown, 'redis_operation_latency_ms_count', { operation })! >= 1, operation)
    }
    for (const command of ['EVALSHA', 'HGETALL'])
      assert.ok(value(shown, 'redis_command_duration_seconds_count', { command })! >= 1, command)
    const limits = { engine: 'redis', capability: 'limits' }
    const count = value(shown, 'catraca_engine_call_duration_seconds_count', limits)!
    assert.ok(count >= 2)
    assert.equal(
      value(shown, 'catraca_engine_call_duration_seconds_bucket', { ...limits, le: '+Inf' }),
      count,
      'buckets hold all calls',
    )
    const server = redis.servers[0]!.address
    assert.equal(value(shown, 'catraca_engine_up', { engine: 'redis', store: `redis://${server}/0` }), 1)
    for (const name of [
      'redis_connected_clients',
      'redis_memory_used_bytes',
      'redis_commands_processed_total',
    ])
      assert.ok(value(shown, name, { server })! > 0, name)
    for (const name of ['redis_memory_max_bytes', 'redis_evicted_keys_total'])
      assert.equal(value(shown, name, { server }), 0, name)
    for (const name of ['redis_keyspace_hits_total', 'redis_keyspace_misses_total'])
      assert.ok(value(shown, name, { server })! >= 0, name)
    assert.doesNotMatch(shown, /alice/)
  })

  it('of any number of scrapes come two questions, and none that hangs', async (t) => {
    const { text } = await open(t, { store: redis.storeUrl })
    const asked = async () => (await commandCounts(redis.servers[0]!)).get('info') ?? 0
    const before = await asked()
    await Promise.all(Array.from({ length: 50 }, text))
    // For /health, for the figures, and that which counts.
    assert.equal((await asked()) - before, 3)
    redis.servers[0]!.pause()
    try {
      // The figures are shown while they are young, and else the engine is down.
      assert.match(await inTime(text(), 20_000), /redis_connected_clients\{|catraca_engine_up\{.*\} 0/)
    } finally {
      redis.servers[0]!.resume()
    }
  })

  it('show nothing of a server that is silent, instead of what was', async (t) => {
    const store = redis.storeUrl
    const engine = await openEngine(storeSource(store, { redis: PATIENT_REDIS }))
    t.after(() => engine.close())
    const stores = () => [{ engine, ports: engine, store, shown: store, holdsCache: false, isLate: false }]
    const looks = new HealthReads(stores, () => undefined)
    const bounds = { maxAgeMs: 20, timeoutMs: 200 }
    const watch = { calls: new EngineCalls(), circuits: new Circuits(() => {}) }
    const reader = new EngineFiguresReader(stores, looks, watch, bounds)
    assert.equal((await reader.figures())[0]?.redisServers?.length, 1)
    assert.equal((await reader.up())[0]?.isUp, true)
    redis.servers[0]!.pause()
    try {
      await until('the last answer is too old', async () => (await reader.figures()).length === 0)
      await until('it counts as down', async () => (await reader.up())[0]?.isUp === false)
      await inTime(Promise.all([reader.figures(), reader.up()]), 2000)
    } finally {
      redis.servers[0]!.resume()
    }
    await until('it tells again', async () => (await reader.figures())[0]?.redisServers?.length === 1)
  })

  it('tell timeouts, unknown outcomes and lost connections apart', async (t) => {
    await redis.flush()
    // What was before a change is read first, for the trail, and would fail first.
    const options = { redis: { commandTimeoutMs: 1500 }, audit: { enabled: false } }
    const { catraca, text } = await open(t, { store: redis.storeUrl, ...options })
    await catraca.allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
    assert.equal(value(await text(), 'catraca_engine_connection_failures_total', { engine: 'redis' }), 0)
    redis.servers[0]!.pause()
    try {
      const calls = [
        catraca.allowlists.check('alice', ['vip'], { consistency: 'strong' }),
        catraca.keys.revoke('nobody'),
      ]
      for (const { status } of await Promise.allSettled(calls)) assert.equal(status, 'rejected')
    } finally {
      redis.servers[0]!.resume()
    }
    const shown = await text()
    assert.equal(value(shown, 'catraca_engine_calls_total', redisCalls('checks.list', 'timeout')), 1)
    assert.equal(
      value(shown, 'catraca_engine_calls_total', {
        ...redisCalls('remove', 'unknown_outcome'),
        capability: 'keys',
      }),
      1,
    )
    await redis.servers[0]!.kill()
    try {
      const down = () => catraca.allowlists.get('vip').then(() => false)
      await until('it is known to be gone', () => down().catch(() => true))
      await assert.rejects(catraca.allowlists.get('vip'))
      const gone = await text()
      assert.ok(value(gone, 'catraca_engine_calls_total', redisCalls('lists.get', 'unavailable'))! >= 1)
      assert.ok(value(gone, 'catraca_engine_connection_failures_total', { engine: 'redis' })! >= 1)
    } finally {
      await redis.servers[0]!.restart()
    }
  })

  it('do not let resources that nobody knows take the place of others', async (t) => {
    await redis.flush()
    const { catraca, text } = await open(t, { store: redis.storeUrl, limits: { timeoutMs: 50 } })
    const decided = async (outcome: string) => {
      const shown = (await text()).matchAll(/^catraca_limit_decisions_total\{(.*)\} (\d+)$/gm)
      return [...shown].flatMap(([, labels, count]) =>
        labels!.includes(`outcome="${outcome}"`)
          ? [`${/resource="([^"]*)"/.exec(labels!)![1]} ${count}`]
          : [],
      )
    }
    assert.deepEqual(await decided('degraded_blocked'), ['other 0'])
    redis.servers[0]!.pause()
    try {
      const made = Array.from({ length: 5 }, (_, i) => `made-up-${i}`)
      for (const resource of made)
        await assert.rejects(catraca.limits.acquire({ entity: 'eve', resource, consume: { rpm: 1 } }))
    } finally {
      redis.servers[0]!.resume()
    }
    assert.deepEqual(await decided('degraded_blocked'), ['other 5'])
  })

  it('tell of tokens that were let through though nobody could tell', async (t) => {
    await redis.flush()
    const tokens = { timeoutMs: 50, onUnavailable: 'allow' as const }
    const { catraca, text } = await open(t, { store: redis.storeUrl, tokens })
    const outcome = async (name: string) =>
      value(await text(), 'catraca_token_checks_total', { outcome: name })
    redis.servers[0]!.pause()
    try {
      assert.deepEqual(await catraca.tokens.check({ jti: 'a' }), { revoked: false, degraded: true })
    } finally {
      redis.servers[0]!.resume()
    }
    assert.deepEqual(
      [await outcome('degraded'), await outcome('passed'), await outcome('revoked')],
      [1, 0, 0],
    )
  })

  it('are silent where nobody wants to count', async (t) => {
    const { catraca, text } = await open(t, { store: redis.storeUrl, metrics: { enabled: false } })
    await catraca.keys.list()
    assert.doesNotMatch(await text(), /catraca_engine_calls_total\{/)
  })
})

describe('metrics of a Redis Cluster', () => {
  it('show every primary', async (t) => {
    const cluster = await startCluster()
    t.after(() => cluster.stop())
    await cluster.calm()
    const { text } = await open(t, { store: cluster.storeUrl })
    const shown = await text()
    const primaries = await cluster.primaries()
    assert.equal(primaries.length, 3)
    for (const { address: server } of primaries)
      assert.ok(value(shown, 'redis_memory_used_bytes', { server })! > 0, shown)
  })
})

describe('metrics of DynamoDB', async () => {
  const dynamo = await startDynamo()
  const { names } = await makeTables(dynamo)

  it('count units, calls, refused writes and failures on the way', async (t) => {
    const dynamodb = {
      credentials: CREDENTIALS,
      readTimeoutMs: 5000,
      writeTimeoutMs: 5000,
      probeIntervalMs: 0,
    }
    const { catraca, text } = await open(t, { store: dynamo.url(names), dynamodb })
    await useAll(catraca)
    await assert.rejects(catraca.allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' }))
    const shown = await text()
    const table = names.allowlists
    for (const kind of ['read', 'write'])
      assert.ok(value(shown, 'catraca_dynamodb_consumed_units_total', { table, kind })! > 0, kind)
    const get = { verb: 'allowlist.check', operation: 'GetItem' }
    assert.ok(value(shown, 'catraca_dynamodb_calls_total', get)! >= 1)
    const create = { verb: 'allowlist.create', operation: 'TransactWriteItems' }
    assert.equal(value(shown, 'catraca_dynamodb_refused_writes_total', create), 1)
    assert.equal(value(shown, 'catraca_dynamodb_retries_total', create), 0)
    assert.equal(value(shown, 'catraca_engine_up', { engine: 'dynamodb' }), 1)
    assert.ok(
      value(shown, 'catraca_engine_calls_total', {
        engine: 'dynamodb',
        verb: 'members.add',
        outcome: 'ok',
      })! >= 1,
    )
    assert.equal(value(shown, 'catraca_engine_connection_failures_total', { engine: 'dynamodb' }), 0)
    await dynamo.stop()
    await assert.rejects(catraca.allowlists.get('vip'))
    const gone = await text()
    assert.ok(value(gone, 'catraca_engine_connection_failures_total', { engine: 'dynamodb' })! >= 1)
  })
})

describe('metrics of the embedded store', () => {
  it('show its files and the disk, and count its calls but for checks', async (t) => {
    const { catraca, text } = await open(t, { store: 'memory:' })
    await useAll(catraca)
    const shown = await text()
    for (const file of ['store', 'limits', 'cache'])
      assert.ok(value(shown, 'catraca_embedded_file_bytes', { file })! > 0, file)
    assert.ok(value(shown, 'catraca_embedded_free_bytes')! > 0)
    assert.equal(
      value(shown, 'catraca_engine_calls_total', { engine: 'embedded', verb: 'members.add', outcome: 'ok' }),
      1,
    )
    assert.equal(
      value(shown, 'catraca_engine_calls_total', { verb: 'checks.member', outcome: 'ok' }),
      undefined,
    )
    assert.equal(value(shown, 'catraca_engine_up', { engine: 'embedded', store: 'memory:' }), 1)
  })
})
