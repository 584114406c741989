import assert from 'node:assert/strict'
import type { KeyRecord, KeyStore } from '../guards/access/port.js'
import { suite } from './suite.js'
import { NOW, parallel } from './support.js'

const key = (name: string): KeyRecord => ({
  name,
  scopes: ['check', 'read'],
  hash: 'ab'.repeat(32),
  createdAt: NOW,
})

export const keySuite = suite<KeyStore>(
  'API keys',
  {
    async 'a key is stored, listed by both instances, and removed'({ one, two }) {
      assert.deepEqual((await one.list()).records, [])
      assert.equal(await one.add(key('app')), true)
      assert.equal(await two.add(key('app')), false)
      assert.deepEqual((await two.list()).records, [key('app')])
      assert.equal(await two.remove('app'), true)
      assert.equal(await one.remove('app'), false)
      assert.deepEqual((await one.list()).records, [])
    },
    async 'its fields change one by one, and only of the key that was meant'({ one, two }) {
      const { hash } = key('app')
      const made = { ...key('app'), createdBy: 'ana' }
      assert.equal(await one.change('app', hash, { usedAt: NOW }), false, 'there is none')
      await one.add(made)
      assert.equal(await two.change('app', 'cd'.repeat(32), { scopes: ['admin'] }), false)
      assert.deepEqual((await one.list()).records, [made])
      assert.equal(await two.change('app', hash, { usedAt: NOW + 1 }), true)
      assert.equal(await one.change('app', hash, { scopes: ['admin'], expiresAt: NOW + 2 }), true)
      const changed = { ...made, scopes: ['admin'], usedAt: NOW + 1, expiresAt: NOW + 2 }
      assert.deepEqual((await two.list()).records, [changed])
      await one.change('app', hash, { expiresAt: null })
      const { expiresAt: _, ...rest } = changed
      assert.deepEqual(await two.list(), { records: [rest], lock: 'locked' })
    },
    async 'the first key locks the store, until the lock is lifted'({ one, two }) {
      assert.deepEqual(await one.list(), { records: [], lock: 'never' })
      assert.equal(await one.remove('app'), false)
      assert.equal((await two.list()).lock, 'never', 'a key that never was leaves no mark')
      await one.add(key('app'))
      assert.equal((await two.list()).lock, 'locked')
      assert.equal(await two.unlock(), false, 'not while there are keys')
      assert.deepEqual(await one.list(), { records: [key('app')], lock: 'locked' })
      await two.remove('app')
      assert.deepEqual(await one.list(), { records: [], lock: 'locked' })
      assert.equal(await two.unlock(), true)
      assert.deepEqual(await one.list(), { records: [], lock: 'lifted' })
      await one.add(key('next'))
      await one.remove('next')
      assert.equal((await two.list()).lock, 'locked', 'lifted once is not lifted for ever')
    },
  },
  {
    async 'of many keys of one name exactly one is stored'(pair) {
      const stored = await parallel(pair, 12, (store) => store.add(key('app')))
      assert.equal(stored.filter(Boolean).length, 1)
    },
    async 'of many keys all are stored'(pair) {
      const names = Array.from({ length: 8 }, (_, i) => `app-${i}`)
      await parallel(pair, names.length, (store, i) => store.add(key(names[i]!)))
      const { records, lock } = await pair.two.list()
      assert.deepEqual([records.map(({ name }) => name), lock], [names, 'locked'])
    },
    async 'of many changes of several fields none is lost'(pair) {
      const { hash } = key('app')
      await pair.one.add(key('app'))
      const changes = [{ scopes: ['limits' as const] }, { expiresAt: NOW + 1 }, { usedAt: NOW + 2 }]
      const made = await parallel(pair, 12, (store, i) => store.change('app', hash, changes[i % 3]!))
      assert.ok(made.every(Boolean))
      const expected = { ...key('app'), ...changes[0], ...changes[1], ...changes[2] }
      assert.deepEqual((await pair.two.list()).records, [expected])
    },
    async 'of many removals exactly one removes'(pair) {
      await pair.one.add(key('app'))
      const removed = await parallel(pair, 12, (store) => store.remove('app'))
      assert.equal(removed.filter(Boolean).length, 1)
    },
  },
)
