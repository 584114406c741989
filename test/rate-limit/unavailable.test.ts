import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { systemClock } from '../../src/clock.js'
import { openEmbedded } from '../../src/engines/embedded/index.js'
import { CatracaError } from '../../src/errors.js'
import { RateLimits } from '../../src/rate-limit/limits.js'
import { DEFAULT_LIMITS, type LimitOptions } from '../../src/rate-limit/options.js'
import type { LimitStore } from '../../src/rate-limit/port.js'

const perHour = { capacity: 10, refillAmount: 10, refillPeriodSeconds: 3600 }
const subject = { entity: 'user-1', resource: 'gpt-4' }

/** Limits over a real engine whose counters can be told to fail, or to wait. */
async function open(t: TestContext, options: Partial<LimitOptions> = {}) {
  const engine = openEmbedded()
  const fault: { take?: () => Promise<unknown>; config?: () => Promise<unknown> } = {}
  const { counters, configs } = engine.limits
  const faulty = Object.assign(Object.create(counters) as LimitStore, {
    take: async (...args: Parameters<LimitStore['take']>) => {
      await fault.take?.()
      return counters.take(...args)
    },
  })
  const limits = new RateLimits({
    engine: { ...engine.limits, counters: faulty, configs },
    clock: systemClock,
    options: { ...DEFAULT_LIMITS, usageFlushMs: 0, ...options },
    report: () => {},
  })
  t.after(async () => {
    await limits.close()
    await engine.close()
  })
  await limits.setConfig({ level: 'system', resource: 'gpt-4' }, { limits: { rpm: perHour } })
  const down = () => Promise.reject(new CatracaError('ENGINE_UNAVAILABLE', 'down'))
  return { limits, fault, down }
}

const allow = { level: 'entity', identifier: 'user-1', resource: 'gpt-4' } as const

describe('an engine that does not answer', () => {
  it('blocks by default, with an error that is no denial', async (t) => {
    const { limits, fault, down } = await open(t)
    fault.take = down
    await assert.rejects(limits.acquire(subject), { code: 'ENGINE_UNAVAILABLE' })
    assert.deepEqual([limits.stats().degradedBlocked, limits.stats().denied], [1, 0])
  })

  it('lets pass where a level says so, and tells', async (t) => {
    const { limits, fault, down } = await open(t)
    await limits.setConfig(allow, { limits: {}, onUnavailable: 'allow' })
    fault.take = down
    const answer = await limits.acquire(subject)
    assert.deepEqual(answer, { allowed: true, degraded: true, leaseId: 'none', limits: {} })
    assert.equal(limits.stats().degradedAllowed, 1)
    assert.deepEqual(await limits.giveBack('none'), { applied: true })
    await assert.rejects(limits.acquire({ ...subject, entity: 'user-2' }), { code: 'ENGINE_UNAVAILABLE' })
    await assert.rejects(limits.acquire({ ...subject, consume: { rpm: 11 } }), { code: 'INVALID_INPUT' })
  })

  it('counts as one when it takes too long, and what it then takes for nobody is given back', async (t) => {
    const { limits, fault } = await open(t, { timeoutMs: 300 })
    await limits.warmUp()
    await limits.acquire(subject)
    let goOn = () => {}
    fault.take = () =>
      new Promise<void>((resolve) => {
        goOn = resolve
      })
    await assert.rejects(limits.acquire({ ...subject, consume: { rpm: 5 } }), { code: 'ENGINE_UNAVAILABLE' })
    fault.take = () => Promise.resolve()
    goOn()
    const deadline = performance.now() + 3000
    const left = async () => (await limits.status('user-1', 'gpt-4')).limits.rpm!.remaining
    let seen = await left()
    while (seen !== 9) {
      assert.ok(performance.now() < deadline, `${seen} left`)
      await new Promise((resolve) => setTimeout(resolve, 5))
      seen = await left()
    }
  })

  it('does not hide mistakes of the caller or of the program', async (t) => {
    const { limits, fault } = await open(t, { defaults: { onUnavailable: 'allow' } })
    fault.take = () => Promise.reject(new TypeError('a mistake'))
    await assert.rejects(limits.acquire(subject), TypeError)
  })
})
