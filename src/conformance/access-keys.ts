import assert from 'node:assert/strict'
import type { KeyRecord, KeyStore } from '../access/port.js'
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
      assert.deepEqual(await one.list(), [])
      assert.equal(await one.add(key('app')), true)
      assert.equal(await two.add(key('app')), false)
      assert.deepEqual(await two.list(), [key('app')])
      assert.equal(await two.remove('app'), true)
      assert.equal(await one.remove('app'), false)
      assert.deepEqual(await one.list(), [])
    },
  },
  {
    async 'of many keys of one name exactly one is stored'(pair) {
      const stored = await parallel(pair, 12, (store) => store.add(key('app')))
      assert.equal(stored.filter(Boolean).length, 1)
    },
    async 'of many removals exactly one removes'(pair) {
      await pair.one.add(key('app'))
      const removed = await parallel(pair, 12, (store) => store.remove('app'))
      assert.equal(removed.filter(Boolean).length, 1)
    },
  },
)
