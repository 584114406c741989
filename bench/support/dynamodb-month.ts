import { setTimeout as sleep } from 'node:timers/promises'
import { type Catraca, openCatraca } from '../../src/app/open-catraca.js'
import { CapacityCounts } from '../../src/engines/dynamodb/client/capacity.js'
import { DYNAMODB_PROFILES, type DynamodbProfile } from '../../src/engines/dynamodb/defaults.js'
import { NO_SINK } from '../../src/engines/dynamodb/feed/messages.js'
import { Relay } from '../../src/engines/dynamodb/feed/relay.js'
import { createServer } from '../../src/server/index.js'
import { makeTables } from '../../test/support/dynamodb-engine.js'
import { CREDENTIALS, type DynamoServer, PATIENCE, REGION } from '../../test/support/dynamodb-server.js'
import { lines } from './proof.js'

interface MonthSizes {
  pods: number
  fixed: number
  waves: number
  addsPerSecond: number
  seconds: number
}

export type Units = { read: number; write: number }
/** Units a second, by what they were for. */
export type ByVerb = Record<string, Units>

export interface MonthUnits {
  /** The pod that reads for the others, if they share. */
  leader: ByVerb
  /** One of the others. */
  pod: ByVerb
  relay: ByVerb
  /** For each add: in the pod where it was made, and of the relay for its log entry. */
  add: ByVerb
  log: ByVerb
  /** For each check that the table confirmed, and for each scrape of `/metrics`. */
  confirmed: ByVerb
  scrape: ByVerb
  /** Once in a while: the counts of how often lists were checked. */
  saved: ByVerb
  /** How long after its acknowledgement an add was seen in the memory of each pod. */
  delaysMs: number[]
  /** How old the memory of pods was, looked at now and then. */
  agesMs: number[]
}

interface Pod {
  catraca: Catraca
  counter: CapacityCounts
  close(): Promise<void>
}

const LISTS_OFTEN_MS = 100
const LOOK_MS = 25

/** The source's pods, fewer of them, in one process: they check all lists all the time, while customers are added. */
export async function countMonth(
  server: DynamoServer,
  profile: DynamodbProfile,
  sizes: MonthSizes,
): Promise<MonthUnits> {
  const tables = await makeTables(server)
  const store = server.url(tables.names)
  const relayCounter = new CapacityCounts()
  const relay = new Relay({
    client: server.client({ counter: relayCounter }),
    streams: { region: REGION, endpoint: server.endpoint, credentials: CREDENTIALS },
    tables: tables.names,
    sink: NO_SINK,
    batchMs: (DYNAMODB_PROFILES[profile].dynamodb as { logBatchMs?: number }).logBatchMs ?? 0,
  })
  await relay.start()
  const writer = await openPod(store, profile, false)
  const pods: Pod[] = []
  try {
    const fixed = Array.from({ length: sizes.fixed }, (_, i) => `vip-customers-${i}`)
    const waves = Array.from({ length: sizes.waves }, (_, i) => `new-feature-${i}`)
    await prepare(writer.catraca, fixed, waves)
    for (let i = 0; i < sizes.pods; i++) pods.push(await openPod(store, profile, true))
    const traffic = checkAll(pods, [...fixed, ...waves])
    await until(() => pods.every(({ catraca }) => catraca.indexFigures().lists === fixed.length))
    // Until all pods know who reads for whom.
    const intervalMs = DYNAMODB_PROFILES[profile].membership
    const settleMs = 12_000 + ('compareIntervalMs' in intervalMs ? 2 * intervalMs.compareIntervalMs : 2000)
    await addAll(writer.catraca, pods, fixed, { ...sizes, seconds: settleMs / 1000 })
    for (const { counter } of [...pods, writer, { counter: relayCounter }]) counter.reset()
    const { delaysMs, agesMs, added, seconds } = await addAll(writer.catraca, pods, fixed, sizes)
    const counted = pods.map(({ counter }) => perUnit(counter, seconds))
    const adds = perUnit(writer.counter, added)
    const [relayed, logged] = [perUnit(relayCounter, seconds), perUnit(relayCounter, added, LOG_VERBS)]
    await traffic.end()
    const isLeader = (units: ByVerb) => (units['follow.lead']?.write ?? 0) > 0
    const leader = counted.find(isLeader) ?? counted[0]!
    const others = counted.filter((units) => units !== leader)
    return {
      leader,
      pod: others.length === 0 ? leader : mean(others),
      relay: Object.fromEntries(Object.entries(relayed).filter(([verb]) => !LOG_VERBS.includes(verb))),
      add: adds,
      log: logged,
      confirmed: await confirmedUnits(pods[0]!, fixed[0]!),
      scrape: await scrapeUnits(pods[0]!),
      saved: await savedUnits(pods.pop()!),
      delaysMs: delaysMs.sort((a, b) => a - b),
      agesMs: agesMs.sort((a, b) => a - b),
    }
  } finally {
    for (const pod of pods) await pod.close()
    await writer.close()
    await relay.stop()
  }
}

