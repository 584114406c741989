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
  loadMs: number
  /** Of processor time for each call, or for each second of rest. */
  micros: number
  /** Beyond what the process had before it opened the store. */
  bytes: number
}

const IN_FLIGHT = 64
const WARM_UP_SHARE = 0.2

dieOfFailures()
const { store, work, amount, members, lists } = JSON.parse(process.argv[2]!) as GrowthPlan
const bytesBefore = anonymousBytes('self') ?? 0
const begin = performance.now()
const catraca = await openCatraca({ store, sweepIntervalMs: 0 })
await catraca.ready
const loadMs = performance.now() - begin
const CALLS = { check, acquire: (i: number) => acquire(i), follow: touch }

async function check(i: number): Promise<void> {
  const isMember = i % 2 === 0
  const place = Math.floor(Math.random() * members)
  const id = isMember ? `customer-${place}` : `stranger-${place}`
  const { overallAllowed } = await catraca.allowlists.check(id, ['list-0'])
  demand(overallAllowed === isMember, `${id}: the check says ${overallAllowed}`)
}

async function acquire(i: number): Promise<void> {
  await catraca.limits.acquire({ entity: `user-${i % 10_000}`, resource: 'growth' })
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
  micros = (await processorMicros(() => run(amount, CALLS[work]))) / amount
}
const bytes = (anonymousBytes('self') ?? 0) - bytesBefore
await catraca.close()
process.send!({ type: 'done', loadMs, micros, bytes } satisfies GrowthTold)
process.disconnect()
