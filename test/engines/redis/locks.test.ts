import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { openRedis as connect } from '../../../src/engines/redis/link/open-redis.js'
import type { Redis } from '../../../src/engines/redis/link/redis.js'
import type { Catraca } from '../../../src/index.js'
import { openPatiently, PATIENT_REDIS } from '../../support/patient.js'
import {
  commandCounts,
  failsInTime,
  type RedisServers,
  startSingle,
  until,
} from '../../support/redis/index.js'

const KEY = 'lock:claim:claim_abc123'
const NAME = 'claim:claim_abc123'

describe('locks on Redis', () => {
  let servers: RedisServers
  let redis: Redis
  let one: Catraca
  let two: Catraca
  before(async () => {
    servers = await startSingle()
    redis = await connect(servers.url, PATIENT_REDIS)
    const open = () => openPatiently({ store: servers.storeUrl, sweepIntervalMs: 0 })
    ;[one, two] = await Promise.all([open(), open()])
  })
  after(async () => {
    await one.close()
    await two.close()
    await redis.close()
    await servers.stop()
  })

  it('lie under the key of the source, with the owner’s hash and the time to live', async () => {
    const answer = await one.locks.acquire(NAME, { ttlMs: 30_000 })
    assert.ok(answer.acquired)
    const value = String(await redis.read(KEY, ['GET', KEY]))
    assert.match(value, /^[\w-]{43}$/)
    const leftMs = Number(await redis.read(KEY, ['PTTL', KEY]))
    assert.ok(leftMs > 25_000 && leftMs <= 30_000)
    assert.equal(Number(await redis.read(KEY, ['GET', `{${KEY}}:fence`])), answer.fence)
    const keptMs = Number(await redis.read(KEY, ['PTTL', `{${KEY}}:fence`]))
    assert.ok(keptMs > 24 * 3_600_000)
    assert.ok(Math.abs(answer.fence! - Date.now() * 1000) < 5_000_000, 'microseconds of the server')
    assert.equal(await redis.write(KEY, ['SET', KEY, 'foreign', 'NX', 'PX', '1000']), null)
    assert.equal(await one.locks.release(NAME, answer.token), true)
    assert.equal(await redis.read(KEY, ['EXISTS', KEY]), 0)
    assert.ok(!JSON.stringify(await redis.readEverywhere(['KEYS', '*'])).includes(answer.token))
  })

  it('are excluded by what another program has set there, of whatever type', async () => {
    await redis.write(KEY, ['SET', KEY, 'foreign', 'NX', 'PX', '60000'])
    const held = await one.locks.acquire(NAME)
    assert.ok(!held.acquired && held.retryAfterMs > 50_000)
    assert.equal((await one.locks.status(NAME)).held, true)
    await redis.write(KEY, ['SET', KEY, 'foreign, for ever'])
    assert.deepEqual(await one.locks.acquire(NAME), { acquired: false, name: NAME, retryAfterMs: 1000 })
    await redis.write(KEY, ['DEL', KEY])
    await redis.write(KEY, ['HSET', KEY, 'a', 'b'])
    assert.equal((await one.locks.acquire(NAME)).acquired, false)
    assert.equal(await one.locks.extend(NAME, 'token'), undefined)
    assert.equal(await one.locks.release(NAME, 'token'), false)
    await assert.rejects(one.locks.forceRelease(NAME), { code: 'STORE_CORRUPT', message: /holds a hash/ })
    assert.equal(await redis.read(KEY, ['HGET', KEY, 'a']), 'b')
    await redis.write(KEY, ['DEL', KEY])
    // A string is a lock, whoever holds it.
    await redis.write(KEY, ['SET', KEY, 'foreign, for ever'])
    assert.equal(await one.locks.forceRelease(NAME), true)
    const answer = await one.locks.acquire(NAME)
    assert.ok(answer.acquired)
    await one.locks.release(NAME, answer.token)
  })

  it('give fences past one that a clock was ahead for', async () => {
    const ahead = (Date.now() + 3_600_000) * 1000
    await redis.write(KEY, ['SET', `{${KEY}}:fence`, String(ahead)])
    const answer = await one.locks.acquire(NAME)
    assert.ok(answer.acquired)
    assert.equal(answer.fence, ahead + 1)
    await one.locks.release(NAME, answer.token)
    const next = await two.locks.acquire(NAME)
    assert.ok(next.acquired)
    assert.equal(next.fence, ahead + 2)
    await two.locks.release(NAME, next.token)
    await redis.write(KEY, ['DEL', `{${KEY}}:fence`])
  })

  it('tell those who wait, at once, and nobody when nobody waits', async () => {
    /** How long one who waits gets the lock after it was given back. */
    const handOver = async (): Promise<number> => {
      const first = await one.locks.acquire(NAME)
      assert.ok(first.acquired)
      const waiting = two.locks.acquire(NAME, { waitMs: 10_000 })
      // Until it is asked for the second time, behind the subscription.
      await until('it waits', async () => (await redis.read(KEY, ['EXISTS', `{${KEY}}:waiting`])) === 1)
      await new Promise((resolve) => setTimeout(resolve, 60))
      const began = performance.now()
      await one.locks.release(NAME, first.token)
      const second = await waiting
      const tookMs = performance.now() - began
      assert.ok(second.acquired)
      const before = await commandCounts(servers.servers[0]!)
      await two.locks.release(NAME, second.token)
      const after = await commandCounts(servers.servers[0]!)
      assert.equal((after.get('publish') ?? 0) - (before.get('publish') ?? 0), 0)
      return tookMs
    }
    // Who only looks does so every 125 to 375 ms, so never this soon; a busy machine may need several rounds.
    await until('one was told', async () => (await handOver()) < 60)
  })

  it('may be kept there while the rest is elsewhere', async () => {
    const apart = await openPatiently({ store: 'memory:', locks: { store: servers.storeUrl } })
    const answer = await apart.locks.acquire('apart')
    assert.ok(answer.acquired)
    assert.equal((await one.locks.status('apart')).fence, answer.fence)
    await apart.close()
  })

  it('of one turn travel together', async () => {
    const before = await commandCounts(servers.servers[0]!)
    const names = Array.from({ length: 20 }, (_, i) => `turn:${i}`)
    const answers = await Promise.all(names.map((name) => one.locks.acquire(name)))
    assert.ok(answers.every(({ acquired }) => acquired))
    const after = await commandCounts(servers.servers[0]!)
    assert.equal((after.get('evalsha') ?? 0) - (before.get('evalsha') ?? 0), 2, 'sixteen at a time')
  })

  it('block when the server does not answer, within their timeout', async () => {
    const impatient = await openPatiently({ store: servers.storeUrl, locks: { timeoutMs: 200 } })
    const [server] = servers.servers
    server!.pause()
    try {
      await failsInTime(impatient.locks.acquire('a'), 'ENGINE_UNAVAILABLE', 1000)
    } finally {
      server!.resume()
    }
    // What the server did when it came back was given back.
    const again = await impatient.locks.acquire('a', { waitMs: 5000 })
    assert.equal(again.acquired, true)
    await impatient.close()
  })
})
