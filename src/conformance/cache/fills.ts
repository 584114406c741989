import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import type { CacheStore } from '../../guards/cache/port.js'
import { suite } from '../suite.js'
import { parallel, until } from '../support.js'
import { beginOne, fill, followed, item, LIFE_MS, now, readOne, SPACE, storeOne, text } from './support.js'

/** Each of these must end the fills that started before it. */
const INVALIDATIONS: Record<string, (store: CacheStore) => Promise<unknown>> = {
  write: (store) => store.write(SPACE, [item('a', 'written')], now()),
  remove: (store) => store.remove(SPACE, ['a'], now()),
  'removal of its tag': (store) => store.removeTag(SPACE, 'red', now()),
  'clearing of its space': (store) => store.clear(SPACE, now()),
}

export const cacheFillSuite = suite<CacheStore>(
  'fills of a cache',
  {
    async 'one fills, others are told that it does, and the value is there for all'({ one, two }) {
      const token = await fill(one, 'a')
      const other = await beginOne(two, 'a')
      assert.ok(other.state === 'held' && other.leftMs > 0 && other.leftMs <= LIFE_MS, other.state)
      assert.equal(await storeOne(one, token, item('a', '1')), 'stored')
      const found = await beginOne(two, 'a')
      assert.ok(found.state === 'found' && text(found.entry.value) === '1', found.state)
      assert.ok(found.state === 'found' && found.entry.leftMs > LIFE_MS / 2)
      assert.equal(await readOne(two, 'a'), '1')
    },

    async 'an entry with little left is filled again, and read until then'({ one, two }) {
      await one.write(SPACE, [item('a', 'old')], now())
      const token = await fill(two, 'a', { freshAboveMs: LIFE_MS })
      assert.equal((await beginOne(one, 'a', { freshAboveMs: LIFE_MS })).state, 'held')
      assert.equal((await beginOne(one, 'a')).state, 'found')
      assert.equal(await readOne(one, 'a'), 'old')
      assert.equal(await storeOne(two, token, item('a', 'new')), 'stored')
      assert.equal(await readOne(one, 'a'), 'new')
      assert.equal((await beginOne(one, 'a', { freshAboveMs: Number.POSITIVE_INFINITY })).state, 'filling')
    },

    async 'many are begun and stored in one call, each with an answer of its own'({ one, two }) {
      await fill(two, 'held')
      await two.write(SPACE, [item('there', '0')], now())
      const claim = { token: 'T-1', leaseMs: LIFE_MS, freshAboveMs: 0, takeOver: false }
      const keys = ['a', 'held', 'there', 'b']
      const starts = await one.begin(SPACE, keys, claim, now())
      assert.deepEqual(
        starts.map(({ state }) => state),
        ['filling', 'held', 'found', 'filling'],
      )
      const again = await one.begin(SPACE, keys, claim, now())
      assert.deepEqual(
        again.map(({ state }) => state),
        ['filling', 'held', 'found', 'filling'],
      )
      await two.remove(SPACE, ['b'], now())
      const fills = ['a', 'b', 'held'].map((key) => ({ ...item(key, key), token: 'T-1', isChange: false }))
      assert.deepEqual(await one.store(SPACE, fills, now()), ['stored', 'void', 'void'])
      assert.deepEqual(
        [await readOne(two, 'a'), await readOne(two, 'b'), await readOne(two, 'held')],
        ['a', undefined, undefined],
      )
    },

    async 'a fill that was given up lets others begin at once'({ one, two }) {
      const token = await fill(one, 'a')
      await two.release(SPACE, ['a'], 'of another')
      assert.equal((await beginOne(two, 'a')).state, 'held')
      await one.release(SPACE, ['a'], token)
      const next = await fill(two, 'a')
      assert.equal(await storeOne(one, token, item('a', 'late')), 'void')
      assert.equal(await storeOne(two, next, item('a', '1')), 'stored')
    },

    async 'a fill whose lease has passed stores nothing, and its successor does'({ one, two }) {
      const token = await fill(one, 'a', { leaseMs: 40 })
      await until(
        'the lease passes',
        async () => (await beginOne(two, 'a', { token: 'T-2' })).state === 'filling',
      )
      assert.equal(await storeOne(one, token, item('a', 'late')), 'void')
      assert.equal(await readOne(one, 'a'), undefined)
      assert.equal(await storeOne(two, 'T-2', item('a', '2')), 'stored')
      assert.equal(await storeOne(two, 'T-2', item('a', 'twice')), 'void')
      assert.equal(await readOne(one, 'a'), '2')
    },

    async 'a lease that has passed is over, also when nobody wants it'({ one }) {
      const token = await fill(one, 'a', { leaseMs: 20 })
      await pause(40)
      assert.equal(await storeOne(one, token, item('a', 'late')), 'void')
      assert.equal(await readOne(one, 'a'), undefined)
    },

    async 'a lease is renewed as long as it holds, and never comes back'({ one, two }) {
      const token = await fill(one, 'a', { leaseMs: LIFE_MS / 2 })
      await fill(one, 'b')
      const lease = { token, leaseMs: LIFE_MS }
      assert.deepEqual(await one.renew(SPACE, ['a', 'b', 'none'], lease, now()), [true, false, false])
      const other = await beginOne(two, 'a')
      assert.ok(other.state === 'held' && other.leftMs > LIFE_MS / 2, other.state)
      await two.removeTag(SPACE, 'red', now())
      assert.deepEqual(await one.renew(SPACE, ['a'], lease, now()), [true])
      assert.equal(await storeOne(one, token, item('a', 'old', { tags: ['red'] })), 'void')
      const next = await fill(one, 'a')
      await two.remove(SPACE, ['a'], now())
      assert.deepEqual(await one.renew(SPACE, ['a'], { ...lease, token: next }, now()), [false])
      assert.equal(await storeOne(one, next, item('a', 'old')), 'void')
    },

    async 'what takes over ends the fill before it'({ one, two }) {
      await one.write(SPACE, [item('a', 'old')], now())
      const token = await fill(one, 'a', { freshAboveMs: LIFE_MS })
      const taken = await fill(two, 'a', { takeOver: true })
      assert.equal(await storeOne(one, token, item('a', 'from before')), 'void')
      assert.equal(await readOne(one, 'a'), 'old')
      assert.equal(await storeOne(two, taken, item('a', 'new')), 'stored')
      assert.equal(await readOne(one, 'a'), 'new')
    },

    ...Object.fromEntries(
      Object.entries(INVALIDATIONS).map(([name, invalidate]) => [
        `a fill that began before the ${name} stores nothing after it`,
        async ({ one, two }: { one: CacheStore; two: CacheStore }) => {
          const token = await fill(one, 'a')
          await invalidate(two)
          const after = await readOne(two, 'a')
          assert.equal(await storeOne(one, token, item('a', 'old', { tags: ['red'] })), 'void')
          assert.equal(await readOne(one, 'a'), after)
          if (after !== undefined) return
          // A fill that starts now is valid.
          const next = await fill(two, 'a')
          assert.equal(await storeOne(two, next, item('a', 'new', { tags: ['red'] })), 'stored')
          assert.equal(await readOne(one, 'a'), 'new')
        },
      ]),
    ),

    async 'removing one tag does not end fills that store with others'({ one, two }) {
      const token = await fill(one, 'a')
      await two.removeTag(SPACE, 'red', now())
      assert.equal(await storeOne(one, token, item('a', '1', { tags: ['round'] })), 'stored')
      assert.equal(await readOne(two, 'a'), '1')
    },

    async 'what loads store is not told, what changes the value is'({ one, two }) {
      const { notices, stop } = await followed(two)
      await storeOne(one, await fill(one, 'a'), item('a', '1'))
      await storeOne(one, await fill(one, 'b', { takeOver: true }), item('b', '1'), true)
      await until('the notice', () => notices.length > 0)
      assert.deepEqual(notices, [{ kind: 'changed', space: SPACE, keys: ['b'] }])
      assert.equal(await readOne(two, 'b'), '1')
      stop()
    },
  },
  {
    async 'of many who begin one fills'(pair) {
      const starts = await parallel(pair, 16, (store) => beginOne(store, 'a'))
      assert.equal(starts.filter(({ state }) => state === 'filling').length, 1)
      assert.equal(starts.filter(({ state }) => state === 'held').length, 15)
    },

    async 'of many who store under one lease one does'(pair) {
      const token = await fill(pair.one, 'a')
      const outcomes = await parallel(pair, 12, (store, i) => storeOne(store, token, item('a', String(i))))
      assert.equal(outcomes.filter((outcome) => outcome === 'stored').length, 1)
      assert.equal(await readOne(pair.two, 'a'), String(outcomes.indexOf('stored')))
    },

    async 'nothing that was begun before an invalidation is there after it'(pair) {
      for (const [name, invalidate] of Object.entries(INVALIDATIONS)) {
        await pair.one.clear(SPACE, now())
        const token = await fill(pair.one, 'a')
        const [outcome] = await Promise.all([
          storeOne(pair.one, token, item('a', 'old', { tags: ['red'] })),
          invalidate(pair.two),
        ])
        assert.notEqual(await readOne(pair.one, 'a'), 'old', `${name}, after ${outcome}`)
      }
    },

    async 'clearing ends all fills that run, whenever they store'(pair) {
      const keys = Array.from({ length: 40 }, (_, i) => `k${i}`)
      const tokens = await Promise.all(keys.map((key) => fill(pair.one, key)))
      const stores = keys.map((key, i) => storeOne(pair.one, tokens[i]!, item(key, 'old')))
      await Promise.all([pair.two.clear(SPACE, now()), ...stores])
      assert.deepEqual((await pair.two.read(SPACE, keys, now())).filter(Boolean), [])
    },
  },
)
