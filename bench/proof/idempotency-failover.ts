/**
 * The primary behind Sentinels is killed while many claim and complete. What was acknowledged and is gone afterwards is
 * counted, not hidden: by an asynchronous failover, by one whose replicas were cut off for a moment before, and with
 * `waitReplicas`, where it must be none. Whatever is there must be whole, no call
 * may last beyond its timeout, and no claim may be given twice while it is remembered.
 * Arguments: --inFlight 32 --killAfterMs 1500 --cutMs 150 --goOnMs 4000 --commandTimeoutMs 2000
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { isCatracaError } from '../../src/core/errors.js'
import { openRedis, type RedisEngine } from '../../src/engines/redis/index.js'
import type { Completion } from '../../src/guards/idempotency/port.js'
import type { RecordKey } from '../../src/guards/idempotency/types.js'
import { startSentinel } from '../../test/support/redis/index.js'
import { demand, type Figures, whenStarted } from '../support/proof.js'

const SIZES = { inFlight: 32, killAfterMs: 1500, cutMs: 150, goOnMs: 4000, commandTimeoutMs: 2000 }
type Sizes = typeof SIZES

const LATE_MS = 1500
const RECOVERY_MS = 20_000
const READS = 256
/** Without a server calls fail at once, and whoever repeats them at once leaves no time for anything else. */
const PAUSE_MS = 20
const owner = (i: number): string => i.toString(16).padStart(64, '0')
const keyOf = (i: number): RecordKey => ({ operation: 'PRODUCE', key: `key-${i}` })
const answerOf = (i: number): Completion => ({ response: { encoding: 'json', text: `{"i":${i}}` } })

interface Log {
  claimed: number[]
  completed: number[]
  failures: number
}

export async function run(sizes: Sizes): Promise<Figures> {
  return {
    ...(await once({ ...sizes, cutMs: 0 }, 'asynchronous', {})),
    ...(await once(sizes, 'asynchronous, replicas cut off', {})),
    ...(await once(sizes, 'waitReplicas 1, replicas cut off', WAITING)),
  }
}

const WAITING = { waitReplicas: { replicas: 1, timeoutMs: 500 } }

async function once(sizes: Sizes, name: string, options: object): Promise<Figures> {
  const servers = await startSentinel()
  const engine = await openRedis(servers.url, { commandTimeoutMs: sizes.commandTimeoutMs, ...options })
  try {
    const log: Log = { claimed: [], completed: [], failures: 0 }
    let isOver = false
    let next = 0
    const worker = async () => {
      while (!isOver) await one(engine, next++, log, sizes.commandTimeoutMs)
    }
    const working = Promise.all(Array.from({ length: sizes.inFlight }, worker))
    await sleep(sizes.killAfterMs)
    const [primary] = await servers.primaries()
    const replicas = servers.servers.filter((server) => server !== primary)
    if (sizes.cutMs > 0) {
      // Stopped they cannot come back at once, so they never hear what is written from here on.
      for (const replica of replicas) replica.pause()
      await primary!.say('CLIENT', 'KILL', 'TYPE', 'replica')
      await sleep(sizes.cutMs)
    }
    await primary!.kill()
    for (const replica of replicas) replica.resume()
    await sleep(sizes.goOnMs)
    isOver = true
    await working
    await untilItAnswers(engine)
    const lost = await lostOf(engine, log)
    const isWaiting = 'waitReplicas' in options
    const lostAny = lost['claims lost'] + lost['completions lost']
    demand(!isWaiting || lostAny === 0, `${lostAny} were lost that a replica had confirmed`)
    const figures = {
      claimed: log.claimed.length,
      completed: log.completed.length,
      'calls that failed': log.failures,
      ...lost,
    }
    return Object.fromEntries(Object.entries(figures).map(([what, value]) => [`${name}: ${what}`, value]))
  } finally {
    await engine.close()
    await servers.stop()
  }
}

/** Every other request stays in progress, so that lost claims are seen too. */
async function one({ idempotency }: RedisEngine, i: number, log: Log, timeoutMs: number): Promise<void> {
  const begin = performance.now()
  const terms = { requestHash: 'a1'.repeat(32), leaseMs: 600_000, lifeMs: 3_600_000, takesOver: false }
  try {
    const { outcome } = await idempotency.claim({ key: keyOf(i), owner: owner(i), ...terms }, 0)
    demand(outcome === 'claimed', `a key that nobody else asks for was ${outcome}`)
    log.claimed.push(i)
    if (i % 2 === 1) return
    // Its claim may have been lost by the failover, and then it is told so.
    if ((await idempotency.complete(keyOf(i), owner(i), answerOf(i), 0)) === 'done') log.completed.push(i)
  } catch (error) {
    demand(isCatracaError(error), `not one of ours: ${String(error)}`)
    log.failures++
    const tookMs = performance.now() - begin
    demand(tookMs < 2 * timeoutMs + LATE_MS, `a call took ${Math.round(tookMs)} ms`)
    await sleep(PAUSE_MS)
  }
}

/** On a busy machine Sentinels may need longer to agree on another primary than the calls went on. */
async function untilItAnswers({ idempotency }: RedisEngine): Promise<void> {
  for (const begin = performance.now(); ; await sleep(PAUSE_MS)) {
    try {
      await idempotency.read(keyOf(0), 0)
      return
    } catch (error) {
      demand(performance.now() - begin < RECOVERY_MS, `no primary answers: ${String(error)}`)
    }
  }
}

async function lostOf({ idempotency }: RedisEngine, { claimed, completed }: Log) {
  const lost = { 'claims lost': 0, 'completions lost': 0 }
  const done = new Set(completed)
  const look = async (i: number): Promise<void> => {
    const record = await idempotency.read(keyOf(i), 0)
    if (record === undefined) lost['claims lost']++
    if (!done.has(i)) return
    if (record?.status !== 'COMPLETED') lost['completions lost']++
    else demand(isDeepStrictEqual(record.response, answerOf(i).response), `${i}: another answer`)
  }
  for (let from = 0; from < claimed.length; from += READS) {
    await Promise.all(claimed.slice(from, from + READS).map(look))
  }
  return lost
}

await whenStarted(import.meta.url, 'idempotency-failover', SIZES, run)
