import assert from 'node:assert/strict'
import type { AllowlistEngine } from '../../guards/allowlist/port.js'
import { suite } from '../suite.js'
import { customer, customers, NOW, newFixa, parallel, SALT, until } from '../support.js'
import { degradedNow, isAway, known, MEMBERS, withPod } from './pod.js'

export const lastKnownSuite = suite<AllowlistEngine>(
  'allowlist checks without the store',
  {
    async 'lists in memory are answered as last known, marked with their age'({ one }) {
      await withPod(one, {}, async (pod) => {
        await known(one, pod, 'a')
        const before = Date.now()
        pod.cut(true)
        await degradedNow(pod, ['a'])
        const answer = await pod.check(customer(3), ['a'])
        assert.deepEqual([answer.overallAllowed, answer.degraded], [true, true])
        const [result] = answer.results
        assert.deepEqual([result!.reason, result!.type, result!.degraded], ['MEMBER', 'FIXA', true])
        assert.equal(answer.asOf, result!.asOf)
        assert.ok(Date.parse(answer.asOf!) <= before + 1000, 'not newer than the contact')
        assert.ok(Date.parse(answer.asOf!) > before - 60_000, 'nor much older')
        const strangers = await pod.reasons(['a'], customers(MEMBERS, 2 * MEMBERS))
        assert.ok(strangers.filter((reason) => reason === 'NOT_MEMBER').length >= MEMBERS - 1)
        pod.cut(false)
        await until('answers are whole again', async () => {
          const { degraded, asOf } = await pod.check(customer(3), ['a'])
          return degraded === undefined && asOf === undefined
        })
      })
    },

    async 'waves and the lists that they name are answered too'({ one }) {
      await withPod(one, {}, async (pod) => {
        await known(one, pod, 'base')
        await known(one, pod, 'out')
        await one.members.remove('out', customer(1), NOW)
        const config = { strategy: 'PERCENTAGE', percentage: 1, base: 'base', exclude: ['out'] } as const
        const rule = { ...config, exclude: [...config.exclude] }
        const wave = { id: 'wave', name: 'Wave', type: 'ONDA', precision: 'exact', salt: SALT } as const
        await one.lists.create({ ...wave, config: rule }, NOW)
        await until(
          'the removal is known',
          async () => (await pod.check(customer(1), ['wave'])).overallAllowed,
        )
        pod.cut(true)
        await degradedNow(pod, ['wave'])
        assert.deepEqual(await pod.reasons(['wave'], [customer(1), customer(2)]), ['IN_WAVE', 'EXCLUDED'])
      })
    },

    async 'what memory does not hold is blocked, or allowed by the setting'({ one }) {
      await newFixa(one, 'unknown')
      for (const onNotInMemory of ['block', 'allow'] as const) {
        await withPod(one, { onNotInMemory }, async (pod) => {
          pod.cut(true)
          const asked = pod.check(customer(1), ['unknown'])
          if (onNotInMemory === 'block') return assert.rejects(asked, isAway)
          const { results, degraded, asOf } = await asked
          assert.deepEqual([results[0]!.reason, degraded, asOf], ['UNAVAILABLE', true, undefined])
        })
      }
    },

    async 'memory that is too old counts as not held'({ one }) {
      await withPod(one, { maxStalenessMs: -1 }, async (pod) => {
        await known(one, pod, 'a')
        pod.cut(true)
        await until('it is refused', async () => {
          try {
            return (await pod.check(customer(1), ['a'])).degraded === true && assert.fail('answered')
          } catch (error) {
            return isAway(error)
          }
        })
      })
    },

    async 'strong checks, and tokens that memory cannot prove, are never answered by memory'({ one, two }) {
      await withPod(one, { onNotInMemory: 'allow' }, async (pod) => {
        await known(one, pod, 'a')
        pod.cut(true)
        const added = await two.members.add('a', customer(MEMBERS), {}, NOW)
        const { token } = added as { token: string }
        await degradedNow(pod, ['a'])
        await assert.rejects(pod.check(customer(1), ['a'], 'strong'), isAway)
        await assert.rejects(pod.check(customer(1), ['a'], { atLeast: token }), isAway)
      })
    },
  },
  {
    async 'an outage that comes and goes never denies a member, nor admits a stranger'(pair) {
      await withPod(pair.one, {}, async (pod) => {
        await known(pair.one, pod, 'a')
        let isAway = false
        const flipping = setInterval(() => pod.cut((isAway = !isAway)), 3)
        try {
          const wrong = await parallel(pair, 400, async (_, i) => {
            const { results } = await pod.check(customer(i % (2 * MEMBERS)), ['a'])
            return (results[0]!.reason === 'MEMBER') !== i % (2 * MEMBERS) < MEMBERS
          })
          // The filter takes one stranger in 65,536 for a member when the store cannot confirm it.
          assert.ok(wrong.filter(Boolean).length <= 5, `${wrong.filter(Boolean).length} wrong answers`)
        } finally {
          clearInterval(flipping)
        }
      })
    },
  },
)
