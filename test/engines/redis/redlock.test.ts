import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { isCatracaError } from '../../../src/core/errors.js'
import { type OpenedRedlock, openRedlock } from '../../../src/engines/redis/lock/redlock.js'
import type { RedisUrl } from '../../../src/engines/redis/url.js'
import { parseStoreUrl } from '../../../src/engines/registry.js'
import { type Catraca, openCatraca } from '../../../src/index.js'
import { inTime, type RedisServers, startSingle, until } from '../../support/redis/index.js'

const TTL_MS = 5000
const attempt = (name: string, owner: string, ttlMs = TTL_MS) => ({ name, owner, ttlMs, waits: false })

describe('Redlock over independent servers', () => {
  let servers: RedisServers[]
  let one: OpenedRedlock
  let two: OpenedRedlock
  let catraca: Catraca
  const value = (i: number, name: string) => servers[i]!.servers[0]!.say('GET', `lock:${name}`)
  before(async () => {
    servers = await Promise.all(Array.from({ length: 5 }, () => startSingle()))
    const urls = servers.map(({ storeUrl }) => storeUrl)
    const parsed = urls.map((url) => parseStoreUrl(url) as RedisUrl)
    const options = { connectTimeoutMs: 60_000, commandTimeoutMs: 5000 }
    ;[one, two] = await Promise.all([openRedlock(parsed, options), openRedlock(parsed, options)])
    catraca = await openCatraca({ store: 'memory:', locks: { redlock: urls } })
  })
  after(async () => {
    await one.close()
    await two.close()
    await catraca.close()
    for (const each of servers) await each.stop()
  })

  it('gives a lock to one, without a fence, and frees it everywhere', async () => {
    assert.deepEqual(await one.acquire(attempt('a', 'ann'), 0), { outcome: 'acquired', fence: undefined })
    const held = await two.acquire(attempt('a', 'bob'), 0)
    assert.ok(held.outcome === 'held' && held.retryAfterMs > 0 && held.retryAfterMs <= TTL_MS)
    assert.equal((await two.read('a', Date.now()))?.isHeld, true)
    assert.equal(await two.extend('a', 'bob', TTL_MS, 0), 'lost')
    assert.equal(await two.extend('a', 'ann', TTL_MS, 0), 'done')
    assert.equal(await one.release('a', 'bob', 0), 'lost')
    assert.equal(await one.release('a', 'ann', 0), 'done')
    for (let i = 0; i < 5; i++) assert.equal(await value(i, 'a'), null)
  })

  it('gives it to one of many who ask at once, or to none, and leaves nothing of the others', async () => {
    for (let round = 0; round < 5; round++) {
      const owners = Array.from({ length: 6 }, (_, i) => `${round}-${i}`)
      const answers = await Promise.all(
        owners.map((owner, i) => (i % 2 === 0 ? one : two).acquire(attempt('race', owner), 0)),
      )
      const winners = owners.filter((_, i) => answers[i]!.outcome === 'acquired')
      assert.ok(winners.length <= 1, `${winners}`)
      const values = await Promise.all([0, 1, 2, 3, 4].map((i) => value(i, 'race')))
      assert.ok(values.every((owner) => owner === null || winners.includes(String(owner))))
      for (const owner of winners) assert.equal(await one.release('race', owner, 0), 'done')
    }
  })

  it('goes on without a minority, and not without a majority', async () => {
    servers[0]!.servers[0]!.pause()
    servers[1]!.servers[0]!.pause()
    assert.equal((await one.acquire(attempt('b', 'ann'), 0)).outcome, 'acquired')
    assert.equal((await two.acquire(attempt('b', 'bob'), 0)).outcome, 'held')
    servers[2]!.servers[0]!.pause()
    const failed = one.acquire(attempt('c', 'ann'), 0)
    await assert.rejects(failed, (error) => isCatracaError(error, 'ENGINE_UNAVAILABLE'))
    for (const i of [3, 4]) assert.equal(await value(i, 'c'), null, 'given back where it was given')
    for (const i of [0, 1, 2]) servers[i]!.servers[0]!.resume()
    await until('it can be had again', async () => {
      return (await two.acquire(attempt('c', 'bob'), 0).catch(() => undefined))?.outcome === 'acquired'
    })
  })

  it('does not wait for a slow minority, to refuse, to extend or to give back', async () => {
    await one.acquire(attempt('slow', 'ann'), 0)
    servers[4]!.servers[0]!.pause()
    try {
      // A server has 1000 ms: sooner than a timer of less is without it.
      assert.equal(await inTime(one.extend('slow', 'ann', TTL_MS, 0), 800), 'done')
      assert.equal((await inTime(two.acquire(attempt('slow', 'bob'), 0), 800)).outcome, 'held')
      assert.equal(await inTime(one.release('slow', 'ann', 0), 800), 'done')
    } finally {
      servers[4]!.servers[0]!.resume()
    }
    await until('the slow one has heard of it too', async () => (await value(4, 'slow')) === null)
  })

  it('takes no server for two', async () => {
    const [url] = servers.map(({ storeUrl }) => storeUrl)
    for (const redlock of [
      [url!, url!, url!],
      [0, 1, 2].map((database) => url!.replace(/(\/\d+)?$/, `/${database}`)),
    ]) {
      const opening = openCatraca({ store: 'memory:', locks: { redlock } })
      await assert.rejects(
        opening.then((opened) => opened.close()),
        (error) => isCatracaError(error, 'CONFIG_INVALID'),
        redlock.join(' '),
      )
    }
  })

  it('is what a library and a server use when they are told so', async () => {
    const fences: unknown[] = []
    await catraca.locks.withLock('d', { ttlMs: TTL_MS }, async (lock) => {
      assert.equal((await catraca.locks.acquire('d')).acquired, false)
      assert.throws(
        () => lock.fence,
        (error) => isCatracaError(error, 'STORE_UNSUPPORTED'),
      )
      fences.push(lock.fenceOf('d'))
      await lock.extend()
      assert.equal((await value(4, 'd')) !== null, true)
    })
    assert.deepEqual(fences, [undefined])
    assert.deepEqual(await catraca.locks.status('d'), { name: 'd', held: false })
    const few = openCatraca({ store: 'memory:', locks: { redlock: [servers[0]!.storeUrl] } })
    await assert.rejects(few, (error) => isCatracaError(error, 'CONFIG_INVALID'))
  })
})
