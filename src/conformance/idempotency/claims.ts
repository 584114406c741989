import assert from 'node:assert/strict'
import type { IdempotencyStore } from '../../guards/idempotency/port.js'
import { suite } from '../suite.js'
import { listed, NOW, parallel } from '../support.js'
import {
  claimBy,
  claimed,
  found,
  HASH,
  JSON_ANSWER,
  KEY,
  LEASE_MS,
  LIFE_MS,
  OTHER_HASH,
  owner,
  statusOf,
} from './support.js'

export const idempotencyClaimSuite = suite<IdempotencyStore>(
  'idempotency claims',
  {
    async 'what is absent is claimed, and the other instance finds it'({ one, two }) {
      assert.equal(await two.read(KEY, NOW), undefined)
      const answer = await claimed(one, claimBy(1))
      assert.deepEqual(answer, {
        ...{ outcome: 'claimed', attempt: 1, expiresAt: NOW + LIFE_MS, leaseUntil: NOW + LEASE_MS },
      })
      const record = await found(two, claimBy(2), NOW + 5)
      assert.deepEqual(record, {
        ...{ key: KEY, status: 'IN_PROGRESS', requestHash: HASH, attempt: 1 },
        ...{ createdAt: NOW, updatedAt: NOW, expiresAt: NOW + LIFE_MS, leaseUntil: NOW + LEASE_MS },
        ...{
          response: undefined,
          omittedBytes: undefined,
          error: undefined,
          takesOver: true,
          isForeign: false,
        },
      })
      assert.deepEqual(await two.read(KEY, NOW + 5), record)
    },

    async 'an owner who asks again gets the same answer, and nothing changes'({ one, two }) {
      const first = await claimed(one, claimBy(1))
      assert.deepEqual(await claimed(two, claimBy(1), NOW + 1000), first)
      assert.equal((await one.read(KEY, NOW + 1000))!.updatedAt, NOW)
      await one.complete(KEY, owner(1), JSON_ANSWER, NOW + 2000)
      assert.equal((await found(two, claimBy(1), NOW + 3000)).status, 'COMPLETED')
    },

    async 'a lease counts until its last moment, and is taken over from then on'({ one, two }) {
      await claimed(one, claimBy(1))
      assert.equal((await found(two, claimBy(2), NOW + LEASE_MS - 1)).status, 'IN_PROGRESS')
      const again = await claimed(two, claimBy(2), NOW + LEASE_MS)
      assert.deepEqual(again, {
        ...{ outcome: 'claimed', attempt: 2, expiresAt: NOW + LIFE_MS, leaseUntil: NOW + 2 * LEASE_MS },
      })
      const record = await one.read(KEY, NOW + LEASE_MS)
      assert.deepEqual([record!.createdAt, record!.updatedAt], [NOW, NOW + LEASE_MS])
    },

    async 'a lease that has passed is not taken over by who does not want to'({ one, two }) {
      await claimed(one, claimBy(1))
      const cautious = claimBy(2, { takesOver: false })
      const record = await found(two, cautious, NOW + LEASE_MS)
      assert.deepEqual([record.status, record.leaseUntil, record.attempt], ['IN_PROGRESS', NOW + LEASE_MS, 1])
      assert.equal((await found(two, cautious, NOW + LIFE_MS - 1)).status, 'IN_PROGRESS')
      assert.equal(await one.complete(KEY, owner(1), JSON_ANSWER, NOW + LIFE_MS - 1), 'done')
    },

    async 'a claim that is not to be taken over stays so for whoever comes, also after it failed'({
      one,
      two,
    }) {
      await claimed(one, claimBy(1, { takesOver: false }))
      const record = await found(two, claimBy(2), NOW + LEASE_MS)
      assert.deepEqual([record.status, record.takesOver, record.requestHash], ['IN_PROGRESS', false, HASH])
      assert.equal(await one.fail(KEY, owner(1), undefined, NOW + LEASE_MS), 'done')
      assert.equal((await claimed(two, claimBy(2), NOW + LEASE_MS)).attempt, 2)
      assert.equal((await found(one, claimBy(3), NOW + 2 * LEASE_MS)).takesOver, false)
      assert.equal(await two.complete(KEY, owner(2), JSON_ANSWER, NOW + 2 * LEASE_MS), 'done')
      assert.equal((await found(one, claimBy(3), NOW + 2 * LEASE_MS)).status, 'COMPLETED')
    },

    async 'what failed is claimed again at once, by whoever wants it'({ one, two }) {
      await claimed(one, claimBy(1))
      assert.equal(await one.fail(KEY, owner(1), 'no route', NOW + 10), 'done')
      const again = await claimed(two, claimBy(2, { takesOver: false }), NOW + 20)
      assert.deepEqual([again.attempt, again.expiresAt], [2, NOW + LIFE_MS])
      const record = await one.read(KEY, NOW + 20)
      assert.deepEqual([record!.status, record!.error, record!.createdAt], ['IN_PROGRESS', undefined, NOW])
      assert.equal(await two.fail(KEY, owner(2), undefined, NOW + 30), 'done')
      assert.equal((await claimed(two, claimBy(2), NOW + 40)).attempt, 3)
    },

    async 'what is completed is found, whether or not its lease would have passed'({ one, two }) {
      await claimed(one, claimBy(1))
      await one.complete(KEY, owner(1), JSON_ANSWER, NOW + 10)
      const record = await found(two, claimBy(2), NOW + 2 * LEASE_MS)
      assert.deepEqual(record, {
        ...{ key: KEY, status: 'COMPLETED', requestHash: HASH, attempt: 1 },
        ...{ createdAt: NOW, updatedAt: NOW + 10, expiresAt: NOW + LIFE_MS, leaseUntil: undefined },
        ...{
          response: JSON_ANSWER.response,
          omittedBytes: undefined,
          error: undefined,
          takesOver: true,
          isForeign: false,
        },
      })
    },

    async 'the record of another request is never claimed'({ one, two }) {
      const other = claimBy(2, { requestHash: OTHER_HASH })
      await claimed(one, claimBy(1))
      assert.equal((await found(two, other)).requestHash, HASH)
      assert.equal((await found(two, other, NOW + LEASE_MS)).status, 'IN_PROGRESS')
      await one.fail(KEY, owner(1), undefined, NOW + LEASE_MS)
      assert.equal((await found(two, other, NOW + LEASE_MS)).status, 'FAILED')
      await claimed(one, claimBy(3), NOW + LEASE_MS)
      await one.complete(KEY, owner(3), JSON_ANSWER, NOW + LEASE_MS)
      assert.equal((await found(two, other, NOW + LEASE_MS)).status, 'COMPLETED')
      assert.equal((await claimed(two, other, NOW + LIFE_MS)).attempt, 1)
    },

    async 'a record is gone from its expiry on, in every state'({ one, two }) {
      const brief = { lifeMs: LEASE_MS, leaseMs: LEASE_MS }
      const until = NOW + LEASE_MS
      for (const [i, status] of ['IN_PROGRESS', 'COMPLETED', 'FAILED'].entries()) {
        const key = { operation: 'CONSUME', key: `k${i}` }
        await claimed(one, claimBy(1, { ...brief, key }))
        if (status === 'COMPLETED') await one.complete(key, owner(1), JSON_ANSWER, NOW)
        if (status === 'FAILED') await one.fail(key, owner(1), 'x', NOW)
        assert.equal(await statusOf(two, until - 1, key), status)
        assert.equal(await statusOf(two, until, key), undefined)
        const cautious = claimBy(2, { key, takesOver: false, requestHash: OTHER_HASH })
        const fresh = await claimed(two, cautious, until)
        assert.deepEqual(fresh, {
          ...{ outcome: 'claimed', attempt: 1, expiresAt: until + LIFE_MS, leaseUntil: until + LEASE_MS },
        })
        assert.equal((await one.read(key, until))!.createdAt, until)
        assert.equal((await one.read(key, until))!.error, undefined)
      }
    },

    async 'a record lives at least as long as its lease'({ one, two }) {
      const answer = await claimed(one, claimBy(1, { lifeMs: 1000 }))
      assert.equal(answer.expiresAt, NOW + LEASE_MS)
      await one.fail(KEY, owner(1), undefined, NOW + 10)
      const again = await claimed(two, claimBy(2, { lifeMs: 1000 }), NOW + 20)
      assert.deepEqual([again.attempt, again.expiresAt], [2, NOW + 20 + LEASE_MS])
    },

    async 'records are listed by the beginning of their key, without what they answer'({ one, two }) {
      const keys = ['a:1', 'a:2', 'a', 'A:1', 'b:1'].flatMap((key) =>
        ['PRODUCE', 'PRODUCE:2', 'CONSUME'].map((operation) => ({ operation, key })),
      )
      for (const [i, key] of keys.entries()) await claimed(one, claimBy(i, { key }))
      const [completed, failed, gone] = keys
      await one.complete(completed!, owner(0), JSON_ANSWER, NOW + 1)
      await one.fail(failed!, owner(1), 'because', NOW + 2)
      await one.remove(gone!)
      for (const prefix of ['a', 'a:', 'A', 'c', '']) {
        for (const operation of [undefined, 'PRODUCE', 'NONE']) {
          for (const limit of [2, 100]) {
            const query = { prefix, ...(operation !== undefined && { operation }) }
            const found = await listed((page) => two.list({ ...query, ...page }, NOW + 3), limit)
            const expected = keys.filter(
              (key) =>
                key !== gone &&
                key.key.startsWith(prefix) &&
                (operation === undefined || key.operation === operation),
            )
            const texts = (of: readonly { operation: string; key: string }[]) =>
              of.map(({ operation, key }) => `${operation} ${key}`).sort()
            assert.deepEqual(texts(found.map(({ key }) => key)), texts(expected), `${operation} ${prefix}`)
          }
        }
      }
      const all = await listed((page) => two.list({ prefix: '', ...page }, NOW + 3), 100)
      const of = (key: typeof completed) =>
        all.find((record) => record.key.key === key!.key && record.key.operation === key!.operation)!
      const { status, updatedAt, leaseUntil } = of(completed)
      assert.deepEqual([status, updatedAt, leaseUntil], ['COMPLETED', NOW + 1, undefined])
      assert.equal('response' in of(completed) || 'owner' in of(completed), false)
      assert.deepEqual([of(failed).status, of(failed).error], ['FAILED', 'because'])
      const running = of(keys[3])
      assert.deepEqual(
        [running.status, running.attempt, running.createdAt, running.leaseUntil, running.requestHash],
        ['IN_PROGRESS', 1, NOW, NOW + LEASE_MS, HASH],
      )
      assert.deepEqual(await listed((page) => two.list({ prefix: '', ...page }, NOW + LIFE_MS), 100), [])
    },

    async 'operations and keys do not mix, whatever they hold'({ one, two }) {
      const odd = ['a', 'a:b', 'b', 'A', 'a=b', '__proto__', 'constructor', '1', '01', '~', 'x'.repeat(256)]
      const keys = odd.flatMap((operation) => odd.map((key) => ({ operation, key })))
      await Promise.all(
        keys.map(async (key, i) => {
          assert.equal((await claimed(one, claimBy(i, { key }))).attempt, 1)
          assert.equal(await one.fail(key, owner(i), `${key.operation} ${key.key}`, NOW), 'done')
        }),
      )
      for (const key of keys) {
        const record = await two.read(key, NOW)
        assert.deepEqual([record!.key, record!.error], [key, `${key.operation} ${key.key}`])
      }
    },

    async 'a sweep drops what has expired and nothing else'({ one, two }) {
      const short = { operation: 'PRODUCE', key: 'short' }
      await claimed(one, claimBy(1))
      await claimed(one, claimBy(2, { key: short, lifeMs: LEASE_MS }))
      while ((await two.sweep(NOW + LEASE_MS)).more);
      assert.equal(await statusOf(one, NOW + LEASE_MS), 'IN_PROGRESS')
      assert.equal(await statusOf(one, NOW + LEASE_MS, short), undefined)
      assert.equal((await claimed(one, claimBy(3, { key: short }), NOW + LEASE_MS)).attempt, 1)
      while ((await one.sweep(NOW + LEASE_MS + 1)).more);
      assert.equal(await statusOf(two, NOW + LEASE_MS + 1, short), 'IN_PROGRESS')
    },

    async 'a sweep leaves what lives longer than it was first meant to'({ one, two }) {
      const [extended, renewed] = ['extended', 'renewed'].map((key) => ({ operation: 'PRODUCE', key }))
      for (const key of [extended!, renewed!]) await claimed(one, claimBy(1, { key, lifeMs: LEASE_MS }))
      await one.extend(extended!, owner(1), 3 * LEASE_MS, NOW)
      await claimed(two, claimBy(2, { key: renewed! }), NOW + LEASE_MS)
      while ((await two.sweep(NOW + 2 * LEASE_MS)).more);
      for (const key of [extended!, renewed!])
        assert.equal(await statusOf(one, NOW + 2 * LEASE_MS, key), 'IN_PROGRESS', key.key)
    },
  },
  {
    async 'of 200 claims at once exactly one succeeds'(pair) {
      const answers = await parallel(pair, 200, (store, i) => store.claim(claimBy(i), NOW))
      const winners = answers.flatMap(({ outcome }, i) => (outcome === 'claimed' ? [i] : []))
      assert.equal(winners.length, 1)
      assert.equal(await pair.two.complete(KEY, owner(winners[0]!), JSON_ANSWER, NOW), 'done')
    },

    async 'of many who claim what failed, passed its lease or expired exactly one succeeds'(pair) {
      const once = async (now: number, attempt: number, base: number): Promise<number> => {
        const answers = await parallel(pair, 40, (store, i) => store.claim(claimBy(base + i), now))
        const winners = answers.flatMap((answer, i) => (answer.outcome === 'claimed' ? [base + i] : []))
        assert.equal(winners.length, 1)
        assert.equal((await pair.one.read(KEY, now))!.attempt, attempt)
        return winners[0]!
      }
      await pair.one.fail(KEY, owner(await once(NOW, 1, 0)), undefined, NOW)
      await once(NOW, 2, 100)
      const last = await once(NOW + LEASE_MS, 3, 200)
      await pair.two.complete(KEY, owner(last), JSON_ANSWER, NOW + LEASE_MS)
      await once(NOW + LIFE_MS, 1, 300)
    },

    async 'of two requests under one key only one is ever claimed'(pair) {
      const answers = await parallel(pair, 40, (store, i) => {
        return store.claim(claimBy(i, { requestHash: i % 4 < 2 ? HASH : OTHER_HASH }), NOW)
      })
      assert.equal(answers.filter(({ outcome }) => outcome === 'claimed').length, 1)
      const hashes = answers.map((answer) => answer.outcome === 'found' && answer.record.requestHash)
      assert.equal(new Set(hashes.filter(Boolean)).size, 1)
    },

    async 'one owner who asks many times has claimed once'(pair) {
      const answers = await parallel(pair, 20, (store) => store.claim(claimBy(1), NOW))
      assert.equal(new Set(answers.map((answer) => JSON.stringify(answer))).size, 1)
      assert.equal(answers[0]!.outcome, 'claimed')
    },
  },
)
