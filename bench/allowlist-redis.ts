/**
 * Allowlists on Redis against what the same client does without them, in one run.
 * Arguments: --rounds 5 --seconds 2 --members 200000 --importRows 1000000
 */
import { createClient } from '@redis/client'
import { type Catraca, openCatraca } from '../src/app/open-catraca.js'
import { commandCounts, type RedisServers, startSingle } from '../test/support/redis/index.js'
import { numberArguments } from './support/arguments.js'
import { randomUuids, uuidAt, uuidLines, uuidStrings } from './support/customers.js'
import { importRaw } from './support/redis-raw-import.js'
import { median, report } from './support/report.js'

const { values } = numberArguments({ rounds: 5, seconds: 2, members: 200_000, importRows: 1_000_000 })
const { rounds, seconds, members, importRows } = values

type Ask = (i: number) => unknown

/** Calls a second, with so many on their way at any time. */
async function rate(ask: Ask, inFlight: number): Promise<number> {
  const begin = performance.now()
  const end = begin + 1000 * seconds
  let done = 0
  const loop = async (): Promise<void> => {
    while (performance.now() < end) {
      await ask(done)
      done++
    }
  }
  await Promise.all(Array.from({ length: inFlight }, loop))
  return done / ((performance.now() - begin) / 1000)
}

