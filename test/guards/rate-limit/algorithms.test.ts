import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { ALGORITHM, type LimitState } from '../../../src/guards/rate-limit/algorithms/index.js'
import { decide, type SubjectState } from '../../../src/guards/rate-limit/decide.js'
import { ALGORITHMS, type Algorithm, compileRule, type Rule } from '../../../src/guards/rate-limit/rule.js'
import { type Admission, bucketUsed, mostInAlignedWindow, mostInWindow } from './reference.js'

const START = Date.UTC(2030, 0, 1)

const limits = fc.record({
  capacity: fc.integer({ min: 1, max: 200 }),
  extra: fc.integer({ min: 0, max: 50 }),
  refillAmount: fc.integer({ min: 1, max: 300 }),
  refillPeriodSeconds: fc.integer({ min: 1, max: 120 }),
})
/** Costs as shares of what can be held, so that calls are admitted and denied alike. */
const calls = fc.array(
  fc.record({
    afterMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 40_000 })),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
  }),
  { minLength: 1, maxLength: 80 },
)
type Limit = typeof limits extends fc.Arbitrary<infer T> ? T : never
type Call = { afterMs: number; share: number }

const compiled = (
  algorithm: Algorithm,
  { capacity, extra, refillAmount, refillPeriodSeconds }: Limit,
): Rule =>
  compileRule('limit', { algorithm, capacity, burst: capacity + extra, refillAmount, refillPeriodSeconds })

interface Step {
  now: number
  cost: number
  retryAfterMs: number
  remaining: number
  resetMs: number
  before: LimitState | undefined
}

function replay(rule: Rule, asked: readonly Call[]): { steps: Step[]; admissions: Admission[] } {
  const steps: Step[] = []
  const admissions: Admission[] = []
  let now = START
  let state: LimitState | undefined
  for (const { afterMs, share } of asked) {
    now += afterMs
    const cost = Math.floor(share * (rule.capacity + 1) * 0.999)
    const { state: after, ...view } = ALGORITHM[rule.algorithm].take(state, rule, cost, now)
    steps.push({ now, cost, before: state, ...view })
    if (view.retryAfterMs === 0 && cost > 0) admissions.push({ at: now, cost })
    else assert.equal(after, state, 'what takes nothing changes nothing')
    state = after
  }
  return { steps, admissions }
}

describe('token bucket', () => {
  it('neither loses nor invents a token, whenever and however often it is asked', () => {
    fc.assert(
      fc.property(limits, calls, (limit, asked) => {
        const rule = compiled('token-bucket', limit)
        const periodMs = limit.refillPeriodSeconds * 1000
        const full = BigInt(rule.capacity) * BigInt(periodMs)
        const { steps } = replay(rule, asked)
        const before: Admission[] = []
        for (const { now, cost, retryAfterMs, remaining } of steps) {
          const used = bucketUsed(before, limit.refillAmount, periodMs, now)
          const fits = used + BigInt(cost) * BigInt(periodMs) <= full
          assert.equal(retryAfterMs === 0, fits || cost === 0)
          const after = fits ? used + BigInt(cost) * BigInt(periodMs) : used
          assert.equal(BigInt(remaining), (full - after) / BigInt(periodMs))
          if (fits && cost > 0) before.push({ at: now, cost })
        }
      }),
      { numRuns: 400 },
    )
  })

  it('admits in any interval at most its burst and what came back in it', () => {
    fc.assert(
      fc.property(limits, calls, (limit, asked) => {
        const rule = compiled('token-bucket', limit)
        const { admissions } = replay(rule, asked)
        for (const [i, first] of admissions.entries()) {
          let sum = 0
          for (const { at, cost } of admissions.slice(i)) {
            sum += cost
            const most =
              rule.capacity + ((at - first.at) * limit.refillAmount) / (limit.refillPeriodSeconds * 1000)
            assert.ok(sum <= most + 1e-9, `${sum} of ${most}`)
          }
        }
      }),
      { numRuns: 200 },
    )
  })

  it('carries what was used over to any other rule, and gives nothing away', () => {
    fc.assert(
      fc.property(limits, limits, calls, (first, second, asked) => {
        const [before, after] = [compiled('token-bucket', first), compiled('token-bucket', second)]
        const { steps } = replay(before, asked)
        const { now, before: state, remaining, cost, retryAfterMs } = steps.at(-1)!
        const last =
          retryAfterMs === 0 && cost > 0
            ? ALGORITHM['token-bucket'].take(state, before, cost, now).state
            : state
        const carried = ALGORITHM['token-bucket'].take(last, after, 0, now)
        const used = before.capacity - remaining
        // Where time has passed since the last admission, it counts by the new rule.
        if (last !== undefined && last[2] === now) {
          assert.ok(carried.remaining <= Math.max(0, after.capacity - used + 1))
          assert.ok(carried.remaining >= Math.max(0, after.capacity - used - 1))
        }
        assert.ok(carried.remaining <= after.capacity)
      }),
    )
  })
})

