import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { bucket, cost, ruleOf } from '../../src/conformance/rate-limit/support.js'
import { correct, decide, type SubjectState } from '../../src/guards/rate-limit/decide.js'
import type { LimitStore } from '../../src/guards/rate-limit/port.js'
import { ALGORITHMS, type Algorithm } from '../../src/guards/rate-limit/rule.js'

const START = 1_900_000_000_000

/** The same for every run: what fails can be looked at. */
function numbers(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff
    return Math.floor((state / 0x80000000) * below)
  }
}

/**
 * Random calls, clocks and rules: what the stores decide must be what TypeScript decides. The stores are processes that
 * use the same counters. Without a fixed algorithm, the limit gets now one and then another.
 */
export async function decidesAlike(
  stores: readonly [LimitStore, ...LimitStore[]],
  fixed: Algorithm | undefined,
  seed: number,
): Promise<void> {
  const random = numbers(seed)
  // With one limit only, some engines decide by other means.
  const most = 1 + (seed % 2)
  const entity = `${fixed ?? 'any'}-${seed}`
  const newRule = () => ruleOf(fixed ?? ALGORITHMS[random(ALGORITHMS.length)]!, 1 + random(20), 1 + random(9))
  let states: SubjectState = []
  let now = START + random(100_000)
  let rule = newRule()
  for (let step = 0; step < 60; step++) {
    // Mostly on, sometimes far, now and then back, and far back; and now and then another process.
    const back = random(30) === 0 ? random(100_000) : random(10) === 0 ? random(5000) : 0
    now += back > 0 ? -back : random(4) === 0 ? random(30_000) : random(700)
    const counters = stores[random(5) === 0 ? stores.length - 1 : 0]!
    if (random(15) === 0) rule = newRule()
    const both = [cost('x', rule, random(rule.capacity + 1)), cost('y.z', bucket(7), random(2), true)]
    const limits = both.slice(0, most)
    if (random(4) > 0) {
      const asked = { entity, resource: 'r', limits: limits.slice(0, 1 + random(most)) }
      const expected = decide([states], [asked], now)
      const { allowed, views } = await counters.take([asked], now)
      const where = `${entity}, step ${step}`
      assert.deepEqual({ allowed, views }, { allowed: expected.allowed, views: expected.views }, where)
      states = expected.states[0] ?? states
    } else {
      // A lease may be of a time before the clock was set back, and older than the rule.
      const takenAt = random(6) === 0 ? now + random(60_000) : now - random(3000)
      if (random(3) === 0) limits[0] = cost('x', newRule(), random(5))
      const held = limits.map((limit) => ({ ...limit, delta: random(9) - 4 }))
      const deltas = held.map(({ cost: held, delta }) => Math.max(delta, -held))
      const use = { id: `${entity}-${step}`, takenAt, expiresAt: now + 60_000 }
      const lease = { ...use, subjects: [{ entity, resource: 'r', limits: held }] }
      await counters.adjust(lease, randomUUID(), now)
      states = correct(states, held, deltas, takenAt, now) ?? states
    }
  }
}
