import assert from 'node:assert/strict'
import type { LimitStore } from '../../guards/rate-limit/port.js'
import { ALGORITHMS } from '../../guards/rate-limit/rule.js'
import { suite } from '../suite.js'
import { NOW, parallel } from '../support.js'
import { bucket, cost, HOUR_MS, lease, MINUTE_MS, of, remaining, ruleOf } from './support.js'

let adjustments = 0
const next = (): string => `adjustment-${++adjustments}`

export const limitLeaseSuite = suite<LimitStore>(
  'leases of limits',
  {
    async 'adjusting corrects the cost, also below nothing, and never gives more than was taken'({
      one,
      two,
    }) {
      const taken = [of('a', cost('tpm', bucket(1000), 500))]
      await one.take(taken, NOW)
      const use = lease(taken, { tpm: -120 })
      assert.equal(await two.adjust(use, next(), NOW), 'done')
      assert.deepEqual(await remaining(one, taken[0]!), [620])
      const more = { ...use, subjects: lease(taken, { tpm: 2000 }).subjects }
      assert.equal(await one.adjust(more, next(), NOW), 'done')
      const { allowed, views } = await one.take([of('a', cost('tpm', bucket(1000), 1))], NOW)
      assert.deepEqual([allowed, views[0]![0]!.remaining, views[0]![0]!.retryAfterMs], [false, 0, 82_860])
      const tooMuch = { ...use, subjects: lease(taken, { tpm: -9999 }).subjects }
      assert.equal(await two.adjust(tooMuch, next(), NOW), 'done')
      assert.deepEqual(await remaining(one, taken[0]!), [1000])
      assert.equal(await two.adjust(more, next(), NOW), 'done')
      assert.equal(await one.giveBack(use, NOW), 'done')
      assert.deepEqual(await remaining(two, taken[0]!), [1000])
    },

    async 'an adjustment counts once, whoever asks for it again'({ one, two }) {
      const taken = [of('a', cost('tpm', bucket(1000), 500)), of('p', cost('tpm', bucket(1000), 500))]
      await one.take(taken, NOW)
      const use = lease(taken, { tpm: 10 })
      const names = Array.from({ length: 70 }, next)
      for (const name of names) assert.equal(await one.adjust(use, name, NOW), 'done')
      assert.deepEqual(await remaining(one, taken[0]!), [0])
      await one.adjust({ ...use, subjects: lease(taken, { tpm: -700 }).subjects }, 'less', NOW)
      for (const name of [...names.slice(-60), 'less']) assert.equal(await two.adjust(use, name, NOW), 'done')
      assert.deepEqual(await remaining(two, taken[0]!), [500])
      assert.deepEqual(await remaining(two, taken[1]!), [500])
      assert.equal(await two.giveBack(use, NOW), 'done')
      assert.equal(await one.adjust(use, 'less', NOW), 'given-back')
      assert.deepEqual(await remaining(one, taken[0]!), [1000])
    },

    async 'giving back counts once, on every algorithm'({ one, two }) {
      for (const algorithm of ALGORITHMS) {
        const rule = ruleOf(algorithm, 10)
        const taken = [of(algorithm, cost('x', rule, 4))]
        await one.take(taken, NOW)
        await two.take(taken, NOW)
        const use = lease(taken)
        assert.equal(await one.giveBack(use, NOW), 'done', algorithm)
        assert.equal(await two.giveBack(use, NOW), 'given-back', algorithm)
        assert.equal(
          await one.adjust({ ...use, subjects: lease(taken, { x: 3 }).subjects }, next(), NOW),
          'given-back',
        )
        assert.deepEqual(await remaining(two, taken[0]!), [6], algorithm)
      }
    },

    async 'what was taken in a window that is over is not given back'({ one }) {
      for (const algorithm of ['fixed-window', 'sliding-window', 'concurrency'] as const) {
        const taken = [of(algorithm, cost('x', ruleOf(algorithm, 10), 4))]
        await one.take(taken, NOW)
        await one.take(taken, NOW + MINUTE_MS)
        assert.equal(await one.giveBack(lease(taken), NOW + MINUTE_MS), 'done')
        assert.deepEqual(await remaining(one, taken[0]!, NOW + MINUTE_MS), [6], algorithm)
      }
    },

    async 'a lease runs out by the time that decides, and then changes nothing'({ one, two }) {
      const taken = [of('a', cost('rpm', ruleOf('fixed-window', 10, 3600), 4))]
      await one.take(taken, NOW)
      const use = lease(taken, { rpm: 1 })
      assert.equal(await two.adjust(use, next(), use.expiresAt - 1), 'done')
      assert.equal(await one.adjust(use, next(), use.expiresAt), 'expired')
      assert.equal(await two.giveBack(use, use.expiresAt), 'expired')
      assert.deepEqual(await remaining(one, taken[0]!), [5])
    },

    async 'what was taken before the clock was set back is given back once, on every algorithm'({
      one,
      two,
    }) {
      for (const algorithm of ALGORITHMS) {
        const taken = [of(algorithm, cost('x', ruleOf(algorithm, 10), 4))]
        await one.take(taken, NOW + HOUR_MS)
        await two.take(taken, NOW + HOUR_MS)
        assert.equal((await one.take(taken, NOW)).allowed, false, algorithm)
        const use = lease(taken, {}, NOW + HOUR_MS)
        assert.equal(await two.giveBack(use, NOW), 'done', algorithm)
        assert.deepEqual(await remaining(one, taken[0]!), [6], algorithm)
        assert.equal(await one.giveBack(use, NOW), 'given-back', algorithm)
        assert.deepEqual(await remaining(two, taken[0]!), [6], algorithm)
      }
    },

    async 'a lease that is older than the rule gives back what it took, and nothing that was used since'({
      one,
    }) {
      for (const algorithm of ALGORITHMS) {
        for (const now of ALGORITHMS) {
          const entity = `${algorithm}-${now}`
          const old = [of(entity, cost('x', ruleOf(algorithm, 5, 30), 1))]
          const used = [of(entity, cost('x', ruleOf(now, 100), 90))]
          await one.take(old, NOW)
          // By then almost nothing counts any more in the 30 s window of the old rule; in that of the new rule everything
          // still does.
          const later = NOW + 31_000
          await one.take(used, NOW + 1000)
          const before = await remaining(one, used[0]!, later)
          assert.equal(await one.adjust(lease(old, { x: -1 }), next(), later), 'done')
          const after = await remaining(one, used[0]!, later)
          const freed = after[0]! - before[0]!
          assert.ok(freed === 0 || (freed === 1 && now === algorithm), `${entity}: ${freed} came back`)
        }
      }
    },

    async 'giving back reaches both subjects'({ one, two }) {
      const taken = [of('child', cost('rpm', bucket(10), 3)), of('parent', cost('rpm', bucket(10), 3))]
      await one.take(taken, NOW)
      assert.equal(await two.giveBack(lease(taken), NOW), 'done')
      assert.deepEqual(await remaining(one, taken[0]!), [10])
      assert.deepEqual(await remaining(one, taken[1]!), [10])
    },
  },
  {
    async 'of many who give one lease back exactly one does'(pair) {
      const taken = [of('a', cost('rpm', bucket(10), 4)), of('p', cost('rpm', bucket(10), 4))]
      await pair.one.take(taken, NOW)
      await pair.two.take(taken, NOW)
      const use = lease(taken)
      const outcomes = await parallel(pair, 12, (store) => store.giveBack(use, NOW))
      assert.equal(outcomes.filter((outcome) => outcome === 'done').length, 1)
      assert.deepEqual(await remaining(pair.one, taken[0]!), [6])
      assert.deepEqual(await remaining(pair.one, taken[1]!), [6])
    },

    async 'of one adjustment that many ask for one counts'(pair) {
      const taken = [of('a', cost('rpm', bucket(100), 50))]
      await pair.one.take(taken, NOW)
      const use = lease(taken, { rpm: 3 })
      const outcomes = await parallel(pair, 12, (store) => store.adjust(use, 'same', NOW))
      assert.deepEqual(new Set(outcomes), new Set(['done']))
      assert.deepEqual(await remaining(pair.one, taken[0]!), [47])
    },

    async 'adjustments at once all count'(pair) {
      const taken = [of('a', cost('rpm', bucket(100), 50))]
      await pair.one.take(taken, NOW)
      const use = lease(taken, { rpm: -1 })
      await parallel(pair, 20, (store) => store.adjust(use, next(), NOW))
      assert.deepEqual(await remaining(pair.one, taken[0]!), [70])
      assert.equal(await pair.two.giveBack(use, NOW), 'done')
      assert.deepEqual(await remaining(pair.one, taken[0]!), [100])
    },
  },
)
