import assert from 'node:assert/strict'
import type { SessionStore, StoredSessions } from '../guards/access/sessions/port.js'
import { suite } from './suite.js'
import { NOW, parallel } from './support.js'

const ANN = 'a'.repeat(43)
const BOB = 'b'.repeat(43)
const LIFE_MS = 3_600_000

const record = (version: string, endsAt = NOW + LIFE_MS): StoredSessions => ({
  version,
  text: `[{"of":"${version}","name":"Ana Ç."}]`,
  endsAt,
})

export const sessionSuite = suite<SessionStore>(
  'sessions',
  {
    async 'a record is read by both instances, replaced by whoever read it last, and removed'({ one, two }) {
      assert.equal(await one.read(ANN), undefined)
      assert.equal(await one.swap(ANN, undefined, record('v1'), NOW), true)
      assert.deepEqual(await two.read(ANN), record('v1'))
      assert.equal(await two.read(BOB), undefined)
      assert.equal(await two.swap(ANN, 'v1', record('v2'), NOW), true)
      assert.deepEqual(await one.read(ANN), record('v2'))
      assert.equal(await one.swap(ANN, 'v1', record('v3'), NOW), false)
      assert.equal(await one.swap(ANN, undefined, record('v3'), NOW), false)
      assert.equal(await one.swap(ANN, 'v1', undefined, NOW), false)
      assert.deepEqual(await two.read(ANN), record('v2'))
      assert.equal(await two.swap(ANN, 'v2', undefined, NOW), true)
      assert.equal(await one.read(ANN), undefined)
    },
    async 'what was removed is not replaced'({ one, two }) {
      await one.swap(ANN, undefined, record('v1'), NOW)
      await two.swap(ANN, 'v1', undefined, NOW)
      assert.equal(await one.swap(ANN, 'v1', record('v2'), NOW), false)
      assert.equal(await two.read(ANN), undefined)
    },
    async 'a swap or a removal that is repeated succeeds again'({ one, two }) {
      for (const store of [one, two]) {
        assert.equal(await store.swap(ANN, undefined, record('v1'), NOW), true)
      }
      for (const store of [one, two]) assert.equal(await store.swap(ANN, 'v1', record('v2'), NOW), true)
      for (const store of [one, two]) assert.equal(await store.swap(ANN, 'v2', undefined, NOW), true)
      assert.equal(await two.read(ANN), undefined)
    },
    async 'sweeping leaves records that have not ended'({ one, two }) {
      await one.swap(ANN, undefined, record('v1', NOW + 1), NOW)
      await one.swap(BOB, undefined, record('v2'), NOW)
      let steps = 0
      while ((await two.sweep(NOW + 1)).more) assert.ok(steps++ < 10)
      assert.deepEqual(await one.read(BOB), record('v2'))
    },
  },
  {
    async 'of many swaps of one version exactly one succeeds'(pair) {
      for (const from of [undefined, 'first']) {
        const swapped = await parallel(pair, 12, (store, i) =>
          store.swap(ANN, from, record(from === undefined ? 'first' : `v${i}`), NOW),
        )
        // The first ones all write the same, so each of them is the swap that was made.
        assert.equal(swapped.filter(Boolean).length, from === undefined ? 12 : 1)
      }
    },
    async 'of many first records exactly one is stored'(pair) {
      const swapped = await parallel(pair, 12, (store, i) => store.swap(ANN, undefined, record(`v${i}`), NOW))
      assert.equal(swapped.filter(Boolean).length, 1)
      assert.equal((await pair.two.read(ANN))?.version, `v${swapped.indexOf(true)}`)
    },
    async 'many who read again after a failure all make their change'(pair) {
      await parallel(pair, 8, async (store, i) => {
        for (;;) {
          const found = await store.read(ANN)
          const text = `${found?.text ?? ''}${i}`
          const next = { version: `v${i}`, text, endsAt: NOW + LIFE_MS }
          if (await store.swap(ANN, found?.version, next, NOW)) return
        }
      })
      assert.equal([...(await pair.one.read(ANN))!.text].sort().join(''), '01234567')
    },
  },
)
