/**
 * Acquires on the embedded engine, one process: exact (every decision in the store, which others may share), with
 * tokens taken ahead, and denials of what is used up. And the five cases of the source about configuration.
 * Then the same over one Redis on loopback, in turns with rate-limiter-flexible on the same server; and over a DynamoDB
 * on loopback, where units and calls are counted.
 * Arguments: --seconds 3 --rounds 3 --inFlight 64 --keys 10000 --entities 20000
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Catraca, type OpenOptions, openCatraca } from '../src/catraca.js'
import { numberArguments } from './support/arguments.js'
import { measureDynamodb } from './support/rate-limit-dynamodb.js'
import { measureRedis } from './support/rate-limit-redis.js'
import { report } from './support/report.js'

const { values } = numberArguments({ seconds: 3, rounds: 3, inFlight: 64, keys: 10_000, entities: 20_000 })
const OPEN_LIMIT = { capacity: 1_000_000_000, refillPeriodSeconds: 1 }
const figures: Record<string, number> = {}

async function withCatraca(options: OpenOptions, work: (catraca: Catraca) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'catraca-bench-'))
  const catraca = await openCatraca({ store: `embedded:${directory}`, sweepIntervalMs: 0, ...options })
  try {
    const limits = { rpm: OPEN_LIMIT }
    await catraca.limits.setConfig({ level: 'system', resource: 'one' }, { limits })
    await catraca.limits.setConfig(
      { level: 'system', resource: 'two' },
      { limits: { ...limits, tpm: OPEN_LIMIT } },
    )
    const hour = { capacity: 1, refillPeriodSeconds: 3600 }
    await catraca.limits.setConfig({ level: 'system', resource: 'spent' }, { limits: { rph: hour } })
    await catraca.limits.warmUp()
    await work(catraca)
  } finally {
    await catraca.close()
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Calls per second, so many at a time. */
async function rate(inFlight: number, call: (i: number) => Promise<unknown>): Promise<number> {
  for (let i = 0; i < 2000; i++) await call(i)
  let done = 0
  const start = performance.now()
  const end = start + values.seconds * 1000
  const loop = async (first: number) => {
    let i = first
    while (performance.now() < end) {
      for (let j = 0; j < 8; j++) await call((i = (Math.imul(i, 1_103_515_245) + 12_345) & 0x7fffffff))
      done += 8
    }
  }
  await Promise.all(Array.from({ length: inFlight }, (_, i) => loop(i + 1)))
  return done / ((performance.now() - start) / 1000)
}

const taking =
  ({ limits }: Catraca, resource: string, keys = values.keys) =>
  (i: number) =>
    limits.acquire({ entity: `user-${i % keys}`, resource })

await withCatraca({}, async (catraca) => {
  figures['exact, one limit/s'] = await rate(values.inFlight, taking(catraca, 'one'))
  figures['exact, two limits/s'] = await rate(values.inFlight, taking(catraca, 'two'))
  figures['exact, one key/s'] = await rate(values.inFlight, taking(catraca, 'one', 1))
  figures['exact, 512 in flight/s'] = await rate(512, taking(catraca, 'one'))
  figures['exact, one in flight/s'] = await rate(1, taking(catraca, 'one'))
  figures['denied, used up/s'] = await rate(values.inFlight, taking(catraca, 'spent', 1))
})
await withCatraca({ embedded: { limitsDurability: 'disk' } }, async (catraca) => {
  figures['exact on disk/s'] = await rate(values.inFlight, taking(catraca, 'one'))
})
await withCatraca({ limits: { localLease: { tokens: 10_000, ms: 1000 } } }, async (catraca) => {
  figures['taken ahead, one key/s'] = await rate(values.inFlight, taking(catraca, 'one', 1))
  figures['taken ahead, 100 keys/s'] = await rate(values.inFlight, taking(catraca, 'one', 100))
})

/** One user in twenty has limits of their own; everybody comes once, and then once more. */
await withCatraca({}, async ({ limits }) => {
  for (let i = 0; i < values.entities; i += 20) {
    const address = { level: 'entity', identifier: `user-${i}`, resource: 'one' } as const
    await limits.setConfig(address, { limits: { rpm: { capacity: 2_000_000 } } })
  }
  const reads = () => limits.stats().configCache.reads
  const visit = async () => {
    const before = reads()
    const start = performance.now()
    for (let i = 0; i < values.entities; i++) await limits.resolveConfig(`user-${i}`, 'one')
    return { reads: reads() - before, us: ((performance.now() - start) / values.entities) * 1000 }
  }
  limits.invalidateConfigCache()
  const first = await visit()
  const second = await visit()
  figures['config read latency, µs'] = first.us
  figures['config cache hit, µs'] = second.us
  figures['sparse traffic, batches read per user'] = first.reads / values.entities
  figures['negative cache, batches read per user'] = second.reads / values.entities
  const start = performance.now()
  for (let i = 0; i < 5000; i++) await limits.acquire({ entity: `user-${i}`, resource: 'one' })
  figures['acquire with config, one at a time, µs'] = ((performance.now() - start) / 5000) * 1000
})

const redis = await measureRedis(values)
const dynamodb = await measureDynamodb(values)
Object.assign(figures, redis.figures, dynamodb.figures)
const exact = figures['exact, one limit/s']!
const ahead = figures['taken ahead, 100 keys/s']!
const ratios = {
  'two limits / one limit': figures['exact, two limits/s']! / exact,
  'taken ahead / rate-limiter-flexible in memory': ahead / figures['rate-limiter-flexible in memory/s']!,
  ...redis.ratios,
  ...dynamodb.ratios,
}
report({ name: 'rate-limit', rounds: values.rounds, setting: values, figures, ratios })