/** For answers that need no waiting: a turn of the event loop now and then. */
async function rateInMemory(ask: Ask): Promise<number> {
  const begin = performance.now()
  const end = begin + 1000 * seconds
  let done = 0
  while (performance.now() < end) {
    for (let n = 0; n < 1000; n++) ask(done++)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return done / ((performance.now() - begin) / 1000)
}

/** Each in turn, round by round, so that a noisy moment harms all alike. */
async function compare(measured: Record<string, () => Promise<number>>): Promise<Record<string, number>> {
  const seen = Object.fromEntries(Object.keys(measured).map((name) => [name, [] as number[]]))
  for (let round = 0; round < rounds; round++) {
    for (const [name, measure] of Object.entries(measured)) seen[name]!.push(await measure())
  }
  return Object.fromEntries(Object.entries(seen).map(([name, all]) => [name, median(all)]))
}

const known = randomUuids(members)
const unknown = randomUuids(members)
const member = (i: number): string => uuidAt(known, i % members)
const stranger = (i: number): string => uuidAt(unknown, i % members)

async function filled(store: string): Promise<Catraca> {
  const catraca = await openCatraca({
    store,
    sweepIntervalMs: 0,
    membership: { verificationEntries: 0 },
  })
  for (const [id, precision] of [
    ['exact', 'exact'],
    ['trusted', 'trusted'],
  ] as const) {
    await catraca.allowlists.create({ id, name: id, type: 'FIXA', precision })
    await catraca.allowlists.import(id, streamed(known), { format: 'text' })
    await catraca.allowlists.rebuild(id)
    await catraca.allowlists.check(member(0), [id])
  }
  return catraca
}

/** Checks that a warm index answers, and what they cost Redis. */
async function callsOf(redis: RedisServers, ask: Ask): Promise<number> {
  const [server] = redis.servers
  await server!.say('CONFIG', 'RESETSTAT')
  for (let i = 0; i < 50_000; i++) await ask(i)
  const counts = await commandCounts(server!)
  const reads = ['sismember', 'smismember', 'hmget', 'hget', 'evalsha', 'evalsha_ro']
  // What keeps images fresh goes on meanwhile: a few reads a second, not one for each check.
  return reads.reduce((sum, name) => sum + (counts.get(name) ?? 0), 0) / 50_000
}

async function* streamed(uuids: Buffer): AsyncGenerator<Uint8Array> {
  yield* uuidLines(uuids)
}

async function importRate(store: string, imports: Buffer): Promise<number> {
  const catraca = await openCatraca({ store, sweepIntervalMs: 0, membership: { maxBytes: 0 } })
  await catraca.allowlists.create({ id: 'imported', name: 'imported', type: 'FIXA' })
  const begin = performance.now()
  await catraca.allowlists.import('imported', streamed(imports), { format: 'text' })
  const perSecond = importRows / ((performance.now() - begin) / 1000)
  await catraca.close()
  return perSecond
}

const redis = await startSingle()
const client = createClient({ url: redis.storeUrl, RESP: 3 })
/** Without the timeout of the client, which costs most of its speed; the engine keeps its own. */
const tuned = createClient({ url: redis.storeUrl, RESP: 3, commandOptions: { timeout: 0 } })
await Promise.all([client.connect(), tuned.connect()])
try {
  const onRedis = await filled(redis.storeUrl)
  const embedded = await filled('memory:')
  const check = (catraca: Catraca, list: string, who: (i: number) => string) => (i: number) =>
    catraca.allowlists.check(who(i), [list])
  const raw = (i: number) => client.sIsMember('allowlist:exact', member(i))
  const rawTuned = (i: number) => tuned.sIsMember('allowlist:exact', member(i))
  const confirmed = check(onRedis, 'exact', member)
  const figures = await compare({
    'raw SISMEMBER/s, 64 in flight': () => rate(raw, 64),
    'raw SISMEMBER/s without timeouts, 64 in flight': () => rate(rawTuned, 64),
    'confirmed checks/s, 64 in flight': () => rate(confirmed, 64),
    'raw SISMEMBER/s, 1 in flight': () => rate(raw, 1),
    'raw SISMEMBER/s without timeouts, 1 in flight': () => rate(rawTuned, 1),
    'confirmed checks/s, 1 in flight': () => rate(confirmed, 1),
    'strangers/s from memory, on Redis': () => rateInMemory(check(onRedis, 'exact', stranger)),
    'strangers/s from memory, embedded': () => rateInMemory(check(embedded, 'exact', stranger)),
    'trusted members/s from memory, on Redis': () => rateInMemory(check(onRedis, 'trusted', member)),
    'trusted members/s from memory, embedded': () => rateInMemory(check(embedded, 'trusted', member)),
  })
  const calls = {
    'Redis calls per check of a stranger': await callsOf(redis, check(onRedis, 'exact', stranger)),
    'Redis calls per check of a trusted member': await callsOf(redis, check(onRedis, 'trusted', member)),
  }
  await onRedis.close()
  await embedded.close()
  await redis.flush()
  const imports = randomUuids(importRows)
  const imported = await importRate(redis.storeUrl, imports)
  await redis.flush()
  const rawImport = await importRaw(client, uuidStrings(imports, importRows))
  report({
    name: 'allowlist-redis',
    rounds,
    setting: values,
    figures: {
      ...figures,
      ...calls,
      'import rows/s': imported,
      'raw writes of an import, rows/s': rawImport,
    },
    ratios: {
      'confirmed ÷ raw SISMEMBER, 64 in flight (target 1.5)':
        figures['confirmed checks/s, 64 in flight']! / figures['raw SISMEMBER/s, 64 in flight']!,
      'confirmed ÷ raw SISMEMBER, 1 in flight (target 0.9)':
        figures['confirmed checks/s, 1 in flight']! / figures['raw SISMEMBER/s, 1 in flight']!,
      'confirmed ÷ raw without timeouts, 64 in flight':
        figures['confirmed checks/s, 64 in flight']! /
        figures['raw SISMEMBER/s without timeouts, 64 in flight']!,
      'confirmed ÷ raw without timeouts, 1 in flight':
        figures['confirmed checks/s, 1 in flight']! /
        figures['raw SISMEMBER/s without timeouts, 1 in flight']!,
      'strangers: Redis ÷ embedded':
        figures['strangers/s from memory, on Redis']! / figures['strangers/s from memory, embedded']!,
      'trusted members: Redis ÷ embedded':
        figures['trusted members/s from memory, on Redis']! /
        figures['trusted members/s from memory, embedded']!,
      'import ÷ raw writes (target 0.7)': imported / rawImport,
    },
  })
} finally {
  client.destroy()
  tuned.destroy()
  await redis.stop()
}
