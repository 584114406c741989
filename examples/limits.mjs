// Rate limits: two limits at once, a premium customer, a lease that is corrected, and a denial.
import { ManualClock, openCatraca } from 'catraca'

const clock = new ManualClock(Date.UTC(2030, 0, 1))
const catraca = await openCatraca({ store: 'memory:', clock })
const { limits } = catraca

await limits.setConfig(
  { level: 'system', resource: 'gpt-4' },
  {
    limits: {
      rpm: { capacity: 3, refillPeriodSeconds: 60 },
      tpm: { capacity: 1000, refillPeriodSeconds: 60 },
    },
  },
)
await limits.setConfig(
  { level: 'entity', identifier: 'premium-1', resource: 'gpt-4' },
  { limits: { tpm: { capacity: 9000 } } },
)

const ask = (entity, tpm) => limits.acquire({ entity, resource: 'gpt-4', consume: { rpm: 1, tpm } })

const first = await ask('user-1', 800)
console.log(`user-1: ${first.limits.tpm.remaining} tokens and ${first.limits.rpm.remaining} requests left`)

const second = await ask('user-1', 400)
console.log(`again: ${second.violations[0].limit} is used up, ${second.retryAfterMs} ms to wait`)

// The call took less than it had asked for.
await limits.adjust(first.leaseId, { tpm: -500 })
const third = await ask('user-1', 400)
console.log(`corrected: ${third.allowed}, ${third.limits.tpm.remaining} tokens left`)

const premium = await ask('premium-1', 8000)
console.log(`premium-1: ${premium.limits.tpm.remaining} of ${premium.limits.tpm.limit} tokens left`)

clock.advance(60_000)
const later = await limits.status('user-1', 'gpt-4')
console.log(`a minute later: ${later.limits.tpm.remaining} tokens, ${later.limits.rpm.remaining} requests`)

const resolved = await limits.resolveConfig('premium-1', 'gpt-4')
const { capacity, refillPeriodSeconds } = resolved.levels.limits.tpm
console.log(`capacity comes from ${capacity}, the period from ${refillPeriodSeconds}`)
await catraca.close()