describe('a part of a token that does not come out even', () => {
  it('is rounded against the caller when the rule changes', () => {
    const before = compiled('token-bucket', {
      capacity: 10,
      extra: 0,
      refillAmount: 1000,
      refillPeriodSeconds: 7,
    })
    const after = compiled('token-bucket', {
      capacity: 10,
      extra: 0,
      refillAmount: 1000,
      refillPeriodSeconds: 3,
    })
    const { state } = ALGORITHM['token-bucket'].take(undefined, before, 1, START)
    const [kind, , at, ...rule] = state!
    const part = [kind!, 1, at!, ...rule]
    assert.equal(ALGORITHM['token-bucket'].take(part, after, 0, START).remaining, 9)
  })
})

describe('windows', () => {
  it('sliding: never more than its capacity in any window', () => {
    fc.assert(
      fc.property(limits, calls, (limit, asked) => {
        const rule = compiled('sliding-window', limit)
        assert.ok(mostInWindow(replay(rule, asked).admissions, rule.periodMs) <= rule.capacity)
      }),
    )
  })

  it('fixed: never more than its capacity in an aligned window', () => {
    fc.assert(
      fc.property(limits, calls, (limit, asked) => {
        const rule = compiled('fixed-window', limit)
        assert.ok(mostInAlignedWindow(replay(rule, asked).admissions, rule.periodMs) <= rule.capacity)
      }),
    )
  })

  it('by two counters: never more than twice its capacity in any window, as stated', () => {
    fc.assert(
      fc.property(limits, calls, (limit, asked) => {
        const rule = compiled('sliding-window-counter', limit)
        const { admissions } = replay(rule, asked)
        assert.ok(mostInWindow(admissions, rule.periodMs) <= 2 * rule.capacity)
        assert.ok(mostInAlignedWindow(admissions, rule.periodMs) <= rule.capacity)
      }),
    )
  })
})

describe('every algorithm', () => {
  for (const algorithm of ALGORITHMS) {
    it(`${algorithm}: says exactly when to come again, and when all is there again`, () => {
      fc.assert(
        fc.property(limits, calls, (limit, asked) => {
          const rule = compiled(algorithm, limit)
          for (const { now, cost, retryAfterMs, resetMs, before } of replay(rule, asked).steps) {
            const take = (amount: number, at: number) => ALGORITHM[algorithm].take(before, rule, amount, at)
            if (retryAfterMs > 0) {
              assert.equal(take(cost, now + retryAfterMs).retryAfterMs, 0)
              assert.ok(take(cost, now + retryAfterMs - 1).retryAfterMs > 0)
              assert.equal(take(rule.capacity, now + resetMs).retryAfterMs, 0)
            }
          }
        }),
      )
    })

    it(`${algorithm}: giving back at once leaves what was before`, () => {
      fc.assert(
        fc.property(limits, calls, (limit, asked) => {
          const rule = compiled(algorithm, limit)
          for (const { now, cost, retryAfterMs, before } of replay(rule, asked).steps) {
            if (retryAfterMs > 0 || cost === 0) continue
            const { take, correct } = ALGORITHM[algorithm]
            const given = correct(take(before, rule, cost, now).state, rule, -cost, now, now)
            assert.deepEqual(take(given, rule, 0, now).remaining, take(before, rule, 0, now).remaining)
            assert.deepEqual(take(given, rule, 0, now).resetMs, take(before, rule, 0, now).resetMs)
          }
        }),
      )
    })

    it(`${algorithm}: is not misled by the state of another`, () => {
      for (const other of ALGORITHMS.filter((one) => one !== algorithm)) {
        const small = { capacity: 5, extra: 0, refillAmount: 5, refillPeriodSeconds: 60 }
        const { state } = ALGORITHM[other].take(undefined, compiled(other, small), 5, START)
        assert.equal(ALGORITHM[algorithm].take(state, compiled(algorithm, small), 5, START).retryAfterMs, 0)
      }
    })
  }
})

