/** One process of the proof and the measurement of limits: hammers one key as fast as it is answered. */
import { openCatraca } from '../../src/catraca.js'
import { dieOfFailures } from './proof.js'

export interface LimitPlan {
  directory: string
  seconds: number
  inFlight: number
}

dieOfFailures()
const { directory, seconds, inFlight } = JSON.parse(process.argv[2]!) as LimitPlan
const catraca = await openCatraca({ store: `embedded:${directory}`, sweepIntervalMs: 0 })
await catraca.limits.warmUp()
const end = Date.now() + seconds * 1000
let admitted = 0
let denied = 0
let firstAt = Number.POSITIVE_INFINITY
let lastAt = 0
async function hammer(): Promise<void> {
  while (Date.now() < end) {
    const askedAt = Date.now()
    const answer = await catraca.limits.acquire({ entity: 'contested', resource: 'proof' })
    if (answer.allowed) {
      admitted++
      firstAt = Math.min(firstAt, askedAt)
      lastAt = Math.max(lastAt, askedAt)
    } else {
      denied++
      // Denied in memory until then: without a turn for others this would never end.
      await new Promise((resolve) => setTimeout(resolve, Math.min(answer.retryAfterMs, 20)))
    }
  }
}
await Promise.all(Array.from({ length: inFlight }, hammer))
const { deniedHere } = catraca.limits.stats()
await catraca.close()
process.send!({ type: 'done', admitted, denied, deniedHere, firstAt, lastAt })
process.disconnect()
