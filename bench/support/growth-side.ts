/** One process of the proof of growth: a pod that opens a store, works, and tells what that cost. */
import { setTimeout as sleep } from 'node:timers/promises'
import { openCatraca } from '../../src/app/open-catraca.js'
import { anonymousBytes } from './memory.js'
import { demand, dieOfFailures } from './proof.js'

export interface GrowthPlan {
  store: string
  work: 'check' | 'acquire' | 'follow'
  /** Calls, or for `follow` milliseconds of rest. */
  amount: number
  members: number
  lists: number
}
export interface GrowthTold {
  type: 'done'
  /** Until the lists are in memory. */
  loadMs: number
  /** Of processor time for each call, or for each second of rest. */
  micros: number
  /** Beyond what the process had before it opened the store. */
  bytes: number
}

const IN_FLIGHT = 64
const WARM_UP_SHARE = 0.2
const ENTITIES = 10_000
const PAST_MEMORY_SHARE = 0.02
/** No figure of a busy machine may become one of degraded answers. */
const PATIENCE_MS = 60_000
const LOAD_TIMEOUT_MS = 120_000

dieOfFailures()
const { store, work, amount, members, lists } = JSON.parse(process.argv[2]!) as GrowthPlan
/** Without a relay, no image of a list on DynamoDB is known to be fresh, so the table answers. */
const hasFeed = !store.startsWith('dynamodb:')
const bytesBefore = anonymousBytes('self') ?? 0
const begin = performance.now()
const catraca = await openCatraca({ store, sweepIntervalMs: 0, limits: { timeoutMs: PATIENCE_MS } })
await catraca.ready
if (work !== 'acquire' && hasFeed) for (let i = 0; i < lists; i++) await loaded(`list-${i}`)
const loadMs = performance.now() - begin
const CALLS = { check, acquire: (i: number) => acquire(i), follow: touch }

/** Without an image in memory the store would answer, and the figures would be those of the store. */
async function loaded(list: string): Promise<void> {
  for (const until = performance.now() + LOAD_TIMEOUT_MS; ; await sleep(5)) {
    await catraca.allowlists.check('customer-0', [list])
    if ((await catraca.allowlists.index(list)).state === 'loaded') return
    demand(performance.now() < until, `${list} is not in memory after ${LOAD_TIMEOUT_MS} ms`)
  }
}

/** How many of the lookups the store answered because no image in memory could. */
const pastMemory = (): number => catraca.stats().checks.store

async function check(i: number): Promise<void> {
  const isMember = i % 2 === 0
  const place = Math.floor(Math.random() * members)
  const id = isMember ? `customer-${place}` : `stranger-${place}`
  const { overallAllowed } = await catraca.allowlists.check(id, ['list-0'])
  demand(overallAllowed === isMember, `${id}: the check says ${overallAllowed}`)
}

async function acquire(i: number): Promise<void> {
  const answer = await catraca.limits.acquire({ entity: `user-${i % ENTITIES}`, resource: 'growth' })
  demand(answer.allowed && !('degraded' in answer), 'an acquire was not admitted by the store')
}

/** A pod follows the lists that it was asked for. */
async function touch(i: number): Promise<void> {
  const { overallAllowed } = await catraca.allowlists.check('customer-0', [`list-${i}`])
  demand(overallAllowed, `list-${i} lacks its first member`)
}

async function run(count: number, call: (i: number) => Promise<void>): Promise<void> {
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < count) await call(next++)
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, lane))
}

async function processorMicros(of: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage()
  await of()
  const { user, system } = process.cpuUsage(before)
  return user + system
}

let micros: number
if (work === 'follow') {
  await run(lists, CALLS.follow)
  micros = ((await processorMicros(() => sleep(amount))) * 1000) / amount
} else {
  await run(amount * WARM_UP_SHARE, CALLS[work])
  const before = pastMemory()
  micros = (await processorMicros(() => run(amount, CALLS[work]))) / amount
  // A pod that stood still asks the store until its images are fresh again.
  const past = pastMemory() - before
  demand(
    !hasFeed || past <= amount * PAST_MEMORY_SHARE,
    `${past} of ${amount} checks were not answered from memory: ${store}`,
  )
}
const bytes = (anonymousBytes('self') ?? 0) - bytesBefore
await catraca.close()
process.send!({ type: 'done', loadMs, micros, bytes } satisfies GrowthTold)
process.disconnect()
