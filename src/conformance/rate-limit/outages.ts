import assert from 'node:assert/strict'
import { ManualClock } from '../../core/clock.js'
import { isCatracaError } from '../../core/errors.js'
import { RateLimits } from '../../guards/rate-limit/index.js'
import { DEFAULT_LIMITS, type LimitOptions } from '../../guards/rate-limit/options.js'
import type { LimitEngine } from '../../guards/rate-limit/port.js'
import type { Limit } from '../../guards/rate-limit/types.js'
import { cuttable } from '../cut.js'
import { type Pair, suite } from '../suite.js'
import { NOW, until } from '../support.js'

const subject = { entity: 'alice', resource: 'gpt-4' }
const HOUR = 3600
const rpm = (limit: Limit = {}): Record<string, Limit> => ({
  rpm: { capacity: 40, refillPeriodSeconds: HOUR, ...limit },
})
const PATIENCE_MS = 60_000

/** Guards over both instances, like two pods, that can be cut off from their store. */
async function pods(
  { one, two }: Pair<LimitEngine>,
  options: Partial<LimitOptions>,
  work: (pods: { limits: RateLimits; cut: { isAway: boolean } }[], clock: ManualClock) => Promise<void>,
): Promise<void> {
  const clock = new ManualClock(NOW)
  const defaults = { onUnavailable: 'local' } as const
  const made = [one, two].map((engine) => {
    const cut = cuttable(engine)
    const patient = { ...DEFAULT_LIMITS, timeoutMs: PATIENCE_MS, usageFlushMs: 0, configCacheMs: HOUR * 1000 }
    const whole = { ...patient, localShare: 0.25, defaults, ...options }
    return { limits: new RateLimits({ engine: cut.port, clock, options: whole, report: () => {} }), cut }
  })
  try {
    await work(made, clock)
  } finally {
    for (const { limits, cut } of made) {
      cut.isAway = false
      await limits.close()
    }
  }
}

/** How many of these calls pass; each answer must say that the store did not decide. */
async function admitted(
  limits: RateLimits,
  times: number,
  consume?: Record<string, number>,
): Promise<number> {
  const answers = await Promise.all(
    Array.from({ length: times }, () => limits.acquire({ ...subject, ...(consume && { consume }) })),
  )
  assert.ok(answers.every(({ degraded }) => degraded === true))
  return answers.filter(({ allowed }) => allowed).length
}

const remaining = async (limits: RateLimits) => (await limits.status('alice', 'gpt-4')).limits.rpm!.remaining

