import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { fill, followed, item, LIFE_MS, now, readOne, SPACE } from '../../../src/conformance/cache/support.js'
import { until } from '../../../src/conformance/support.js'
import { systemClock } from '../../../src/core/clock.js'
import { entryKey, HEAD_KEY } from '../../../src/engines/dynamodb/cache/keys.js'
import { number } from '../../../src/engines/dynamodb/client/attributes.js'
import { Caches } from '../../../src/guards/cache/index.js'
import { CacheServer, type OpenedCache } from '../../support/dynamodb-cache.js'
import { startFaultProxy } from '../../support/dynamodb-faults.js'
import { startDynamo } from '../../support/dynamodb-server.js'

const servers = new CacheServer(await startDynamo('dynoxide'))

describe('caches on dynamodb', () => {
  const opened: OpenedCache[] = []
  after(async () => {
    for (const pod of opened) await pod.close()
  })

  const open = (table: string, endpoint?: string) => {
    const pod = servers.open(table, endpoint)
    opened.push(pod)
    return pod
  }

  it('keeps an item for each key, which TTL may delete when it is over', async () => {
    const table = await servers.table()
    const { cache, client } = open(table)
    await cache.write(SPACE, [item('CPF:1', '{"a":1}', { tags: ['red'] })], now())
    const Key = entryKey(SPACE, 'CPF:1')
    assert.deepEqual(Key, { PK: { S: 'CACHE#dict:entry:key#CPF:1' }, SK: { S: 'ENTRY' } })
    const found = (await client.getItem('test', { TableName: table, Key }))!
    assert.equal(found.value?.S, '{"a":1}')
    const goneAt = Number(found.goneAt?.N)
    assert.ok(Math.abs(goneAt - (now() + LIFE_MS)) < 30_000)
    assert.equal(Number(found.ttl?.N), Math.ceil(goneAt / 1000) + 300)
  })

  it('costs a unit for each 4 KB of a hit, and one more for all that are asked for at once', async () => {
    const { cache, counts } = open(await servers.table())
    const keys = Array.from({ length: 9 }, (_, i) => `k${i}`)
    await cache.write(
      SPACE,
      keys.map((key) => item(key, 'x'.repeat(1000))),
      now(),
    )
    await cache.removeTag(SPACE, 'red', now())
    counts.reset()
    await cache.read(SPACE, ['k0'], now())
    assert.deepEqual(counts.of('cache.read'), { calls: 1, readUnits: 2, writeUnits: 0 })
    counts.reset()
    await Promise.all(keys.map((key) => cache.read(SPACE, [key], now())))
    assert.deepEqual(counts.of('cache.read'), { calls: 1, readUnits: 10, writeUnits: 0 })
    counts.reset()
    const token = await fill(cache, 'new')
    await cache.store(SPACE, [{ ...item('new', '1'), token, isChange: false }], now())
    const units = ['cache.read', 'cache.begin', 'cache.marks', 'cache.store'].map((verb) => counts.of(verb))
    assert.equal(
      units.reduce((sum, { writeUnits }) => sum + writeUnits, 0),
      2,
    )
  })

  it('keeps no value that does not fit an item', async () => {
    const { cache } = open(await servers.table())
    const caches = new Caches({ store: cache, clock: systemClock, report: (m) => assert.fail(m) })
    const space = caches.space<string>({ name: SPACE, ttlMs: LIFE_MS, l1: false, gzipAboveBytes: 1e9 })
    const large = 'x'.repeat(400 * 1024)
    assert.equal(await space.getOrLoad('large', async () => large), large)
    assert.equal(space.stats().tooLarge, 1)
    assert.equal(await space.get('large'), undefined)
    const fitting = 'x'.repeat(cache.maxValueBytes - 2)
    await space.set('fitting', fitting, { tags: ['y'.repeat(256), 'z'.repeat(256)] })
    assert.equal(await space.get('fitting'), fitting)
    caches.close()
  })

  it('takes tags that share a place for one another: a load too many, and never one too few', async () => {
    const { cache } = open(await servers.table())
    const tags = Array.from({ length: 600 }, (_, i) => `tag-${i}`)
    const batch = tags.map((tag) => item(tag, '1', { tags: [tag] }))
    await cache.write(SPACE, batch, now())
    await cache.removeTag(SPACE, 'tag-0', now())
    const left = await cache.read(SPACE, tags, now())
    assert.equal(left[0], undefined)
    const gone = left.filter((found) => found === undefined).length
    assert.ok(gone < 15, `${gone} of 600 went with one tag`)
  })

  it('lets others begin at once where a space was cleared under a fill', async () => {
    const { cache } = open(await servers.table())
    await fill(cache, 'a')
    await cache.clear(SPACE, now())
    await fill(cache, 'a')
  })

  it('tells that a notice is missing', async () => {
    const table = await servers.table()
    const [one, two] = [open(table), open(table)]
    const { notices, stop } = await followed(two.cache)
    const seen = () => notices.map(({ kind }) => kind).join(' ')
    // Counted, and never told: whoever did so died in between.
    await one.client.putItem('test', { TableName: table, Item: { ...HEAD_KEY, number: number(3) } })
    await until('the gap', () => seen() === 'lost resumed')
    await one.cache.write(SPACE, [item('a', '1')], now())
    await until('the next one', () => seen() === 'lost resumed changed')
    assert.equal(await readOne(two.cache, 'a'), '1')
    stop()
  })

  it('believes nothing before it has looked for the first time', async () => {
    const table = await servers.table()
    const one = open(table)
    await one.cache.write(SPACE, [item('a', '"old"')], now())
    const faults = await startFaultProxy(servers.server.endpoint)
    const two = open(table, faults.endpoint)
    // The feed is looked at with GetItem, entries are read with BatchGetItem.
    faults.inject({ kind: 'delay', ms: 300 }, { operation: 'GetItem', times: 1 })
    const caches = new Caches({ store: two.cache, clock: systemClock, report: () => {} })
    const space = caches.space<string>({ name: SPACE, ttlMs: LIFE_MS })
    assert.equal(await space.get('a'), 'old')
    await one.cache.remove(SPACE, ['a'], now())
    assert.equal(await space.get('a'), undefined)
    await until('the first look', () => space.stats().firstTier.isTrusted)
    assert.equal(await space.get('a'), undefined)
    caches.close()
  })

  it('tells that the table does not answer', async () => {
    const { cache, client } = open(await servers.table())
    const { notices, stop } = await followed(cache)
    client.close()
    await until('the loss', () => notices.some(({ kind }) => kind === 'lost'))
    stop()
  })
})
