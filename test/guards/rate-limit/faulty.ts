import type { TestContext } from 'node:test'
import { ManualClock } from '../../../src/core/clock.js'
import { CatracaError } from '../../../src/core/errors.js'
import { openEmbedded } from '../../../src/engines/embedded/index.js'
import { RateLimits } from '../../../src/guards/rate-limit/index.js'
import { DEFAULT_LIMITS, type LimitOptions } from '../../../src/guards/rate-limit/options.js'
import type { LimitConfigStore, LimitStore } from '../../../src/guards/rate-limit/port.js'
import { PATIENCE_MS } from '../../support/patient.js'

export const subject = { entity: 'user-1', resource: 'gpt-4' }
const perHour = { capacity: 10, refillAmount: 10, refillPeriodSeconds: 3600 }

type Fault = () => Promise<unknown>

/** Limits over a real engine that can be told to fail, or to wait, before it is asked or before it answers. */
export async function openFaulty(t: TestContext, options: Partial<LimitOptions> = {}) {
  const engine = openEmbedded()
  const fault: { take?: Fault; answer?: Fault; config?: Fault } = {}
  const { counters, configs } = engine.limits
  const faultyCounters = Object.assign(Object.create(counters) as LimitStore, {
    take: async (...args: Parameters<LimitStore['take']>) => {
      await fault.take?.()
      const taken = await counters.take(...args)
      await fault.answer?.()
      return taken
    },
    adjust: async (...args: Parameters<LimitStore['adjust']>) => {
      const outcome = await counters.adjust(...args)
      await fault.answer?.()
      return outcome
    },
  })
  const faultyConfigs = Object.assign(Object.create(configs) as LimitConfigStore, {
    read: async (...args: Parameters<LimitConfigStore['read']>) => {
      await fault.config?.()
      return configs.read(...args)
    },
  })
  const clock = new ManualClock(Date.UTC(2030, 0, 1))
  const steadyClock = new ManualClock(clock.now())
  const limits = new RateLimits({
    engine: { ...engine.limits, counters: faultyCounters, configs: faultyConfigs },
    clock,
    steadyClock,
    options: { ...DEFAULT_LIMITS, timeoutMs: PATIENCE_MS, usageFlushMs: 0, ...options },
    report: () => {},
  })
  t.after(async () => {
    await limits.close()
    await engine.close()
  })
  await limits.setConfig({ level: 'system', resource: 'gpt-4' }, { limits: { rpm: perHour } })
  const down = () => Promise.reject(new CatracaError('ENGINE_UNAVAILABLE', 'down'))
  return { limits, fault, down, clock, steadyClock }
}
