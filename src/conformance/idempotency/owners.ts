import assert from 'node:assert/strict'
import type { IdempotencyStore } from '../../guards/idempotency/port.js'
import { suite } from '../suite.js'
import { NOW, parallel } from '../support.js'
import { claimBy, claimed, found, JSON_ANSWER, KEY, LEASE_MS, LIFE_MS, owner, statusOf } from './support.js'

const OTHER_ANSWER = { response: { encoding: 'json', text: '"other"' } } as const

/** Every verb that needs the owner, called with a given owner. */
const verbs = {
  complete: (store: IdempotencyStore, by: string, now: number) => store.complete(KEY, by, OTHER_ANSWER, now),
  fail: (store: IdempotencyStore, by: string, now: number) => store.fail(KEY, by, 'other', now),
  extend: (store: IdempotencyStore, by: string, now: number) => store.extend(KEY, by, LEASE_MS, now),
  release: (store: IdempotencyStore, by: string, now: number) => store.release(KEY, by, now),
}

async function allLost(store: IdempotencyStore, by: string, now: number): Promise<void> {
  const before = await store.read(KEY, now)
  for (const [name, verb] of Object.entries(verbs)) assert.equal(await verb(store, by, now), 'lost', name)
  assert.deepEqual(await store.read(KEY, now), before)
}

