/**
 * A pod of the proof of faults: asks at a steady rate about customers whose answer is known, and tells what it saw.
 * Arguments: the store URL, checks per second, timeouts of commands and of connecting in ms.
 */
import { openCatraca } from '../../src/app/open-catraca.js'
import { customer } from '../../src/conformance/support.js'
import { isCatracaError } from '../../src/core/errors.js'
import { dieOfFailures } from './proof.js'

export interface Seen {
  type: 'seen'
  checks: number
  /** Answers that were never right, whatever failed. */
  wrong: number
  errors: number
  slowestMs: number
  unexpected: string[]
}

/** `empty`: what was stored is gone, so from now on nobody may be let in, after the time an image may be stale. */
export type ToChecker =
  | { type: 'tell' }
  | { type: 'calm' }
  | { type: 'ask'; ids: string[] }
  | { type: 'empty' }
  | { type: 'end' }
export type FromChecker =
  | { type: 'ready' }
  | Seen
  /** Without an error, and without anybody waiting, since so long. */
  | { type: 'calm'; ms: number }
  | { type: 'answers'; allowed: (boolean | string)[] }

/** Members 0 to STABLE never change. */
export const STABLE = 5000

const [store, perSecond, commandTimeoutMs, connectTimeoutMs] = process.argv.slice(2)
const TICK_MS = 5
const STALE_AFTER_MS = 1500
const STOPPED_MS = 1000
/** A check that takes so long is waiting for a server that is in trouble. */
const LONG_MS = 300

export async function main(): Promise<void> {
  dieOfFailures()
  const catraca = await openCatraca({
    store: store!,
    sweepIntervalMs: 0,
    membership: { staleAfterMs: STALE_AFTER_MS, compareIntervalMs: 300 },
    redis: { commandTimeoutMs: Number(commandTimeoutMs), connectTimeoutMs: Number(connectTimeoutMs) },
  })
  const fresh = (): Seen => ({
    ...{ type: 'seen', checks: 0, wrong: 0, errors: 0, slowestMs: 0, unexpected: [] },
  })
  let seen = fresh()
  let troubledMs = performance.now()
  /** When the checks began that have no answer yet. */
  const waiting = new Set<number>()
  let emptyFromMs = Number.POSITIVE_INFINITY
  let ended = false
  let lastTickMs = performance.now()
  let awakeSinceMs = 0
  let i = 0

  const check = async (): Promise<void> => {
    const member = i++ % 2 === 0
    const id = customer(member ? i % STABLE : STABLE + 1_000_000 + (i % STABLE))
    const beginMs = performance.now()
    waiting.add(beginMs)
    try {
      const { overallAllowed } = await catraca.allowlists.check(id, ['a'])
      const known = beginMs < emptyFromMs ? member : false
      const uncertain = emptyFromMs !== Number.POSITIVE_INFINITY && beginMs < emptyFromMs + STALE_AFTER_MS
      if (overallAllowed !== known && !uncertain) seen.wrong++
    } catch (error) {
      seen.errors++
      troubledMs = performance.now()
      if (!isCatracaError(error, 'ENGINE_UNAVAILABLE')) seen.unexpected.push(String(error))
    }
    waiting.delete(beginMs)
    if (performance.now() - beginMs > LONG_MS) troubledMs = performance.now()
    seen.checks++
    // The time in which the whole process was stopped is not the product's.
    if (beginMs >= awakeSinceMs && performance.now() - lastTickMs < STOPPED_MS)
      seen.slowestMs = Math.max(seen.slowestMs, performance.now() - beginMs)
  }

  const calmMs = (): number => {
    const [longest = Number.POSITIVE_INFINITY] = waiting
    return performance.now() - longest > LONG_MS ? 0 : performance.now() - troubledMs
  }

  const ask = async (ids: string[]): Promise<(boolean | string)[]> => {
    const allowed: (boolean | string)[] = []
    for (const id of ids) {
      try {
        allowed.push((await catraca.allowlists.check(id, ['a'])).overallAllowed)
      } catch (error) {
        allowed.push(String(error))
      }
    }
    return allowed
  }

  process.on('message', async (message: ToChecker) => {
    const say = (told: FromChecker) => process.send!(told)
    if (message.type === 'tell') {
      say(seen)
      seen = fresh()
    } else if (message.type === 'calm') say({ type: 'calm', ms: calmMs() })
    else if (message.type === 'ask') say({ type: 'answers', allowed: await ask(message.ids) })
    else if (message.type === 'empty') emptyFromMs = performance.now()
    else ended = true
  })

  await catraca.allowlists.check(customer(1), ['a'])
  while ((await catraca.allowlists.index('a')).state !== 'loaded')
    await new Promise((resolve) => setTimeout(resolve, 10))
  process.send!({ type: 'ready' } satisfies FromChecker)

  let doneAtMs = performance.now()
  while (!ended) {
    const nowMs = performance.now()
    if (nowMs - lastTickMs >= STOPPED_MS) awakeSinceMs = nowMs
    lastTickMs = nowMs
    // After a stop of the process only the present counts, not what was missed.
    const due = Math.min(100, Math.floor(((nowMs - doneAtMs) / 1000) * Number(perSecond)))
    if (due > 0) doneAtMs = nowMs
    for (let n = 0; n < due; n++) void check()
    await new Promise((resolve) => setTimeout(resolve, TICK_MS))
  }
  await catraca.close()
  process.disconnect()
}

if (process.send !== undefined) await main()