export const localLimitSuite = suite<LimitEngine>(
  'limits without the store',
  {
    async 'each process admits its share, and says so'(pair) {
      await pods(pair, {}, async ([a]) => {
        const { limits, cut } = a!
        await limits.setConfig({ level: 'system', resource: 'gpt-4' }, { limits: rpm() })
        assert.equal((await limits.acquire(subject)).degraded, undefined)
        cut.isAway = true
        const first = await limits.acquire(subject)
        assert.deepEqual([first.allowed, first.degraded, first.limits.rpm!.limit], [true, true, 10])
        assert.equal(await admitted(limits, 20), 9)
        const denied = await limits.acquire(subject)
        assert.ok(!denied.allowed && denied.degraded)
        assert.ok(denied.retryAfterMs > 0 && denied.violations[0]!.limit === 'rpm')
        const { localAllowed, localDenied, admitted: byStore } = limits.stats()
        assert.deepEqual([localAllowed, localDenied, byStore], [10, 12, 1])
      })
    },

    async 'a share refills as the limit does'(pair) {
      await pods(pair, {}, async ([a], clock) => {
        const { limits, cut } = a!
        await limits.setConfig({ level: 'system', resource: 'gpt-4' }, { limits: rpm() })
        await limits.acquire(subject)
        cut.isAway = true
        assert.equal(await admitted(limits, 20), 10)
        clock.advance((HOUR * 1000) / 2)
        assert.equal(await admitted(limits, 20), 5)
      })
    },

    async 'when the store is back, it is charged what was admitted without it'(pair) {
      for (const algorithm of ['token-bucket', 'sliding-window', 'fixed-window'] as const) {
        await pods(pair, {}, async ([a, b]) => {
          const { limits, cut } = a!
          await limits.setConfig({ level: 'system', resource: 'gpt-4' }, { limits: rpm({ algorithm }) })
          await limits.reset('alice', 'gpt-4')
          await limits.acquire(subject)
          cut.isAway = true
          assert.equal(await admitted(limits, 7), 7)
          cut.isAway = false
          assert.equal((await limits.acquire(subject)).degraded, undefined)
          await until(`${algorithm} is charged`, async () => (await remaining(b!.limits)) === 40 - 9)
        })
      }
    },

    async 'an outage that comes again soon brings no second share'(pair) {
      await pods(pair, {}, async ([a, b]) => {
        const { limits, cut } = a!
        await limits.setConfig({ level: 'system', resource: 'gpt-4' }, { limits: rpm() })
        await limits.acquire(subject)
        cut.isAway = true
        assert.equal(await admitted(limits, 20), 10)
        cut.isAway = false
        assert.equal((await limits.acquire(subject)).degraded, undefined)
        await until('it is charged', async () => (await remaining(b!.limits)) === 40 - 12)
        cut.isAway = true
        assert.equal(await admitted(limits, 20), 0)
        cut.isAway = false
        assert.equal((await limits.acquire(subject)).degraded, undefined)
        assert.equal(await remaining(b!.limits), 40 - 13)
      })
    },

    async 'a denial that memory knows stays one'(pair) {
      await pods(pair, { localShare: 1 }, async ([a]) => {
        const { limits, cut } = a!
        await limits.setConfig({ level: 'system', resource: 'gpt-4' }, { limits: rpm() })
        await limits.acquire({ ...subject, consume: { rpm: 40 } })
        assert.equal((await limits.acquire(subject)).allowed, false)
        cut.isAway = true
        assert.equal((await limits.acquire(subject)).allowed, false)
      })
    },

    async 'a cost above the share is denied, and several limits are all or nothing'(pair) {
      await pods(pair, {}, async ([a]) => {
        const { limits, cut } = a!
        const two = { ...rpm(), tpm: { capacity: 400, refillPeriodSeconds: HOUR } }
        await limits.setConfig({ level: 'system', resource: 'gpt-4' }, { limits: two })
        await limits.acquire({ ...subject, consume: { rpm: 1 } })
        cut.isAway = true
        assert.equal(await admitted(limits, 3, { rpm: 11 }), 0)
        assert.equal(await admitted(limits, 4, { rpm: 1, tpm: 40 }), 2)
        assert.equal(await admitted(limits, 20, { rpm: 1 }), 8)
      })
    },

    async 'slots of a concurrency limit are given back to the share'(pair) {
      await pods(pair, {}, async ([a]) => {
        const { limits, cut } = a!
        const slots = rpm({ algorithm: 'concurrency', capacity: 8 })
        await limits.setConfig({ level: 'system', resource: 'gpt-4' }, { limits: slots })
        const before = await limits.acquire(subject)
        assert.ok(before.allowed)
        cut.isAway = true
        const held = await limits.acquire(subject)
        assert.ok(held.allowed && (await limits.acquire(subject)).allowed)
        assert.equal(await admitted(limits, 3), 0)
        assert.deepEqual(await limits.giveBack(held.leaseId), { applied: true })
        assert.deepEqual(await limits.giveBack(held.leaseId), { applied: false })
        assert.equal(await admitted(limits, 3), 1)
      })
    },

    async 'a level says local, and one that is not known blocks'(pair) {
      await pods(pair, { defaults: { onUnavailable: 'allow' } }, async ([a, b]) => {
        const key = { level: 'resource', resource: 'gpt-4' } as const
        await a!.limits.setConfig(key, { limits: rpm(), onUnavailable: 'local' })
        assert.equal((await b!.limits.getConfig(key))?.onUnavailable, 'local')
        assert.equal((await b!.limits.resolveConfig(undefined, 'gpt-4')).levels.onUnavailable, 'resource')
        await a!.limits.acquire(subject)
        a!.cut.isAway = true
        assert.equal(await admitted(a!.limits, 20), 10)
      })
      await pods(pair, {}, async ([a]) => {
        a!.cut.isAway = true
        await assert.rejects(a!.limits.acquire({ entity: 'eve', resource: 'never-asked' }), (error) =>
          isCatracaError(error, 'ENGINE_UNAVAILABLE'),
        )
      })
    },
  },
  {
    async 'n processes never admit more than n shares'(pair) {
      await pods(pair, {}, async (both) => {
        await both[0]!.limits.setConfig({ level: 'system', resource: 'gpt-4' }, { limits: rpm() })
        for (const { limits } of both) await limits.acquire(subject)
        for (const { cut } of both) cut.isAway = true
        const counts = await Promise.all(both.map(({ limits }) => admitted(limits, 50)))
        assert.deepEqual(counts, [10, 10])
      })
    },
  },
)
