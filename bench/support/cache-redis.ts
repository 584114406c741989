import { createClient } from '@redis/client'
import { openCatraca } from '../../src/app/open-catraca.js'
import { startSingle } from '../../test/support/redis/index.js'
import { median } from './report.js'

interface CacheRedisBench {
  values: { rounds: number }
  filled: { keys: readonly string[]; value: (key: string) => object; ttlMs: number }
  figures: Record<string, number>
  ratios: Record<string, number>
}

type Hit = (key: string) => Promise<unknown>
type Client = { sendCommand(args: string[]): Promise<unknown> }

const SPACE = 'dict:entry:key'
/** Of one turn of a contender. */
const TURN_MS = 400
const WIDTHS = [64, 1]
/** For latencies: reads a second, which come when they come. */
const RATE = 5000
const LATENCY_SECONDS = 3

/**
 * A hit in the second tier on one Redis on loopback, without a first tier: beside GET + JSON.parse through node-redis as it
 * comes, and without the timeout that it gives each command, as the engine uses it. In turns, by wall clock.
 */
export async function measureCacheRedis({ values, filled, figures, ratios }: CacheRedisBench): Promise<void> {
  const servers = await startSingle()
  const { port } = servers.servers[0]!
  const catraca = await openCatraca({ store: servers.storeUrl, sweepIntervalMs: 0 })
  const socket = { host: '127.0.0.1', port }
  const plain = await createClient({ socket, maintNotifications: 'disabled' }).connect()
  const bare = await createClient({
    ...{ socket, RESP: 3, maintNotifications: 'disabled', commandOptions: { timeout: 0 } },
  }).connect()
  try {
    const options = { name: SPACE, ttlMs: filled.ttlMs }
    const space = catraca.cache.space<object>({ ...options, l1: false })
    await space.warm(filled.keys, async (keys) => new Map(keys.map((key) => [key, filled.value(key)])))
    const hit = (key: string) => space.getOrLoad(key, filled.value)
    const contenders: Record<string, Hit> = {
      'Redis second tier': hit,
      'node-redis GET + JSON.parse': rawGet(plain),
      'node-redis GET + JSON.parse, without timeout': rawGet(bare),
    }
    for (const width of WIDTHS) {
      const found = await inTurns(contenders, filled.keys, width, values.rounds)
      const [own, asItComes, without] = Object.values(found)
      for (const [name, rate] of Object.entries(found))
        figures[`${name}, ${width} at once, per second`] = rate
      const at = `, ${width} at once (at least 0.85)`
      ratios[`second-tier hit / GET + JSON.parse as it comes${at}`] = own! / asItComes!
      ratios[`second-tier hit / GET + JSON.parse without timeout${at}`] = own! / without!
    }
    // What the machine itself adds is in all of them.
    await latencies(rawGet(bare), filled.keys, figures, 'GET + JSON.parse')
    await latencies(hit, filled.keys, figures, 'second tier')
    const pod = await openCatraca({ store: servers.storeUrl, sweepIntervalMs: 0 })
    const tiered = pod.cache.space<object>(options)
    await latencies((key) => tiered.getOrLoad(key, filled.value), filled.keys, figures, 'both tiers')
    await pod.close()
  } finally {
    plain.destroy()
    bare.destroy()
    await catraca.close()
    await servers.stop()
  }
}

const rawGet =
  (client: Client): Hit =>
  async (key) =>
    JSON.parse((await client.sendCommand(['GET', `${SPACE}:${key}`])) as string)

/** Medians over the rounds; in each, all contenders one after the other, so that a disturbance meets all of them. */
async function inTurns(
  contenders: Record<string, Hit>,
  keys: readonly string[],
  width: number,
  rounds: number,
): Promise<Record<string, number>> {
  const rates = new Map<string, number[]>(Object.keys(contenders).map((name) => [name, []]))
  for (let round = 0; round <= rounds; round++) {
    for (const [name, hit] of Object.entries(contenders)) {
      const rate = await rateOf(hit, keys, width)
      // The first round warms.
      if (round > 0) rates.get(name)!.push(rate)
    }
  }
  return Object.fromEntries([...rates].map(([name, found]) => [name, median(found)]))
}

async function rateOf(hit: Hit, keys: readonly string[], width: number): Promise<number> {
  const begin = performance.now()
  const end = begin + TURN_MS
  let done = 0
  const loop = async (from: number): Promise<void> => {
    for (let i = from; performance.now() < end; i += width, done++) await hit(keys[i % keys.length]!)
  }
  await Promise.all(Array.from({ length: width }, (_, i) => loop(i)))
  return done / ((performance.now() - begin) / 1000)
}

/** Asked at their time, whether or not those before are answered. */
async function latencies(
  hit: Hit,
  keys: readonly string[],
  figures: Record<string, number>,
  what: string,
): Promise<void> {
  const took: number[] = []
  const begin = performance.now()
  const pending: Promise<void>[] = []
  for (let i = 0; i < RATE * LATENCY_SECONDS; ) {
    for (; i < ((performance.now() - begin) / 1000) * RATE && i < RATE * LATENCY_SECONDS; i++) {
      const due = begin + (i / RATE) * 1000
      pending.push(hit(keys[i % keys.length]!).then(() => void took.push(performance.now() - due)))
    }
    await new Promise((resolve) => setImmediate(resolve))
  }
  await Promise.all(pending)
  took.sort((a, b) => a - b)
  for (const percent of [50, 95, 99]) {
    figures[`${what} at ${RATE} a second, p${percent} ms`] = took[Math.floor((took.length * percent) / 100)]!
  }
}
