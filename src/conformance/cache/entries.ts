import assert from 'node:assert/strict'
import type { CacheStore } from '../../guards/cache/port.js'
import { suite } from '../suite.js'
import { listed, parallel, until } from '../support.js'
import { fill, followed, item, LIFE_MS, now, readOne, SPACE, storeOne, text } from './support.js'

export const cacheEntrySuite = suite<CacheStore>(
  'entries of a cache',
  {
    async 'what one instance wrote another reads, with what is left of its life'({ one, two }) {
      await one.write(SPACE, [item('CPF:1', '{"a":1}'), item('b@x.com', '"é"')], now())
      const [second, none, first] = await two.read(SPACE, ['b@x.com', 'none', 'CPF:1'], now())
      assert.equal(text(second!.value), '"é"')
      assert.equal(none, undefined)
      assert.equal(text(first!.value), '{"a":1}')
      assert.ok(first!.leftMs > LIFE_MS / 2 && first!.leftMs <= LIFE_MS, `${first!.leftMs} ms are left`)
      if (first!.ageMs !== undefined) assert.ok(first!.ageMs >= 0 && first!.ageMs < LIFE_MS / 2)
    },

    async 'entries are listed by the beginning of their key, without their values'({ one, two }) {
      const keys = ['CPF:1', 'CPF:2', 'CPF', 'cpf:1', 'b@x.com']
      await one.write(
        SPACE,
        keys.map((key) => item(key, '"value"')),
        now(),
      )
      await one.write('other', [item('CPF:1', '1')], now())
      await one.write(`${SPACE}x`, [item('CPF:1', '1')], now())
      await fill(one, 'CPF:loading')
      await one.write(SPACE, [item('CPF:gone', '1')], now())
      await one.remove(SPACE, ['CPF:gone'], now())
      for (const prefix of ['CPF', 'CPF:', 'c', 'none', '']) {
        for (const limit of [1, 100]) {
          const found = await listed(async (page) => {
            const { items, ...next } = await two.list(SPACE, { prefix, ...page }, now())
            for (const { leftMs, sizeBytes = 7 } of items) {
              assert.ok(leftMs > 0 && leftMs <= LIFE_MS)
              assert.ok(sizeBytes > 0)
            }
            return { items: items.map(({ key }) => key), ...next }
          }, limit)
          assert.deepEqual(found.sort(), keys.filter((key) => key.startsWith(prefix)).sort(), prefix)
        }
      }
    },

    async 'bytes of every kind come back as they were'({ one, two }) {
      const bytes = Uint8Array.from({ length: 1024 }, (_, i) => i % 256)
      await one.write(SPACE, [item('bytes', bytes)], now())
      const [found] = await two.read(SPACE, ['bytes'], now())
      assert.deepEqual([...Buffer.from(found!.value as Uint8Array)], [...bytes])
    },

    async 'a value as large as is allowed fits'({ one, two }) {
      const value = 'x'.repeat(Math.min(one.maxValueBytes, 1024 * 1024))
      await one.write(SPACE, [item('large', value)], now())
      assert.equal((await readOne(two, 'large'))?.length, value.length)
    },

    async 'a write takes the place of the one before, life included'({ one, two }) {
      await one.write(SPACE, [item('a', '1', { lifeMs: 10 * LIFE_MS })], now())
      await two.write(SPACE, [item('a', '2')], now())
      const [found] = await one.read(SPACE, ['a'], now())
      assert.equal(text(found!.value), '2')
      assert.ok(found!.leftMs <= LIFE_MS)
    },

    async 'an entry is gone when its life has passed, and can be written again'({ one, two }) {
      await one.write(SPACE, [item('a', '1', { lifeMs: 40 }), item('b', '2')], now())
      await until('a is gone', async () => (await readOne(two, 'a')) === undefined)
      assert.equal(await readOne(two, 'b'), '2')
      while ((await one.sweep(now())).more);
      assert.equal(await readOne(two, 'b'), '2')
      await two.write(SPACE, [item('a', '3')], now())
      assert.equal(await readOne(one, 'a'), '3')
    },

    async 'removing tells what was there'({ one, two }) {
      await one.write(SPACE, [item('a', '1'), item('c', '3')], now())
      assert.deepEqual(await two.remove(SPACE, ['a', 'b', 'c'], now()), [true, false, true])
      assert.deepEqual(await one.remove(SPACE, ['a'], now()), [false])
      assert.equal(await readOne(one, 'c'), undefined)
    },

    async 'expiring leaves no more than it says, prolongs nothing, ends fills, and tells others'({
      one,
      two,
    }) {
      await one.write(
        SPACE,
        [item('a', '1', { tags: ['red'] }), item('short', '2', { lifeMs: LIFE_MS / 3 })],
        now(),
      )
      const { notices, stop } = await followed(two)
      const token = await fill(one, 'a', { freshAboveMs: Number.POSITIVE_INFINITY })
      const other = await fill(one, 'none')
      await one.expire(SPACE, ['a', 'short', 'none'], LIFE_MS / 2, now())
      const [found, short, none] = await two.read(SPACE, ['a', 'short', 'none'], now())
      assert.equal(text(found!.value), '1')
      assert.ok(found!.leftMs > 0 && found!.leftMs <= LIFE_MS / 2, `${found!.leftMs} ms are left`)
      assert.ok(short!.leftMs <= LIFE_MS / 3)
      assert.equal(none, undefined)
      assert.equal(await storeOne(one, token, item('a', '3')), 'void')
      assert.equal(await storeOne(one, other, item('none', '3')), 'void')
      await until('the notice', () => notices.some((n) => n.kind === 'changed' && n.keys.includes('a')))
      stop()
      await one.removeTag(SPACE, 'red', now())
      assert.equal(await readOne(two, 'a'), undefined)
    },

    async 'names cannot reach the entries of others'({ one }) {
      const names = ['a', 'a:b', '__proto__', 'x:fill', 'tag', 'constructor', '1', 'y'.repeat(256)]
      for (const name of names) await one.write(SPACE, [item(name, name)], now())
      await one.write('other.space', [item('a', 'other')], now())
      await one.removeTag('other.space', 'tag', now())
      assert.deepEqual(await Promise.all(names.map((name) => readOne(one, name))), names)
      await one.clear('other.space', now())
      assert.deepEqual(await Promise.all(names.map((name) => readOne(one, name))), names)
      assert.equal(await readOne(one, 'a', 'other.space'), undefined)
    },

    async 'a tag is removed with all its members, and with no other'({ one, two }) {
      const tagged = (key: string, ...tags: string[]) => item(key, key, { tags })
      await one.write(SPACE, [tagged('a', 'red'), tagged('b', 'red', 'round'), tagged('c', 'round')], now())
      const token = await fill(two, 'd')
      await storeOne(two, token, tagged('d', 'red'))
      await one.write(SPACE, [item('plain', 'plain')], now())
      await two.removeTag(SPACE, 'red', now())
      const left = await one.read(SPACE, ['a', 'b', 'c', 'd', 'plain'], now())
      assert.deepEqual(
        left.map((found) => text(found?.value)),
        [undefined, undefined, 'c', undefined, 'plain'],
      )
      await one.write(SPACE, [tagged('a', 'red')], now())
      assert.equal(await readOne(two, 'a'), 'a')
      await one.removeTag(SPACE, 'red', now())
      assert.equal(await readOne(two, 'a'), undefined)
      await one.removeTag(SPACE, 'unheard-of', now())
    },

    async 'members of a tag expire by themselves, and a key that left the tag stays'({ one, two }) {
      await one.write(SPACE, [item('a', '1', { lifeMs: 40, tags: ['red'] })], now())
      await one.write(SPACE, [item('b', '1', { tags: ['red'] })], now())
      await until('a is gone', async () => (await readOne(two, 'a')) === undefined)
      while ((await two.sweep(now())).more);
      await one.write(SPACE, [item('b', '2')], now())
      await two.removeTag(SPACE, 'red', now())
      assert.equal(await readOne(one, 'b'), '2')
    },

    async 'clearing leaves nothing of the space, and nothing behind for what comes after'({ one, two }) {
      const many = Array.from({ length: 50 }, (_, i) => item(`k${i}`, String(i), { tags: ['t'] }))
      await one.write(SPACE, many, now())
      await one.write('other.space', [item('a', 'other')], now())
      await two.clear(SPACE, now())
      const found = await one.read(
        SPACE,
        many.map(({ key }) => key),
        now(),
      )
      assert.deepEqual(found.filter(Boolean), [])
      assert.equal(await readOne(one, 'a', 'other.space'), 'other')
      await one.write(SPACE, [item('k1', 'again')], now())
      while ((await two.sweep(now())).more);
      assert.equal(await readOne(two, 'k1'), 'again')
    },

    async 'instances hear of what others changed, and not of what they did themselves'({ one, two }) {
      const [here, there] = [await followed(one), await followed(two)]
      await one.write(SPACE, [item('a', '1'), item('b', '2')], now())
      await one.remove(SPACE, ['c'], now())
      await one.removeTag(SPACE, 'red', now())
      await one.clear(SPACE, now())
      const isCleared = () => there.notices.some(({ kind }) => kind === 'cleared')
      await until('the last notice', isCleared)
      const changed = there.notices.flatMap((notice) => (notice.kind === 'changed' ? notice.keys : []))
      assert.deepEqual(changed, ['a', 'b', 'c'])
      assert.deepEqual(
        there.notices.filter(({ kind }) => kind === 'tag' || kind === 'cleared'),
        [
          { kind: 'tag', space: SPACE, tag: 'red' },
          { kind: 'cleared', space: SPACE },
        ],
      )
      await two.write(SPACE, [item('d', '1')], now())
      await until('the notice of the other', () => here.notices.length > 0)
      assert.deepEqual(here.notices, [{ kind: 'changed', space: SPACE, keys: ['d'] }])
      here.stop()
      there.stop()
    },
  },
  {
    async 'of many removals exactly one removes'(pair) {
      await pair.one.write(SPACE, [item('a', '1')], now())
      const removed = await parallel(pair, 12, (store) => store.remove(SPACE, ['a'], now()))
      assert.equal(removed.filter(([there]) => there).length, 1)
    },

    async 'of many writes at once one is there, whole'(pair) {
      const value = (i: number) => JSON.stringify({ i, pad: 'x'.repeat(1000 + i) })
      await parallel(pair, 20, (store, i) => store.write(SPACE, [item('a', value(i))], now()))
      const kept = await readOne(pair.one, 'a')
      assert.equal(kept, value((JSON.parse(kept!) as { i: number }).i))
      assert.equal(await readOne(pair.two, 'a'), kept)
    },

    async 'tagged entries that are written while their tag is removed are gone, or new and whole'(pair) {
      const work = parallel(pair, 30, async (store, i) => {
        if (i % 10 === 9) await store.removeTag(SPACE, 'red', now())
        else await store.write(SPACE, [item(`k${i}`, String(i), { tags: ['red'] })], now())
      })
      await work
      await pair.one.removeTag(SPACE, 'red', now())
      const keys = Array.from({ length: 30 }, (_, i) => `k${i}`)
      assert.deepEqual((await pair.two.read(SPACE, keys, now())).filter(Boolean), [])
    },
  },
)
