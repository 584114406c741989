/** One process of the proof and the measurement of limits: hammers one key as fast as it is answered. */
import { openCatraca } from '../../src/app/open-catraca.js'
import { isCatracaError } from '../../src/core/errors.js'
import type { AcquireAnswer } from '../../src/guards/rate-limit/types.js'
import { dieOfFailures } from './proof.js'

export interface LimitPlan {
  store: string
  seconds: number
  inFlight: number
}

dieOfFailures()
const { store, seconds, inFlight } = JSON.parse(process.argv[2]!) as LimitPlan
const catraca = await openCatraca({ store, sweepIntervalMs: 0 })
await catraca.limits.warmUp()
const end = Date.now() + seconds * 1000
let admitted = 0
let denied = 0
/** Refused because the store did not answer. */
let failed = 0
let firstAt = Number.POSITIVE_INFINITY
let lastAt = 0
async function hammer(): Promise<void> {
  while (Date.now() < end) {
    const askedAt = Date.now()
    const answer = await acquire()
    if (answer === undefined) {
      failed++
      await new Promise((resolve) => setTimeout(resolve, 20))
    } else if (answer.allowed) {
      if (admitted++ === 0) process.send!({ type: 'begun' })
      firstAt = Math.min(firstAt, askedAt)
      lastAt = Math.max(lastAt, Date.now())
    } else {
      denied++
      // Denied in memory until then: without a turn for others this would never end.
      await new Promise((resolve) => setTimeout(resolve, Math.min(answer.retryAfterMs, 20)))
    }
  }
}
async function acquire(): Promise<AcquireAnswer | undefined> {
  try {
    return await catraca.limits.acquire({ entity: 'contested', resource: 'proof' })
  } catch (error) {
    if (isCatracaError(error, 'ENGINE_UNAVAILABLE')) return undefined
    throw error
  }
}
await Promise.all(Array.from({ length: inFlight }, hammer))
const { deniedHere } = catraca.limits.stats()
await catraca.close()
process.send!({ type: 'done', admitted, denied, failed, deniedHere, firstAt, lastAt })
process.disconnect()
