import assert from 'node:assert/strict'
import type { LimitStore } from '../../guards/rate-limit/port.js'
import { ALGORITHMS, type CompleteLimit, compileRule } from '../../guards/rate-limit/rule.js'
import { type Pair, suite } from '../suite.js'
import { listed, NOW, parallel, until } from '../support.js'
import { LIMIT_VECTORS, type LimitStep, type LimitVector, VECTOR_START } from '../vectors/rate-limit.js'
import { bucket, cost, HOUR_MS, lease, MINUTE_MS, of, remaining, ruleOf, view } from './support.js'

async function runVector(
  store: LimitStore,
  { name, limit, steps }: LimitVector,
  entity: string,
): Promise<void> {
  let rule = compileRule('limit', limit)
  for (const step of steps) {
    if (!Array.isArray(step)) {
      rule = compileRule('limit', step as CompleteLimit)
      continue
    }
    const [atMs, amount, ...expected] = step as LimitStep
    const { allowed, views } = await store.take([of(entity, cost('x', rule, amount))], VECTOR_START + atMs)
    const { remaining, resetMs, retryAfterMs } = views[0]![0]!
    const told = [allowed, remaining, resetMs, retryAfterMs]
    assert.deepEqual(told, expected, `${name}: at ${atMs}, cost ${amount}`)
  }
}

/** One case for each algorithm; all its vectors run concurrently on both instances. */
const vectorCases = Object.fromEntries(
  ALGORITHMS.map((algorithm) => [
    `the vectors of ${algorithm}`,
    async ({ one, two }: Pair<LimitStore>) => {
      const vectors = LIMIT_VECTORS.filter(({ limit }) => limit.algorithm === algorithm)
      await Promise.all(vectors.map((vector, i) => runVector(i % 2 === 0 ? one : two, vector, `entity-${i}`)))
    },
  ]),
)