/** A slow machine must not make memory stale: then checks would read the table. Intervals are those of the profile. */
const PATIENT = { staleAfterMs: 120_000 }
const BUILD_LEASE_MS = 1000
const LOG_VERBS = ['feed.append', 'feed.list', 'feed.members', 'feed.head']

async function openPod(store: string, profile: DynamodbProfile, isServing: boolean): Promise<Pod> {
  const counter = new CapacityCounts()
  const catraca = await openCatraca({
    store,
    dynamodb: { ...PATIENCE, ...PATIENT, credentials: CREDENTIALS, counter, profile, checkTables: false },
    membership: {
      ...PATIENT,
      build: 'off',
      buildLeaseMs: BUILD_LEASE_MS,
      ...(!isServing && { maxBytes: 0 }),
    },
    ...(isServing ? { fleet: { announce: true } } : { sweepIntervalMs: 0 }),
  })
  if (!isServing) return { catraca, counter, close: () => catraca.close() }
  const app = await createServer(catraca, {})
  await app.ready()
  // From the first use on a pod follows revoked tokens, changes of limits, and notices of caches.
  await catraca.tokens.check({ jti: 'some-token' })
  await catraca.limits.status('somebody', 'some-model').catch(() => {})
  await catraca.cache.space({ name: 'some-space', ttlMs: 60_000 }).get('some-key')
  return {
    catraca,
    counter,
    async close() {
      await app.close()
      await catraca.close()
    },
  }
}

async function prepare({ allowlists, upkeep }: Catraca, fixed: string[], waves: string[]): Promise<void> {
  const config = { strategy: 'PERCENTAGE', percentage: 0.5 } as const
  await Promise.all([
    ...fixed.map((id) => allowlists.create({ id, name: id, type: 'FIXA' })),
    ...waves.map((id) => allowlists.create({ id, name: id, type: 'ONDA', config })),
  ])
  await Promise.all(fixed.map((id) => allowlists.add(id, 'somebody')))
  for (const id of fixed) await allowlists.rebuild(id)
  await sleep(2 * BUILD_LEASE_MS)
  await upkeep()
}

function checkAll(pods: readonly Pod[], ids: readonly string[]): { end(): Promise<void> } {
  let isOver = false
  const loops = pods.map(async ({ catraca }) => {
    while (!isOver) {
      await catraca.allowlists.check('nobody', [...ids])
      await sleep(LISTS_OFTEN_MS)
    }
  })
  return {
    async end() {
      isOver = true
      await Promise.all(loops)
    },
  }
}