describe('a clock that is set back', () => {
  const stepsBack = fc.integer({ min: 10_001, max: 10_000_000 })
  /** In any window of real time; a burst at the end of one window and at the start of the next is in the rule. */
  const most: Partial<Record<Algorithm, number>> = {
    'sliding-window': 1,
    concurrency: 1,
    'fixed-window': 2,
    'sliding-window-counter': 2,
  }

  for (const algorithm of ALGORITHMS) {
    it(`${algorithm}: goes on, and never admits more than its rule`, () => {
      fc.assert(
        fc.property(limits, calls, calls, stepsBack, (limit, before, after, backMs) => {
          const rule = compiled(algorithm, limit)
          const admissions: Admission[] = []
          let states: SubjectState = []
          let at = START
          const take = (cost: number, now: number) => {
            const asked = [{ limits: [{ name: 'x', rule, cost, shadow: false }] }]
            const { allowed, states: next } = decide([states], asked, now)
            states = next[0] ?? states
            if (allowed && cost > 0) admissions.push({ at, cost })
            return allowed
          }
          const costOf = (share: number) => Math.floor(share * (rule.capacity + 1) * 0.999)
          for (const { afterMs, share } of before) take(costOf(share), (at += afterMs))
          for (const { afterMs, share } of after) take(costOf(share), (at += afterMs) - backMs)
          if (most[algorithm] !== undefined) {
            assert.ok(mostInWindow(admissions, rule.periodMs) <= most[algorithm] * rule.capacity)
          }
          take(1, at - backMs)
          const fullMs = Math.ceil((rule.capacity * rule.unitsPerToken) / rule.unitsPerMs)
          at += 10_000 + (algorithm === 'token-bucket' ? fullMs : 3 * rule.periodMs)
          assert.equal(take(rule.capacity, at - backMs), true, 'all is there again')
        }),
      )
    })
  }
})

describe('several limits together', () => {
  it('are taken all or none, whatever their kinds', () => {
    const kinds = fc.array(
      fc.record({ algorithm: fc.constantFrom(...ALGORITHMS), limit: limits, shadow: fc.boolean() }),
      {
        minLength: 1,
        maxLength: 4,
      },
    )
    fc.assert(
      fc.property(kinds, calls, (mixed, asked) => {
        let states: SubjectState = []
        let now = START
        for (const { afterMs, share } of asked) {
          now += afterMs
          const costs = mixed.map(({ algorithm, limit, shadow }, i) => {
            const rule = compiled(algorithm, limit)
            return { name: `l${i}`, rule, shadow, cost: Math.floor(share * rule.capacity) }
          })
          const { allowed, views, states: after } = decide([states], [{ limits: costs }], now)
          const fits = views[0]!.map(({ retryAfterMs }) => retryAfterMs === 0)
          assert.equal(
            allowed,
            costs.every(({ shadow }, i) => shadow || fits[i]),
          )
          if (!allowed) assert.equal(after[0], undefined)
          states = after[0] ?? states
        }
      }),
    )
  })
})

describe('numbers that are too large', () => {
  const limit = {
    algorithm: 'token-bucket',
    capacity: 1e9,
    burst: 1e9,
    refillAmount: 999_999_937,
    refillPeriodSeconds: 86_401,
  } as const
  it('are refused rather than rounded', () => {
    assert.throws(() => compileRule('limits.x', limit), { code: 'INVALID_INPUT' })
    assert.throws(() => compileRule('limits.x', { ...limit, algorithm: 'sliding-window' }), /10000/)
    assert.throws(() => compileRule('limits.x', { ...limit, algorithm: 'sliding-window-counter' }), /exactly/)
    assert.ok(compileRule('limits.x', { ...limit, refillAmount: 1e9, refillPeriodSeconds: 86_400 }))
  })

  it('of debt are held at the largest that can be counted', () => {
    const rule = compileRule('limits.x', {
      ...limit,
      refillAmount: 1,
      refillPeriodSeconds: 3600,
      capacity: 1e9,
      burst: 1e9,
    })
    let state: LimitState | undefined
    for (let i = 0; i < 10; i++) state = ALGORITHM['token-bucket'].correct(state, rule, 1e9, START, START)
    assert.ok(Number.isSafeInteger(state![1]))
    assert.equal(ALGORITHM['token-bucket'].take(state, rule, 1, START).remaining, 0)
  })
})
