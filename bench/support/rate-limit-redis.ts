import { Redis as IoRedis } from 'ioredis'
import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible'
import { createClient } from 'redis'
import { type Catraca, openCatraca } from '../../src/catraca.js'
import { startSingle } from '../../test/support/redis/index.js'
import { median } from './report.js'

export interface RedisSizes {
  seconds: number
  rounds: number
  inFlight: number
  keys: number
}

type Call = (i: number) => Promise<unknown>
/** Turns that take part in a comparison one after the other, so that a disturbance meets all of them. */
export type Contenders = Record<string, Call>

/** Never used up, and never full again: what is forgotten at once would have to be made anew each time. */
const OPEN_LIMIT = { capacity: 1_000_000, refillAmount: 60, refillPeriodSeconds: 60 }
const SLICES = 10

/** Acquires over one Redis on loopback, beside rate-limiter-flexible on the same server, and its limiter in memory. */
export async function measureRedis(sizes: RedisSizes) {
  const servers = await startSingle()
  const { port } = servers.servers[0]!
  const catraca = await openCatraca({ store: servers.storeUrl, sweepIntervalMs: 0 })
  const leasing = await openCatraca({
    store: servers.storeUrl,
    sweepIntervalMs: 0,
    limits: { localLease: { tokens: 10_000, ms: 1000 } },
  })
  const peer = new IoRedis({ host: '127.0.0.1', port })
  const raw = await createClient({
    socket: { host: '127.0.0.1', port },
    maintNotifications: 'disabled',
  }).connect()
  try {
    await configure(catraca)
    await Promise.all([catraca.limits.warmUp(), leasing.limits.warmUp()])
    const contenders = await contendersOf(sizes, catraca, leasing, peer, raw)
    return await compare(contenders, sizes, catraca)
  } finally {
    peer.disconnect()
    raw.destroy()
    await leasing.close()
    await catraca.close()
    await servers.stop()
  }
}

async function configure({ limits }: Catraca): Promise<void> {
  const system = (resource: string, of: Record<string, object>) =>
    limits.setConfig({ level: 'system', resource }, { limits: of })
  await system('one', { rpm: OPEN_LIMIT })
  await system('two', { rpm: OPEN_LIMIT, tpm: OPEN_LIMIT })
  await system('window', { rpm: { ...OPEN_LIMIT, algorithm: 'fixed-window' } })
  await system('log', { rpm: { capacity: 1000, refillPeriodSeconds: 1, algorithm: 'sliding-window' } })
  await system('spent', { rph: { capacity: 1, refillPeriodSeconds: 3600 } })
}

const RAW_SCRIPT = "redis.call('INCRBY', KEYS[1], ARGV[1]) return redis.call('PTTL', KEYS[1])"

async function contendersOf(
  { keys }: RedisSizes,
  catraca: Catraca,
  leasing: Catraca,
  peer: IoRedis,
  raw: { sendCommand(args: string[]): Promise<unknown> },
) {
  const taking =
    ({ limits }: Catraca, resource: string, among = keys): Call =>
    (i) =>
      limits.acquire({ entity: `user-${i % among}`, resource })
  const points = { points: 1_000_000_000, duration: 60 }
  const peerRedis = new RateLimiterRedis({ storeClient: peer, keyPrefix: 'peer', ...points })
  const peerMemory = new RateLimiterMemory(points)
  const sha = String(await raw.sendCommand(['SCRIPT', 'LOAD', RAW_SCRIPT]))
  return {
    many: {
      'redis, one limit': taking(catraca, 'one'),
      'redis, two limits': taking(catraca, 'two'),
      'redis, fixed window': taking(catraca, 'window'),
      'redis, sliding log': taking(catraca, 'log'),
      'rate-limiter-flexible on ioredis': (i) => peerRedis.consume(`user-${i % keys}`),
    } satisfies Contenders,
    single: {
      'redis, one limit, one in flight': taking(catraca, 'one'),
      'EVALSHA as it is, one in flight': (i) =>
        raw.sendCommand(['EVALSHA', sha, '1', `raw:user-${i % keys}`, '1']),
    } satisfies Contenders,
    here: {
      'redis, denied, used up': taking(catraca, 'spent', 1),
      'redis, taken ahead, 100 keys': taking(leasing, 'one', 100),
      'rate-limiter-flexible in memory': (i) => peerMemory.consume(`user-${i % 100}`),
    } satisfies Contenders,
  }
}

async function compare(
  { many, single, here }: Awaited<ReturnType<typeof contendersOf>>,
  sizes: RedisSizes,
  catraca: Catraca,
) {
  const rates: Record<string, number[]> = {}
  for (let round = 0; round < sizes.rounds; round++) {
    await takeTurns(many, sizes.inFlight, sizes.seconds, rates)
    await takeTurns(single, 1, sizes.seconds, rates)
    await takeTurns(here, sizes.inFlight, sizes.seconds, rates)
  }
  const ratio = (one: string, other: string) => median(rates[one]!.map((rate, i) => rate / rates[other]![i]!))
  const { deniedHere, denied } = catraca.limits.stats()
  const figures = Object.entries(rates).map(([name, of]): [string, number] => [`${name}/s`, median(of)])
  return {
    figures: { ...Object.fromEntries(figures), 'redis, denials that asked it': denied - deniedHere },
    ratios: {
      'redis: one limit / rate-limiter-flexible': ratio(
        'redis, one limit',
        'rate-limiter-flexible on ioredis',
      ),
      'redis: two limits / one limit': ratio('redis, two limits', 'redis, one limit'),
      'redis: one in flight / EVALSHA as it is': ratio(
        'redis, one limit, one in flight',
        'EVALSHA as it is, one in flight',
      ),
    },
  }
}

export async function takeTurns(
  contenders: Contenders,
  inFlight: number,
  seconds: number,
  rates: Record<string, number[]>,
): Promise<void> {
  const calls = Object.entries(contenders).map(([name, call]) => ({ name, call, done: 0, ms: 0 }))
  // The first ones are for the compiler.
  for (let slice = -3; slice < SLICES; slice++) {
    for (const one of calls) {
      const { done, ms } = await load(one.call, inFlight, (seconds * 1000) / SLICES)
      if (slice < 0) continue
      one.done += done
      one.ms += ms
    }
  }
  for (const { name, done, ms } of calls) (rates[name] ??= []).push((1000 * done) / ms)
}

async function load(call: Call, inFlight: number, ms: number): Promise<{ done: number; ms: number }> {
  let done = 0
  const start = performance.now()
  const loop = async (first: number) => {
    let i = first
    while (performance.now() - start < ms) {
      for (let j = 0; j < 8; j++) await call((i = (Math.imul(i, 1_103_515_245) + 12_345) & 0x7fffffff))
      done += 8
    }
  }
  await Promise.all(Array.from({ length: inFlight }, (_, i) => loop(i + 1)))
  return { done, ms: performance.now() - start }
}
