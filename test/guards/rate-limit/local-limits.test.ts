import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { until } from '../../../src/conformance/support.js'
import { configOf, itemsOf } from '../../../src/engines/dynamodb/rate-limit/config-items.js'
import type { CallCosts } from '../../../src/guards/rate-limit/answers.js'
import { LocalLimits } from '../../../src/guards/rate-limit/local-limits/index.js'
import { shareOf } from '../../../src/guards/rate-limit/local-limits/share.js'
import { ALGORITHMS, compileRule } from '../../../src/guards/rate-limit/rule.js'
import { configFrom, storedText } from '../../../src/guards/rate-limit/stored-config.js'
import { openFaulty, subject } from './faulty.js'

const ruleOf = (algorithm: (typeof ALGORITHMS)[number], capacity: number, refillPeriodSeconds = 60) =>
  compileRule('l', { algorithm, capacity, burst: capacity, refillAmount: capacity, refillPeriodSeconds })

const costs = (entity: string, rule: ReturnType<typeof ruleOf>, cost = 1): CallCosts[] => [
  {
    ...{ entity, resource: 'r', policies: {}, known: undefined },
    limits: [{ name: 'l', rule, cost, shadow: false, isOversized: false }],
  },
]

describe('shares of limits', () => {
  it('n shares of 1/n never admit more than the limit, in any order and at any time', () => {
    const call = fc.record({
      process: fc.nat(3),
      afterMs: fc.nat(20_000),
      cost: fc.integer({ min: 1, max: 5 }),
    })
    const runs = fc.record({
      algorithm: fc.constantFrom(...ALGORITHMS.filter((name) => name !== 'sliding-window-counter')),
      capacity: fc.integer({ min: 1, max: 40 }),
      calls: fc.array(call, { maxLength: 80 }),
    })
    const property = fc.property(runs, ({ algorithm, capacity, calls }) => {
      const rule = ruleOf(algorithm, capacity)
      const processes = [0, 1, 2, 3].map(() => new LocalLimits(1 / 4))
      let now = 0
      const taken: { at: number; cost: number }[] = []
      for (const { process, afterMs, cost } of calls) {
        now += afterMs
        const answer = processes[process]!.take(costs('e', rule, cost), now)
        if (answer?.taken.allowed) taken.push({ at: now, cost })
      }
      for (const { at: from } of taken) {
        const within = taken.filter(({ at }) => at >= from && at < from + 60_000)
        const sum = within.reduce((total, { cost }) => total + cost, 0)
        // A bucket admits what it holds and what refills; a fixed window twice across its boundary.
        const most = algorithm === 'token-bucket' || algorithm === 'fixed-window' ? 2 * capacity : capacity
        assert.ok(sum <= most, `${sum} of ${most} within a period`)
      }
    })
    fc.assert(property, { numRuns: 300 })
  })

  it('a share is never more than its part, and never refills faster', () => {
    const inputs = fc.tuple(
      fc.integer({ min: 1, max: 100_000 }),
      fc.double({ min: 0.01, max: 1, noNaN: true }),
    )
    const property = fc.property(inputs, ([capacity, share]) => {
      const whole = ruleOf('token-bucket', capacity)
      const part = shareOf(whole, share)
      assert.ok(part.capacity <= capacity * share)
      assert.ok(
        part.unitsPerMs / part.unitsPerToken <=
          (whole.unitsPerMs / whole.unitsPerToken) * share * (1 + 1e-12),
      )
      assert.ok(Number.isInteger(part.unitsPerToken) && Number.isInteger(part.capacity))
    })
    fc.assert(property)
  })

  it('memory is bounded: a new subject is refused rather than that one uses its share twice', () => {
    const local = new LocalLimits(1, 3)
    const rule = ruleOf('sliding-window', 1)
    for (const entity of ['a', 'b', 'c'])
      assert.equal(local.take(costs(entity, rule), 0)?.taken.allowed, true)
    assert.equal(local.take(costs('d', rule), 10), undefined)
    assert.equal(local.take(costs('a', rule), 20)?.taken.allowed, false)
    assert.equal(local.take(costs('d', rule), 60_001)?.taken.allowed, true)
    assert.ok(local.size <= 3)
  })
})

describe('a clock that is set while the store is away', () => {
  const HOUR_MS = 3_600_000

  it('brings no second share, forward, back and right again, and what is owed stays owed', async (t) => {
    const { limits, fault, down, clock, steadyClock } = await openFaulty(t, {
      ...{ localShare: 0.5, configCacheMs: 100 * HOUR_MS, defaults: { onUnavailable: 'local' } },
    })
    const admitted = async (times: number): Promise<number> => {
      let count = 0
      for (let i = 0; i < times; i++) if ((await limits.acquire(subject)).allowed) count++
      return count
    }
    const beganMs = clock.now()
    await limits.setConfig(
      { level: 'system', resource: 'gpt-4' },
      { limits: { rpm: { capacity: 10, refillPeriodSeconds: 3600, algorithm: 'sliding-window' } } },
    )
    await limits.status(subject.entity, subject.resource)
    fault.take = down
    assert.equal(await admitted(9), 5)
    for (const offsetMs of [2, -2, 0]) {
      clock.set(beganMs + offsetMs * HOUR_MS)
      assert.equal(await admitted(9), 0)
    }
    fault.take = () => Promise.resolve()
    assert.equal((await limits.acquire(subject)).degraded, undefined)
    const left = async () => (await limits.status(subject.entity, subject.resource)).limits.rpm!.remaining
    await until('it is charged', async () => (await left()) === 10 - 1 - 5)
    fault.take = down
    steadyClock.advance(HOUR_MS)
    assert.equal(await admitted(9), 5)
  })
})

describe('a level that says local', () => {
  it('says block to programs that do not know it, in every stored form', () => {
    const config = { limits: { rpm: { capacity: 1 } }, onUnavailable: 'local' } as const
    const text = storedText(config)
    assert.equal(JSON.parse(text).onUnavailable, 'block')
    assert.deepEqual(configFrom(text), config)
    const key = { level: 'system', resource: 'r' } as const
    const items = itemsOf(key, config)
    assert.deepEqual(items[0]!.on_unavailable, { S: 'block' })
    assert.deepEqual(configOf(key, items), config)
  })

  it('gives way to a program that changes the field that it knows', () => {
    const text = JSON.stringify({
      ...JSON.parse(storedText({ limits: {}, onUnavailable: 'local' })),
      onUnavailable: 'allow',
    })
    assert.equal(configFrom(text).onUnavailable, 'allow')
    const key = { level: 'system', resource: 'r' } as const
    const [item] = itemsOf(key, { limits: { rpm: {} }, onUnavailable: 'local' })
    const changed = { ...item!, on_unavailable: { S: 'ALLOW' } }
    assert.equal(configOf(key, [changed])?.onUnavailable, 'allow')
    assert.equal(configOf(key, [item!, changed])?.onUnavailable, 'local')
  })
})