/** Adds customers in even steps, and looks in the memory of every pod when each arrives there. */
async function addAll(
  { allowlists }: Catraca,
  pods: readonly Pod[],
  fixed: readonly string[],
  { addsPerSecond, seconds }: Pick<MonthSizes, 'addsPerSecond' | 'seconds'>,
): Promise<{ delaysMs: number[]; agesMs: number[]; added: number; seconds: number }> {
  const delaysMs: number[] = []
  const agesMs: number[] = []
  const ticks = timerSeconds()
  const begin = performance.now()
  const writes: Promise<void>[] = []
  const base = Math.floor(Math.random() * 2 ** 40)
    .toString(16)
    .padStart(12, '0')
  let added = 0
  const write = async (i: number): Promise<void> => {
    const listId = fixed[Math.floor(Math.random() * fixed.length)]!
    const customerId = `${i.toString(16).padStart(8, '0')}-0000-4000-8000-${base}`
    await allowlists.add(listId, customerId)
    added++
    pending.push({ listId, customerId, ackedMs: performance.now(), unseen: new Set(pods) })
  }
  const pending: { listId: string; customerId: string; ackedMs: number; unseen: Set<Pod> }[] = []
  let isOver = false
  const looking = (async () => {
    while (!isOver) {
      for (const one of pending) {
        for (const pod of one.unseen) {
          const { overallAllowed } = await pod.catraca.allowlists.check(one.customerId, [one.listId])
          if (!overallAllowed) continue
          one.unseen.delete(pod)
          delaysMs.push(performance.now() - one.ackedMs)
        }
      }
      for (let i = pending.length - 1; i >= 0; i--) if (pending[i]!.unseen.size === 0) pending.splice(i, 1)
      agesMs.push(...pods.map(({ catraca }) => catraca.indexFigures().feedLagMs))
      await sleep(LOOK_MS)
    }
  })()
  for (let i = 0; performance.now() < begin + 1000 * seconds; await sleep(5)) {
    while (i < ((performance.now() - begin) / 1000) * addsPerSecond) writes.push(write(i++))
  }
  const lasted = ticks.seconds()
  await Promise.all(writes)
  isOver = true
  await looking
  return { delaysMs, agesMs, added, seconds: lasted }
}

const TICK_MS = 1000
/** Checks do not wait for timers, so a large correction would count them too often. */
const SLOWEST = 0.8

/**
 * Seconds as timers of this process live them: where a busy machine delays them all, work at intervals is done less
 * often in a second.
 */
function timerSeconds(): { seconds(): number } {
  let count = 0
  const begin = performance.now()
  const timer = setInterval(() => count++, TICK_MS)
  return {
    seconds() {
      clearInterval(timer)
      return Math.max(count * TICK_MS, SLOWEST * (performance.now() - begin)) / 1000
    },
  }
}

function perUnit(counter: CapacityCounts, count: number, verbs?: readonly string[]): ByVerb {
  const sums: ByVerb = {}
  for (const { verb, readUnits, writeUnits } of counter.rows()) {
    if (verbs !== undefined && !verbs.includes(verb)) continue
    const sum = (sums[verb] ??= { read: 0, write: 0 })
    sum.read += readUnits / count
    sum.write += writeUnits / count
  }
  return sums
}

function mean(all: readonly ByVerb[]): ByVerb {
  const sums: ByVerb = {}
  for (const one of all) {
    for (const [verb, { read, write }] of Object.entries(one)) {
      const sum = (sums[verb] ??= { read: 0, write: 0 })
      sum.read += read / all.length
      sum.write += write / all.length
    }
  }
  return sums
}

const CONFIRMED = 40

async function confirmedUnits({ catraca, counter }: Pod, listId: string): Promise<ByVerb> {
  const ids = Array.from({ length: CONFIRMED }, (_, i) => `confirmed-${i}`)
  await catraca.allowlists.import(listId, lines(ids), { format: 'text' })
  await catraca.allowlists.rebuild(listId)
  counter.reset()
  const before = catraca.checkCounts.confirmed
  for (const id of ids) await catraca.allowlists.check(id, [listId])
  return perUnit(counter, Math.max(1, catraca.checkCounts.confirmed - before), ['allowlist.check'])
}

async function savedUnits(pod: Pod): Promise<ByVerb> {
  pod.counter.reset()
  await pod.close()
  return perUnit(pod.counter, 1, ['allowlist.uses'])
}

async function scrapeUnits({ catraca, counter }: Pod): Promise<ByVerb> {
  counter.reset()
  await catraca.health({ maxAgeMs: 0 })
  return perUnit(counter, 1, ['health'])
}

async function until(holds: () => boolean): Promise<void> {
  for (const endsAt = performance.now() + 60_000; !holds(); await sleep(20)) {
    if (performance.now() > endsAt) throw new Error('the pods did not load all lists within a minute')
  }
}