export const limitSuite = suite<LimitStore>(
  'limit counters',
  {
    ...vectorCases,

    async 'subjects with a use are listed by the beginning of the entity'({ one, two }) {
      const subjects = ['org:1', 'org:2', 'org', 'Org', 'ann'].flatMap((entity) =>
        ['gpt-4', 'gpt-4o'].map((resource) => ({ entity, resource })),
      )
      for (const subject of [...subjects, { entity: 'org:gone', resource: 'gpt-4' }])
        await one.take([{ ...subject, limits: [cost('rpm', bucket(10), 5)] }], NOW)
      await one.reset({ entity: 'org:gone', resource: 'gpt-4' })
      for (const prefix of ['org', 'org:', 'O', 'none', '']) {
        for (const resource of [undefined, 'gpt-4', 'other']) {
          for (const limit of [1, 100]) {
            const query = { prefix, ...(resource !== undefined && { resource }) }
            const found = await listed((page) => two.list({ ...query, ...page }), limit)
            const expected = subjects.filter(
              (subject) =>
                subject.entity.startsWith(prefix) &&
                (resource === undefined || subject.resource === resource),
            )
            const texts = (of: readonly { entity: string; resource: string }[]) =>
              of.map(({ entity, resource }) => `${entity} ${resource}`).sort()
            assert.deepEqual(texts(found), texts(expected), `${prefix} ${resource}`)
          }
        }
      }
    },

    async 'what one instance takes the other one sees'({ one, two }) {
      const five = of('a', cost('rpm', bucket(10), 5))
      assert.deepEqual((await one.take([five], NOW)).views[0]![0], view(5, 30_000))
      assert.deepEqual((await two.take([five], NOW)).views[0]![0], view(0, MINUTE_MS))
      const { allowed, at, views } = await one.take([of('a', cost('rpm', bucket(10), 1))], NOW)
      assert.deepEqual([allowed, at, views], [false, NOW, [[view(0, MINUTE_MS, 6000)]]])
    },

    async 'several limits: all or none, and each that denies says when'({ one }) {
      const [rpm, tpm] = [bucket(2), bucket(1000)]
      const both = (tokens: number) => of('a', cost('rpm', rpm, 1), cost('tpm', tpm, tokens))
      assert.equal((await one.take([both(900)], NOW)).allowed, true)
      const denied = await one.take([both(200)], NOW)
      assert.deepEqual([denied.allowed, denied.views], [false, [[view(1, 30_000), view(100, 54_000, 6000)]]])
      assert.deepEqual(await remaining(one, both(0)), [1, 100])
      assert.equal((await one.take([both(100)], NOW)).allowed, true)
      const { views } = await one.take([both(100)], NOW)
      assert.deepEqual(views, [[view(0, MINUTE_MS, 30_000), view(0, MINUTE_MS, 6000)]])
    },

    async 'entities, resources and names do not mix, whatever they hold'({ one, two }) {
      const odd = ['a', 'a:b', 'a=b', 'b', 'A', '__proto__', 'constructor', '1', '01', '~', 'x'.repeat(256)]
      for (const entity of odd) {
        for (const resource of ['r', 'r.s', '__proto__', '1']) {
          const subject = { entity, resource, limits: [cost('toString', bucket(3), 1)] }
          assert.deepEqual(
            (await one.take([subject], NOW)).views[0]![0]!.remaining,
            2,
            `${entity} ${resource}`,
          )
        }
      }
      assert.deepEqual(
        await remaining(two, { ...of('a:b'), resource: 'r', limits: [cost('toString', bucket(3), 1)] }),
        [2],
      )
    },

    async 'two subjects: both or neither'({ one, two }) {
      const child = (amount: number) => of('child', cost('rpm', bucket(10), amount))
      const parent = (amount: number) => of('parent', cost('rpm', bucket(15), amount))
      assert.equal((await one.take([child(10), parent(10)], NOW)).allowed, true)
      assert.equal((await two.take([of('other', cost('rpm', bucket(10), 6)), parent(6)], NOW)).allowed, false)
      assert.deepEqual(await remaining(one, of('other', cost('rpm', bucket(10), 0))), [10])
      assert.equal((await one.take([child(1), parent(1)], NOW)).allowed, false)
      assert.deepEqual(await remaining(two, parent(0)), [5])
    },

    async 'a limit in shadow mode takes when it can and never denies'({ one }) {
      const watched = of('a', cost('rpm', bucket(10), 1), cost('tpm', bucket(2), 2, true))
      assert.deepEqual((await one.take([watched], NOW)).views[0]![1], view(0, MINUTE_MS))
      const over = await one.take([watched], NOW)
      assert.deepEqual([over.allowed, over.views[0]![1]], [true, view(0, MINUTE_MS, MINUTE_MS)])
      assert.deepEqual(await remaining(one, watched), [8, 0])
      const enforced = of('a', cost('rpm', bucket(10), 9), cost('tpm', bucket(100), 1, true))
      assert.equal((await one.take([enforced], NOW)).allowed, false)
    },

    async 'a limit in shadow mode goes on after the clock was set back'({ one, two }) {
      for (const algorithm of ALGORITHMS) {
        for (const enforced of [[], [cost('rpm', bucket(100), 1)]]) {
          const watched = of(
            `${algorithm}-${enforced.length}`,
            ...enforced,
            cost('x', ruleOf(algorithm, 2), 2, true),
          )
          const takeAt = async (store: LimitStore, now: number) => {
            const { allowed, views } = await store.take([watched], now)
            assert.equal(allowed, true)
            return views[0]!.at(-1)!.retryAfterMs
          }
          assert.equal(await takeAt(one, NOW + HOUR_MS), 0, algorithm)
          assert.ok((await takeAt(two, NOW)) > 0, algorithm)
          assert.equal(await takeAt(one, NOW + 3 * MINUTE_MS), 0, algorithm)
        }
      }
    },

    async 'a reset forgets one subject, all its limits'({ one, two }) {
      const used = (entity: string) => of(entity, cost('rpm', bucket(5), 5), cost('tpm', bucket(9), 9))
      await one.take([used('a')], NOW)
      await one.take([used('b')], NOW)
      assert.equal(await two.reset({ entity: 'a', resource: 'gpt-4' }), true)
      assert.equal(await two.reset({ entity: 'a', resource: 'gpt-4' }), false)
      assert.deepEqual(await remaining(one, used('a')), [5, 9])
      assert.deepEqual(await remaining(one, used('b')), [0, 0])
    },

    async 'instances hear of a reset'({ one, two }) {
      const used = of('a', cost('rpm', bucket(5), 5))
      await one.take([used], NOW)
      await two.take([{ ...used, limits: [] }], NOW)
      let isHeard = false
      const stop = two.watch(() => {
        isHeard = true
      })
      await one.reset({ entity: 'a', resource: 'gpt-4' })
      await until('the notice', () => isHeard)
      stop()
    },

    async 'a sweep drops what no longer counts and nothing else'({ one, two }) {
      const hour = ruleOf('fixed-window', 5, 3600)
      await one.take([of('a', cost('rpm', bucket(5), 5), cost('rph', hour, 1))], NOW)
      const taken = [of('b', cost('rpm', bucket(5), 1))]
      await one.take(taken, NOW)
      await one.giveBack(lease(taken), NOW)
      while ((await two.sweep(NOW + 2 * MINUTE_MS)).more);
      assert.deepEqual(await remaining(one, of('a', cost('rph', hour, 1)), NOW + 2 * MINUTE_MS), [4])
      while ((await one.sweep(NOW + 4_000_000)).more);
      assert.deepEqual(await remaining(two, of('a', cost('rph', hour, 1)), NOW + 4_000_000), [5])
    },
  },
  {
    async 'exactly the capacity is admitted, on every algorithm'(pair) {
      for (const algorithm of ALGORITHMS) {
        const one = of(algorithm, cost('x', ruleOf(algorithm, 20), 1))
        const answers = await parallel(pair, 60, (store) => store.take([one], NOW))
        assert.equal(answers.filter(({ allowed }) => allowed).length, 20, algorithm)
        assert.deepEqual(await remaining(pair.two, one), [0])
      }
    },

    async 'several limits and two subjects stay all or none'(pair) {
      const parent = of('parent', cost('rpm', bucket(15), 1))
      const answers = await parallel(pair, 60, (store, i) => {
        const child = of(`child-${i % 3}`, cost('rpm', bucket(10), 1), cost('tpm', bucket(70), 10))
        return store.take([child, parent], NOW)
      })
      assert.equal(answers.filter(({ allowed }) => allowed).length, 15)
      assert.deepEqual(await remaining(pair.one, parent), [0])
      let used = 0
      for (const i of [0, 1, 2]) {
        const left = await remaining(
          pair.two,
          of(`child-${i}`, cost('rpm', bucket(10), 0), cost('tpm', bucket(70), 0)),
        )
        assert.equal((10 - left[0]!) * 10, 70 - left[1]!)
        used += 10 - left[0]!
      }
      assert.equal(used, 15)
    },

    async 'of many resets exactly one finds something'(pair) {
      await pair.one.take([of('a', cost('rpm', bucket(5), 5))], NOW)
      const found = await parallel(pair, 8, (store) => store.reset({ entity: 'a', resource: 'gpt-4' }))
      assert.equal(found.filter(Boolean).length, 1)
    },
  },
)
