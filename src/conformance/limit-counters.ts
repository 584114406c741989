import assert from 'node:assert/strict'
import type { LeaseUse, LimitCost, LimitStore, SubjectCosts } from '../rate-limit/port.js'
import { ALGORITHMS, type Algorithm, type CompleteLimit, compileRule } from '../rate-limit/rule.js'
import { type Pair, suite } from './suite.js'
import { NOW, parallel } from './support.js'
import { LIMIT_VECTORS, type LimitStep, type LimitVector, VECTOR_START } from './vectors/rate-limit.js'

const MINUTE_MS = 60_000
const LEASE_MS = 600_000

const ruleOf = (algorithm: Algorithm, capacity: number, refillPeriodSeconds = 60) =>
  compileRule('limit', {
    algorithm,
    capacity,
    burst: capacity,
    refillAmount: capacity,
    refillPeriodSeconds,
  })

const bucket = (capacity: number) => ruleOf('token-bucket', capacity)
const cost = (name: string, rule: LimitCost['rule'], amount: number, shadow = false): LimitCost => ({
  name,
  rule,
  cost: amount,
  shadow,
})
const of = (entity: string, ...limits: LimitCost[]): SubjectCosts => ({ entity, resource: 'gpt-4', limits })

async function remaining(store: LimitStore, subject: SubjectCosts, now = NOW): Promise<number[]> {
  const limits = subject.limits.map((limit) => ({ ...limit, cost: 0 }))
  const { allowed, views } = await store.take([{ ...subject, limits }], now)
  assert.equal(allowed, true)
  return views[0]!.map((view) => view.remaining)
}

let leases = 0
/** The lease of what was taken, with a delta by limit. */
function lease(subjects: SubjectCosts[], deltas: Record<string, number> = {}, takenAt = NOW): LeaseUse {
  return {
    id: `lease-${++leases}`,
    takenAt,
    expiresAt: takenAt + LEASE_MS,
    subjects: subjects.map(({ entity, resource, limits }) => ({
      entity,
      resource,
      limits: limits.map(({ name, rule, cost }) => ({ name, rule, cost, delta: deltas[name] ?? 0 })),
    })),
  }
}

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

/** One case for each algorithm, all its vectors at the same time on both instances. */
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

    async 'adjusting corrects the cost, also below nothing, and never gives more than was taken'({
      one,
      two,
    }) {
      const taken = [of('a', cost('tpm', bucket(1000), 500))]
      await one.take(taken, NOW)
      const use = lease(taken, { tpm: -120 })
      assert.equal(await two.adjust(use, NOW), 'done')
      assert.deepEqual(await remaining(one, taken[0]!), [620])
      const more = { ...use, subjects: lease(taken, { tpm: 2000 }).subjects }
      assert.equal(await one.adjust(more, NOW), 'done')
      const { allowed, views } = await one.take([of('a', cost('tpm', bucket(1000), 1))], NOW)
      assert.deepEqual([allowed, views[0]![0]!.remaining, views[0]![0]!.retryAfterMs], [false, 0, 82_860])
      const tooMuch = { ...use, subjects: lease(taken, { tpm: -9999 }).subjects }
      assert.equal(await two.adjust(tooMuch, NOW), 'done')
      assert.deepEqual(await remaining(one, taken[0]!), [1000])
      assert.equal(await two.adjust(more, NOW), 'done')
      assert.equal(await one.giveBack(use, NOW), 'done')
      assert.deepEqual(await remaining(two, taken[0]!), [1000])
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
          await one.adjust({ ...use, subjects: lease(taken, { x: 3 }).subjects }, NOW),
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

    async 'giving back reaches both subjects'({ one, two }) {
      const taken = [of('child', cost('rpm', bucket(10), 3)), of('parent', cost('rpm', bucket(10), 3))]
      await one.take(taken, NOW)
      assert.equal(await two.giveBack(lease(taken), NOW), 'done')
      assert.deepEqual(await remaining(one, taken[0]!), [10])
      assert.deepEqual(await remaining(one, taken[1]!), [10])
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

    async 'instances hear of a reset within a second'({ one, two }) {
      const used = of('a', cost('rpm', bucket(5), 5))
      await one.take([used], NOW)
      await two.take([{ ...used, limits: [] }], NOW)
      const heard = new Promise<void>((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error('nothing was heard')), 3000)
        const stop = two.watch(() => {
          clearTimeout(timer)
          stop()
          resolve()
        })
      })
      await one.reset({ entity: 'a', resource: 'gpt-4' })
      await heard
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

    async 'adjustments at once all count'(pair) {
      const taken = [of('a', cost('rpm', bucket(100), 50))]
      await pair.one.take(taken, NOW)
      const use = lease(taken, { rpm: -1 })
      await parallel(pair, 20, (store) => store.adjust(use, NOW))
      assert.deepEqual(await remaining(pair.one, taken[0]!), [70])
      assert.equal(await pair.two.giveBack(use, NOW), 'done')
      assert.deepEqual(await remaining(pair.one, taken[0]!), [100])
    },

    async 'of many resets exactly one finds something'(pair) {
      await pair.one.take([of('a', cost('rpm', bucket(5), 5))], NOW)
      const found = await parallel(pair, 8, (store) => store.reset({ entity: 'a', resource: 'gpt-4' }))
      assert.equal(found.filter(Boolean).length, 1)
    },
  },
)

const view = (left: number, resetMs: number, retryAfterMs = 0) => ({ remaining: left, resetMs, retryAfterMs })
