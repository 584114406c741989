import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { heard, item, now, readOne, SPACE } from '../../../src/conformance/cache/support.js'
import { ManualClock, systemClock } from '../../../src/core/clock.js'
import { openRedis, type RedisEngine } from '../../../src/engines/redis/index.js'
import { Caches } from '../../../src/guards/cache/index.js'
import type { CacheNotice } from '../../../src/guards/cache/port.js'
import { dictCache } from '../../../src/presets/dict/index.js'
import { PATIENT_REDIS } from '../../support/patient.js'
import { type RedisServers, startSingle, until } from '../../support/redis/index.js'

const LIFE_MS = 60_000
/** As the preset opens it, since a name means one space. */
const SET_SPACE = { jitter: 0, l1: false as const, gzipAboveBytes: 1024 ** 3, ttlMs: 300_000 }

describe('caches on redis', () => {
  let servers: RedisServers
  let engines: RedisEngine[]
  const say = (...args: string[]) => servers.servers[0]!.say(...args)
  const open = async () => {
    const engine = await openRedis(servers.url, PATIENT_REDIS)
    engines.push(engine)
    return engine.cache
  }
  before(async () => {
    servers = await startSingle()
    engines = []
  })
  beforeEach(() => servers.flush())
  after(async () => {
    for (const engine of engines) await engine.close()
    await servers.stop()
  })

  it('keeps bare values under plain keys, with their life as TTL', async () => {
    const cache = await open()
    await cache.write(SPACE, [item('CPF:12345678909', '{"a":1}')], now())
    assert.equal(await say('GET', 'dict:entry:key:CPF:12345678909'), '{"a":1}')
    const ttl = Number(await say('PTTL', 'dict:entry:key:CPF:12345678909'))
    assert.ok(ttl > LIFE_MS / 2 && ttl <= LIFE_MS, `${ttl} ms`)
    assert.deepEqual(await say('KEYS', '*12345678909*'), ['dict:entry:key:CPF:12345678909'])
    const claim = { token: 'T', leaseMs: 5000, freshAboveMs: 0, takeOver: false }
    await cache.begin(SPACE, ['x'], claim, now())
    assert.deepEqual(await say('KEYS', '*x*'), ['{dict:entry:key:x}:fill'])
  })

  it('takes what other programs wrote, with and without an end', async () => {
    const caches = new Caches({ store: await open(), clock: systemClock, report: () => {} })
    const space = caches.space<{ a: number }>({ name: SPACE, ttlMs: LIFE_MS })
    await say('SET', `${SPACE}:forever`, '{"a":1}')
    await say('SET', `${SPACE}:soon`, '{"a":2}', 'PX', '30000')
    await say('SET', `${SPACE}:no-json`, 'OPEN')
    await say('SADD', `${SPACE}:set`, 'one')
    assert.deepEqual(await space.get('forever'), { a: 1 })
    const soon = await space.look('soon')
    assert.deepEqual(soon?.value, { a: 2 })
    assert.equal(await space.get('no-json'), undefined)
    assert.equal(await say('EXISTS', `${SPACE}:no-json`), 0)
    // Another type is no entry, and stays.
    const load = async () => ({ a: 3 })
    assert.deepEqual(await space.getOrLoad('set', load), { a: 3 })
    assert.deepEqual(await say('SMEMBERS', `${SPACE}:set`), ['one'])
    caches.close()
  })

  it('shares the claims and statuses of the DICT documents with programs that keep sets and bare words', async () => {
    const caches = new Caches({ store: await open(), clock: systemClock, report: () => {} })
    const { claims, workflows } = dictCache(caches, { l1: false })
    const index = 'dict:claim:index:entry:e1'
    const never = () => assert.fail('nothing was to be loaded')
    await say('SADD', index, 'c1', 'c2')
    assert.deepEqual([...(await claims.ofEntry('e1', never))].sort(), ['c1', 'c2'])
    await say('PEXPIRE', index, '1')
    await until('the set is gone', async () => (await say('EXISTS', index)) === 0)
    assert.deepEqual([...(await claims.ofEntry('e1', async () => ['c3']))], ['c3'])
    // Another program may add to what was loaded.
    await say('SADD', index, 'c1')
    assert.deepEqual([...(await claims.ofEntry('e1', never))].sort(), ['c1', 'c3'])
    const ofEntries = caches.space<string[]>({ name: 'dict:claim:index:entry', ...SET_SPACE })
    await ofEntries.set('e1', ['c4', 'c5'])
    assert.deepEqual(((await say('SMEMBERS', index)) as string[]).sort(), ['c4', 'c5'])
    const ttl = Number(await say('PTTL', index))
    assert.ok(ttl > 0 && ttl <= 300_000, `${ttl} ms`)
    assert.deepEqual((await ofEntries.refresh('e1', () => ['c6']))?.join(), 'c6')
    assert.deepEqual(await say('SMEMBERS', index), ['c6'])
    // As an earlier version left it.
    await say('SET', index, '["c7"]')
    assert.deepEqual([...(await claims.ofEntry('e1', never))], ['c7'])
    await ofEntries.set('e1', [])
    assert.equal(await say('EXISTS', index), 0)
    await say('SET', 'dict:claim:status:c1', 'OPEN')
    assert.equal(await claims.status('c1', never), 'OPEN')
    await say('SET', 'workflow:claim:w1:status', 'RUNNING')
    assert.equal(await workflows.status('w1', never), 'RUNNING')
    caches.close()
  })

  it('refreshes early what it stored itself, whose end the server puts a little later', async () => {
    const clock = new ManualClock(Date.now())
    const caches = new Caches({ store: await open(), clock, report: () => {}, random: () => 0.5 })
    const space = caches.space<number>({ name: SPACE, ttlMs: LIFE_MS, beta: 100, jitter: 0 })
    let loads = 0
    const load = async () => {
      clock.advance(1000)
      return ++loads
    }
    assert.equal(await space.getOrLoad('k', load), 1)
    clock.advance(50)
    assert.equal(await space.getOrLoad('k', load), 1)
    await until('it is loaded again', () => loads > 1, 2000)
    assert.equal(space.stats().earlyRefreshes, 1, 'by the first attempt')
    caches.close()
  })

  it('stores fills also while notices may be missed, unless a tag of theirs was removed', async () => {
    const cache = await open()
    const claim = { token: 'T', leaseMs: 5000, freshAboveMs: 0, takeOver: false }
    await cache.removeTag(SPACE, 'removed', now())
    const begun = new Promise((resolve) => {
      cache.watch(({ kind }) => {
        if (kind === 'lost') setImmediate(() => resolve(cache.begin(SPACE, ['a', 'b', 'c'], claim, now())))
      })
    })
    await say('CLIENT', 'KILL', 'TYPE', 'pubsub')
    await begun
    assert.match(String(await say('GET', `{${SPACE}:a}:fill`)), /^-1 /)
    const fills = [
      item('a', '1'),
      { ...item('b', '2'), tags: ['t'] },
      { ...item('c', '3'), tags: ['removed'] },
    ]
    const outcomes = await cache.store(
      SPACE,
      fills.map((fill) => ({ ...fill, token: 'T', isChange: false })),
      now(),
    )
    assert.deepEqual(outcomes, ['stored', 'stored', 'void'])
  })

  it('goes on with its notices when another program publishes there', async () => {
    const [one, other] = [await open(), await open()]
    const notices: CacheNotice[] = []
    one.watch((notice) => notices.push(notice))
    await say('PUBLISH', 'cache:notices:0', 'hello')
    await other.remove(SPACE, ['k'], now())
    await until('the notice comes', () => notices.length > 0, 2000)
    assert.deepEqual(notices, [{ kind: 'changed', space: SPACE, keys: ['k'] }])
  })

  it('clears what other programs wrote, too, and nothing else', async () => {
    const cache = await open()
    await say('SET', `${SPACE}:foreign`, '1')
    await say('SET', 'dict:entry:keys:other', '1')
    await say('SET', 'dict:entry', '1')
    await cache.clear(SPACE, now())
    assert.deepEqual(((await say('KEYS', 'dict*')) as string[]).sort(), [
      'dict:entry',
      'dict:entry:keys:other',
    ])
  })

  it('forgets members of a tag that are gone', async () => {
    const cache = await open()
    const key = 'cache:tag:dict%3Aentry%3Akey:red'
    await cache.write(SPACE, [item('a', '1', { tags: ['red'] }), item('b', '1', { tags: ['red'] })], now())
    assert.equal(await say('ZCARD', key), 2)
    await say('ZADD', key, '1', 'b')
    await cache.sweep(now())
    assert.equal(await say('ZCARD', key), 1)
    await cache.removeTag(SPACE, 'red', now())
    assert.deepEqual(await say('KEYS', 'cache:tag*'), [])
    assert.equal(await readOne(cache, 'a'), undefined)
  })

  it('finishes the removal of a tag that another left half done', async () => {
    const cache = await open()
    await cache.write(SPACE, [item('a', '1', { tags: ['red'] })], now())
    const tag = 'cache:tag:dict%3Aentry%3Akey:red'
    await say('RENAME', tag, `{${tag}}:removed:died`)
    await say('SADD', `{${tag}}:removals`, 'died')
    await cache.removeTag(SPACE, 'red', now())
    assert.equal(await readOne(cache, 'a'), undefined)
    assert.equal(await say('EXISTS', `{${tag}}:removals`), 0)
  })

  it('takes an entry whose tags were evicted for one that may have the tag', async () => {
    const cache = await open()
    await cache.write(SPACE, [item('a', '1', { tags: ['red'] })], now())
    await say('DEL', `{${SPACE}:a}:tags`)
    await cache.removeTag(SPACE, 'red', now())
    assert.equal(await readOne(cache, 'a'), undefined)
  })

  it('wants servers that make room where only caches are kept, and never else', async () => {
    const warnings = async (use: 'guards' | 'caches', ...settings: [string, string][]) => {
      for (const [name, value] of settings) await say('CONFIG', 'SET', name, value)
      const engine = await openRedis(servers.url, { ...PATIENT_REDIS, use })
      await engine.close()
      return engine.warnings.join()
    }
    assert.match(await warnings('caches'), /no maxmemory/)
    assert.match(await warnings('caches', ['maxmemory', '100mb']), /noeviction.*nothing is cached any more/)
    assert.match(await warnings('caches', ['maxmemory-policy', 'allkeys-lru']), /tags.*volatile-lru/)
    assert.equal(await warnings('caches', ['maxmemory-policy', 'volatile-lru']), '')
    assert.match(await warnings('guards'), /set it to noeviction/)
    const forGuards = await warnings('guards', ['maxmemory-policy', 'noeviction'], ['maxmemory', '0'])
    assert.doesNotMatch(forGuards, /maxmemory/)
  })

  it('keeps spaces away from what others keep in the same store', async () => {
    const caches = new Caches({ store: await open(), clock: systemClock, report: () => {} })
    for (const name of ['allowlist', 'ratelimit:config', 'lock', 'bridge:idempotency', 'cache'])
      assert.throws(() => caches.space({ name, ttlMs: 1000 }), /name begins with a reserved name/)
    assert.throws(
      () => [caches.space({ name: 'a:b', ttlMs: 1000 }), caches.space({ name: 'a', ttlMs: 1000 })],
      /overlaps/,
    )
    caches.close()
  })

  it('tells of a gap in the notices, and of a number that went back', async () => {
    const [one, two] = [await open(), await open()]
    const { notices, stop } = heard(two)
    const kinds = () => notices.map(({ kind }: CacheNotice) => kind).join(' ')
    await one.write(SPACE, [item('a', '1')], now())
    await until('the notice', async () => kinds() === 'changed')
    // One that nobody heard.
    await say('INCR', 'cache:notices')
    await until('the gap', async () => kinds() === 'changed lost resumed')
    await say('SET', 'cache:notices', '0')
    await until('the way back', async () => kinds() === 'changed lost resumed lost resumed')
    await one.write(SPACE, [item('b', '1')], now())
    await until('the next one', async () => kinds().endsWith('resumed changed'))
    stop()
  })

  it('tells that the connection was lost, and that it is back', async () => {
    const [one, two] = [await open(), await open()]
    const { notices, stop } = heard(two)
    await say('CLIENT', 'KILL', 'TYPE', 'pubsub')
    await until('both', async () => notices.map(({ kind }) => kind).join(' ') === 'lost resumed')
    await one.write(SPACE, [item('a', '1')], now())
    await until('the notice', async () => notices.at(-1)?.kind === 'changed')
    stop()
  })
})