export const idempotencyOwnerSuite = suite<IdempotencyStore>(
  'idempotency owners',
  {
    async 'others than the owner change nothing'({ one, two }) {
      await allLost(one, owner(1), NOW)
      await claimed(one, claimBy(1))
      await allLost(two, owner(2), NOW)
      await allLost(two, '', NOW)
    },

    async 'a late owner is refused once somebody else has claimed'({ one, two }) {
      await claimed(one, claimBy(1))
      await claimed(two, claimBy(2), NOW + LEASE_MS)
      await allLost(one, owner(1), NOW + LEASE_MS)
      assert.equal(await two.complete(KEY, owner(2), JSON_ANSWER, NOW + LEASE_MS), 'done')
      await allLost(one, owner(1), NOW + LEASE_MS)
    },

    async 'an owner whose lease has passed may still end what nobody else has claimed'({ one, two }) {
      await claimed(one, claimBy(1))
      assert.equal(await one.extend(KEY, owner(1), LEASE_MS, NOW + 2 * LEASE_MS), 'done')
      assert.equal((await found(two, claimBy(2), NOW + 3 * LEASE_MS - 1)).status, 'IN_PROGRESS')
      assert.equal(await one.complete(KEY, owner(1), JSON_ANSWER, NOW + 4 * LEASE_MS), 'done')
      assert.equal((await found(two, claimBy(2), NOW + 4 * LEASE_MS)).status, 'COMPLETED')
    },

    async 'what expired during the work is lost, even to its owner'({ one, two }) {
      await claimed(one, claimBy(1, { lifeMs: LEASE_MS }))
      await allLost(one, owner(1), NOW + LEASE_MS)
      await claimed(two, claimBy(2), NOW + LEASE_MS)
      await allLost(one, owner(1), NOW + LEASE_MS)
      assert.equal(await statusOf(two, NOW + LEASE_MS), 'IN_PROGRESS')
    },

    async 'extending moves the lease, and the end of the record behind it'({ one, two }) {
      await claimed(one, claimBy(1, { lifeMs: LEASE_MS }))
      assert.equal(await one.extend(KEY, owner(1), 2 * LEASE_MS, NOW + 1000), 'done')
      const until = NOW + 1000 + 2 * LEASE_MS
      const record = await two.read(KEY, NOW + LEASE_MS)
      assert.deepEqual([record!.leaseUntil, record!.expiresAt], [until, until])
      assert.deepEqual([record!.attempt, record!.updatedAt], [1, NOW + 1000])
      assert.equal(await one.extend(KEY, owner(1), 500, NOW + 2000), 'done')
      const shorter = await two.read(KEY, NOW + 2000)
      assert.deepEqual([shorter!.leaseUntil, shorter!.expiresAt], [NOW + 2500, until])
      assert.equal((await claimed(two, claimBy(2), NOW + 2500)).attempt, 2)
    },

    async 'completed twice is completed once'({ one, two }) {
      await claimed(one, claimBy(1))
      assert.equal(await one.complete(KEY, owner(1), JSON_ANSWER, NOW + 10), 'done')
      assert.equal(await two.complete(KEY, owner(1), JSON_ANSWER, NOW + 20), 'done')
      for (const other of [OTHER_ANSWER, {}, { omittedBytes: 5 }])
        assert.equal(await two.complete(KEY, owner(1), other, NOW + 20), 'differs')
      const record = await one.read(KEY, NOW + 20)
      assert.deepEqual([record!.response, record!.updatedAt], [JSON_ANSWER.response, NOW + 10])
    },

    async 'what is completed stays completed'({ one, two }) {
      await claimed(one, claimBy(1))
      await one.complete(KEY, owner(1), JSON_ANSWER, NOW)
      for (const name of ['fail', 'extend', 'release'] as const)
        assert.equal(await verbs[name](two, owner(1), NOW), 'lost', name)
      const record = await two.read(KEY, NOW)
      assert.deepEqual([record!.status, record!.response], ['COMPLETED', JSON_ANSWER.response])
    },

    async 'failing keeps why, and the owner has it no longer'({ one, two }) {
      await claimed(one, claimBy(1))
      assert.equal(await one.fail(KEY, owner(1), 'queue manager is down: é', NOW + 10), 'done')
      assert.equal(await two.fail(KEY, owner(1), 'again', NOW + 20), 'done')
      const record = await two.read(KEY, NOW + 20)
      assert.deepEqual([record!.status, record!.error], ['FAILED', 'queue manager is down: é'])
      assert.deepEqual([record!.leaseUntil, record!.updatedAt], [undefined, NOW + 10])
      assert.equal(await one.complete(KEY, owner(1), JSON_ANSWER, NOW + 30), 'lost')
      assert.equal(await one.extend(KEY, owner(1), LEASE_MS, NOW + 30), 'lost')
      assert.equal(await statusOf(two, NOW + 30), 'FAILED')
    },

    async 'what is released was never claimed'({ one, two }) {
      await claimed(one, claimBy(1))
      assert.equal(await two.release(KEY, owner(1), NOW + 10), 'done')
      assert.equal(await one.read(KEY, NOW + 10), undefined)
      const again = await claimed(two, claimBy(2, { requestHash: 'c3'.repeat(32) }), NOW + 20)
      assert.deepEqual([again.attempt, again.expiresAt], [1, NOW + 20 + LIFE_MS])
    },

    async 'what was tried before stays counted when it is released'({ one, two }) {
      await claimed(one, claimBy(1))
      await one.fail(KEY, owner(1), 'first', NOW)
      await claimed(one, claimBy(2), NOW)
      assert.equal(await two.release(KEY, owner(2), NOW + 10), 'done')
      const record = await one.read(KEY, NOW + 10)
      assert.deepEqual([record!.status, record!.attempt, record!.leaseUntil], ['FAILED', 2, undefined])
      assert.equal((await claimed(two, claimBy(3, { takesOver: false }), NOW + 20)).attempt, 3)
    },

    async 'what is removed is gone, to its owner too'({ one, two }) {
      assert.equal(await one.remove(KEY), false)
      await claimed(one, claimBy(1))
      assert.equal(await two.remove(KEY), true)
      assert.equal(await two.remove(KEY), false)
      await allLost(one, owner(1), NOW)
      assert.equal((await claimed(two, claimBy(2))).attempt, 1)
      await two.complete(KEY, owner(2), JSON_ANSWER, NOW)
      assert.equal(await one.remove(KEY), true)
      assert.equal(await two.read(KEY, NOW), undefined)
    },
  },
  {
    async 'of a late owner and the one who took over only the latter completes'(pair) {
      await claimed(pair.one, claimBy(1))
      await claimed(pair.two, claimBy(2), NOW + LEASE_MS)
      const outcomes = await parallel(pair, 20, (store, i) => {
        const mine = { response: { encoding: 'json', text: String(i % 4) } } as const
        return store.complete(KEY, owner(i % 4 < 2 ? 1 : 2), mine, NOW + LEASE_MS)
      })
      const record = await pair.one.read(KEY, NOW + LEASE_MS)
      const { text } = record!.response as { text: string }
      assert.match(text, /^[23]$/)
      outcomes.forEach((outcome, i) => {
        const byOwner = String(i % 4) === text ? 'done' : 'differs'
        assert.equal(outcome, i % 4 < 2 ? 'lost' : byOwner)
      })
    },

    async 'an owner who completes and fails at once does one of them'(pair) {
      for (let round = 0; round < 5; round++) {
        const key = { operation: 'CONSUME', key: `round-${round}` }
        await claimed(pair.one, claimBy(1, { key }))
        const outcomes = await parallel(pair, 8, (store, i) =>
          i % 4 < 2
            ? store.complete(key, owner(1), JSON_ANSWER, NOW)
            : store.fail(key, owner(1), undefined, NOW),
        )
        const isCompleted = (await statusOf(pair.two, NOW, key)) === 'COMPLETED'
        outcomes.forEach((outcome, i) => {
          assert.equal(outcome, i % 4 < 2 === isCompleted ? 'done' : 'lost')
        })
      }
    },

    async 'of an owner who completes late and one who takes over exactly one has it'(pair) {
      for (let round = 0; round < 10; round++) {
        const key = { operation: 'CONSUME', key: `round-${round}` }
        await claimed(pair.one, claimBy(1, { key }))
        const now = NOW + LEASE_MS
        const [ended, taken] = await Promise.all([
          pair.one.complete(key, owner(1), JSON_ANSWER, now),
          pair.two.claim(claimBy(2, { key }), now),
        ])
        assert.equal(taken.outcome, ended === 'done' ? 'found' : 'claimed')
      }
    },

    async 'an owner who extends while others wait to take over keeps it or loses it'(pair) {
      for (let round = 0; round < 10; round++) {
        const key = { operation: 'CONSUME', key: `round-${round}` }
        await claimed(pair.one, claimBy(1, { key }))
        const now = NOW + LEASE_MS
        const [extended, taken] = await Promise.all([
          pair.two.extend(key, owner(1), LEASE_MS, now),
          pair.one.claim(claimBy(2, { key }), now),
        ])
        assert.equal(taken.outcome, extended === 'done' ? 'found' : 'claimed')
      }
    },

    async 'of many removals exactly one removes'(pair) {
      await claimed(pair.one, claimBy(1))
      const removed = await parallel(pair, 12, (store) => store.remove(KEY))
      assert.equal(removed.filter(Boolean).length, 1)
    },

    async 'what is released at once is claimed by one of those who wait'(pair) {
      await claimed(pair.one, claimBy(0))
      await pair.one.release(KEY, owner(0), NOW)
      const answers = await parallel(pair, 20, (store, i) => store.claim(claimBy(i + 1), NOW))
      assert.equal(answers.filter(({ outcome }) => outcome === 'claimed').length, 1)
    },
  },
)
