import assert from 'node:assert/strict'
import { FENCE_KEPT_MS } from '../../guards/lock/port.js'
import { suite } from '../suite.js'
import { listed, parallel } from '../support.js'
import { acquire, fenceFor, heldFor, type LockScene, TTL_MS } from './support.js'

const ODD_NAMES = ['a', 'A', 'a:b', 'a:b:fence', 'a=b', '__proto__', 'constructor', '~', '1', 'x'.repeat(256)]

export const lockSuite = suite<LockScene>(
  'locks',
  {
    async 'a lock is held by one owner, and seen by all'({ one, two }) {
      const fence = await fenceFor(one, 'claim:1', 'ann')
      const retryAfterMs = await heldFor(two, 'claim:1', 'bob')
      assert.ok(retryAfterMs > 0 && retryAfterMs <= TTL_MS, `${retryAfterMs}`)
      const state = await two.locks.read('claim:1', two.now())
      assert.deepEqual([state?.isHeld, state?.fence], [true, fence])
      const endsInMs = state!.expiresAt! - two.now()
      assert.ok(endsInMs > TTL_MS - 5000 && endsInMs <= TTL_MS + 5000, `${endsInMs}`)
      assert.equal(await two.locks.read('claim:2', two.now()), undefined)
    },

    async 'asked again, the owner gets the same fence and its whole time'({ one, two }) {
      const fence = await fenceFor(one, 'a', 'ann')
      await one.elapse(20_000)
      assert.equal(await fenceFor(two, 'a', 'ann'), fence)
      await one.elapse(20_000)
      await heldFor(one, 'a', 'bob')
    },

    async 'locks that are held are listed by the beginning of their name'({ one, two }) {
      const names = ['claim:1', 'claim:2', 'claim:3', 'claim', 'Claim:1', 'other', 'a:b']
      const fences = new Map<string, number>()
      for (const name of names) fences.set(name, await fenceFor(one, name, 'ann'))
      await fenceFor(one, 'claim:freed', 'ann')
      await one.locks.release('claim:freed', 'ann', one.now())
      for (const prefix of ['claim:', 'claim', 'C', 'none', '']) {
        for (const limit of [1, 100]) {
          const found = await listed((page) => two.locks.list({ prefix, ...page }, two.now()), limit)
          assert.deepEqual(
            found.map(({ name, fence }) => [name, fence]).sort(),
            [...fences].filter(([name]) => name.startsWith(prefix)).sort(),
            `${prefix}, ${limit} at once`,
          )
          for (const { expiresAt } of found) assert.ok(Math.abs(expiresAt! - two.now() - TTL_MS) < 20_000)
        }
      }
    },

    async 'a release frees it at once, once, and only for its owner'({ one, two }) {
      const first = await fenceFor(one, 'a', 'ann')
      assert.equal(await two.locks.release('a', 'bob', two.now()), 'lost')
      await heldFor(two, 'a', 'bob')
      assert.equal(await two.locks.release('a', 'ann', two.now()), 'done')
      assert.equal(await one.locks.release('a', 'ann', one.now()), 'lost')
      const state = await one.locks.read('a', one.now())
      assert.deepEqual([state?.isHeld, state?.fence], [false, first])
      assert.ok((await fenceFor(two, 'a', 'bob')) > first)
      assert.equal(await one.locks.release('a', 'ann', one.now()), 'lost')
      await heldFor(one, 'a', 'ann')
    },

    async 'what has ended can be taken; whoever had it has lost it'({ one, two }) {
      const first = await fenceFor(one, 'a', 'ann')
      await heldFor(two, 'a', 'bob')
      await one.elapse(TTL_MS - 5000)
      const leftMs = await heldFor(two, 'a', 'bob')
      assert.ok(leftMs <= 6000, `${leftMs}`)
      await one.elapse(6000)
      const second = await fenceFor(two, 'a', 'bob')
      assert.ok(second > first, `${second} follows ${first}`)
      assert.equal(await one.locks.extend('a', 'ann', TTL_MS, one.now()), 'lost')
      assert.equal(await one.locks.release('a', 'ann', one.now()), 'lost')
      await heldFor(one, 'a', 'ann')
    },

    async 'an extension counts from now on, and only for the owner'({ one, two }) {
      await fenceFor(one, 'a', 'ann')
      await heldFor(two, 'a', 'bob')
      await one.elapse(20_000)
      assert.equal(await two.locks.extend('a', 'bob', TTL_MS, two.now()), 'lost')
      assert.equal(await two.locks.extend('a', 'ann', TTL_MS, two.now()), 'done')
      await heldFor(two, 'a', 'bob')
      await one.elapse(20_000)
      await heldFor(two, 'a', 'bob')
      await one.elapse(11_000)
      await fenceFor(two, 'a', 'bob')
      assert.equal(await one.locks.extend('nobody', 'ann', TTL_MS, one.now()), 'lost')
    },

    async 'fences grow with every holder, whatever ended the one before'({ one, two }) {
      const fences: number[] = []
      for (let i = 0; i < 10; i++) {
        const [scene, other] = i % 2 === 0 ? [one, two] : [two, one]
        fences.push(await fenceFor(scene, 'a', `owner-${i}`))
        if (i % 3 === 0) await other.locks.release('a', `owner-${i}`, other.now())
        else if (i % 3 === 1) await scene.locks.remove('a', scene.now())
        else {
          await heldFor(other, 'a', 'observer')
          await one.elapse(TTL_MS + 1000)
          fences.push(await fenceFor(other, 'a', `after-${i}`))
          await one.locks.release('a', `after-${i}`, one.now())
        }
      }
      assert.deepEqual(
        fences,
        [...fences].sort((a, b) => a - b),
      )
      assert.equal(new Set(fences).size, fences.length)
    },

    async 'fences grow also when the store has forgotten the last one'({ one, two }) {
      const first = await fenceFor(one, 'a', 'ann')
      await one.lose('a')
      await one.elapse(10)
      const second = await fenceFor(two, 'a', 'bob')
      assert.ok(second > first, `${second} follows ${first}`)
    },

    async 'fences grow when a clock is set back'({ one, two }) {
      const first = await fenceFor(one, 'a', 'ann')
      await one.locks.release('a', 'ann', one.now())
      const attempt = { name: 'a', owner: 'bob', ttlMs: TTL_MS, waits: false }
      const answer = await two.locks.acquire(attempt, two.now() - 3_600_000)
      assert.ok(answer.outcome === 'acquired' && answer.fence! > first)
    },

    async 'an operator takes it away from whoever has it'({ one, two }) {
      const first = await fenceFor(one, 'a', 'ann')
      assert.equal(await two.locks.remove('a', two.now()), true)
      assert.equal(await two.locks.remove('a', two.now()), false)
      assert.equal(await two.locks.remove('b', two.now()), false)
      assert.equal(await one.locks.extend('a', 'ann', TTL_MS, one.now()), 'lost')
      assert.ok((await fenceFor(two, 'a', 'bob')) > first)
    },

    async 'names do not mix, whatever they hold'({ one, two }) {
      for (const name of ODD_NAMES) await fenceFor(one, name, `owner of ${name}`)
      for (const name of ODD_NAMES) await heldFor(two, name, 'bob')
      for (const name of ODD_NAMES) {
        assert.equal(await two.locks.release(name, `owner of ${name}`, two.now()), 'done', name)
      }
    },

    async 'a sweep forgets what nobody has used for a day, and nothing else'({ one, two }) {
      await fenceFor(one, 'old', 'ann')
      await fenceFor(one, 'kept', 'ann', FENCE_KEPT_MS)
      await one.locks.release('old', 'ann', one.now())
      await one.elapse(TTL_MS + 1000)
      while ((await two.locks.sweep(two.now())).more);
      assert.equal((await two.locks.read('kept', two.now()))?.isHeld, true)
      await one.elapse(FENCE_KEPT_MS + 60_000)
      while ((await two.locks.sweep(two.now())).more);
      assert.notEqual((await two.locks.read('old', two.now()))?.isHeld, true)
      await fenceFor(two, 'old', 'bob')
    },
  },
  {
    async 'of many owners exactly one gets it, again and again'(pair) {
      let last = 0
      for (let round = 0; round < 5; round++) {
        const answers = await parallel(pair, 24, (scene, i) => acquire(scene, 'a', `${round}-${i}`))
        const winners = answers.flatMap((answer, i) => (answer.outcome === 'acquired' ? [i] : []))
        assert.equal(winners.length, 1)
        const { fence } = answers[winners[0]!] as { fence: number }
        assert.ok(fence > last, `${fence} follows ${last}`)
        last = fence
        assert.equal(await pair.two.locks.release('a', `${round}-${winners[0]}`, pair.two.now()), 'done')
      }
    },

    async 'of many who see it end exactly one takes it over'(pair) {
      await fenceFor(pair.one, 'a', 'ann')
      await parallel(pair, 2, (scene, i) => heldFor(scene, 'a', `owner-${i}`))
      await pair.one.elapse(TTL_MS + 1000)
      const answers = await parallel(pair, 24, (scene, i) => acquire(scene, 'a', `owner-${i}`))
      assert.equal(answers.filter(({ outcome }) => outcome === 'acquired').length, 1)
    },

    async 'of many releases exactly one is the one'(pair) {
      await fenceFor(pair.one, 'a', 'ann')
      const ended = await parallel(pair, 12, ({ locks, now }) => locks.release('a', 'ann', now()))
      assert.equal(ended.filter((outcome) => outcome === 'done').length, 1)
    },

    async 'of many removals exactly one finds something'(pair) {
      await fenceFor(pair.one, 'a', 'ann')
      const found = await parallel(pair, 12, ({ locks, now }) => locks.remove('a', now()))
      assert.equal(found.filter(Boolean).length, 1)
    },

    async 'an extension and a take-over: one of them'(pair) {
      for (let round = 0; round < 5; round++) {
        const name = `name-${round}`
        await fenceFor(pair.one, name, 'ann')
        await heldFor(pair.two, name, 'bob')
        await pair.one.elapse(TTL_MS + 1000)
        const [extended, taken] = await Promise.all([
          pair.one.locks.extend(name, 'ann', TTL_MS, pair.one.now()),
          acquire(pair.two, name, 'bob'),
        ])
        const state = [extended, taken.outcome].join()
        assert.ok(state === 'lost,acquired' || state === 'done,held', state)
      }
    },
  },
)
