import { createClient } from '@redis/client'
import { Redis as IoRedis } from 'ioredis'
import { RateLimiterRedis } from 'rate-limiter-flexible'
import { type Catraca, openCatraca } from '../../src/app/open-catraca.js'
import { TAKE_BUCKET } from '../../src/engines/redis/rate-limit/counters.js'
import { commandCounts, type RedisProcess, startSingle } from '../../test/support/redis/index.js'
import { median } from './report.js'
import { type Call, figuresOf, type Rounds, ratiosOf, takeTurns, visitAll } from './turns.js'

export interface Sizes {
  seconds: number
  rounds: number
  inFlight: number
  keys: number
}

type Raw = { sendCommand(args: string[]): Promise<unknown> }

/** Never used up, and never full again: what is forgotten at once would have to be made anew each time. */
const OPEN_LIMIT = { capacity: 1_000_000, refillAmount: 60, refillPeriodSeconds: 60 }
/** The same in the words of the script. */
const OPEN_PLAN = ['', 'rpm', '1000000', '1', '1000', '1']
const RAW_SCRIPT = "redis.call('INCRBY', KEYS[1], ARGV[1]) return redis.call('PTTL', KEYS[1])"
const PEERS = ['rate-limiter-flexible on ioredis', 'the same, pipelining by itself'] as const

/** Acquires over one Redis on loopback, beside rate-limiter-flexible on the same server. */
export async function measureRedis(sizes: Sizes) {
  const servers = await startSingle()
  const { port } = servers.servers[0]!
  const options = { store: servers.storeUrl, sweepIntervalMs: 0 }
  const catraca = await openCatraca(options)
  const leasing = await openCatraca({ ...options, limits: { localLease: { tokens: 10_000, ms: 1000 } } })
  const peers = [false, true].map(
    (enableAutoPipelining) => new IoRedis({ host: '127.0.0.1', port, enableAutoPipelining }),
  )
  const raw = await createClient({
    socket: { host: '127.0.0.1', port },
    maintNotifications: 'disabled',
    commandOptions: { timeout: 0 },
  }).connect()
  try {
    await configure(catraca)
    await Promise.all([catraca.limits.warmUp(), leasing.limits.warmUp()])
    const contenders = await contendersOf(sizes, catraca, leasing, peers, raw)
    const serverPid = Number(/process_id:(\d+)/.exec(String(await raw.sendCommand(['INFO', 'server'])))![1])
    for (const call of Object.values(contenders.many)) await visitAll(call, sizes.keys)
    const rounds: Rounds = {}
    for (let round = 0; round < sizes.rounds; round++) {
      await takeTurns(contenders.many, { ...sizes, serverPid }, rounds)
      await takeTurns(contenders.single, { ...sizes, serverPid, inFlight: 1 }, rounds)
      await takeTurns(contenders.here, { ...sizes, serverPid }, rounds)
    }
    const asked = await callsOfDenials(catraca, servers.servers[0]!)
    return {
      figures: { ...figuresOf(rounds), 'scripts run by 10,000 denials, used up': asked },
      ratios: redisRatios(rounds),
    }
  } finally {
    for (const peer of peers) peer.disconnect()
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

async function contendersOf(
  { keys }: Sizes,
  catraca: Catraca,
  leasing: Catraca,
  peers: readonly IoRedis[],
  raw: Raw,
) {
  const taking =
    ({ limits }: Catraca, resource: string, among = keys): Call =>
    (i) =>
      limits.acquire({ entity: `user-${i % among}`, resource })
  const limiters = peers.map(
    (storeClient, i) =>
      new RateLimiterRedis({ storeClient, keyPrefix: `peer${i}`, points: 1_000_000_000, duration: 60 }),
  )
  const peerCalls = limiters.map((limiter, i): [string, Call] => [
    PEERS[i]!,
    (j) => limiter.consume(`user-${j % keys}`),
  ])
  const least = String(await raw.sendCommand(['SCRIPT', 'LOAD', RAW_SCRIPT]))
  await raw.sendCommand(['SCRIPT', 'LOAD', TAKE_BUCKET.source])
  const many: Record<string, Call> = {
    'one limit': taking(catraca, 'one'),
    'two limits': taking(catraca, 'two'),
    'fixed window': taking(catraca, 'window'),
    'sliding log': taking(catraca, 'log'),
    ...Object.fromEntries(peerCalls),
  }
  const single: Record<string, Call> = {
    'one limit, one in flight': taking(catraca, 'one'),
    'EVALSHA of the same script': (i) =>
      raw.sendCommand(['EVALSHA', TAKE_BUCKET.sha, '1', `raw:take-${i % keys}`, '1', ...OPEN_PLAN]),
    'EVALSHA of INCRBY and PTTL': (i) =>
      raw.sendCommand(['EVALSHA', least, '1', `raw:user-${i % keys}`, '1']),
  }
  const here: Record<string, Call> = {
    'denied, used up': taking(catraca, 'spent', 1),
    'taken ahead, 100 keys': taking(leasing, 'one', 100),
  }
  return { many, single, here }
}

/** Scripts that the server ran while an exhausted key was denied 10,000 times; usage is written down before and after. */
async function callsOfDenials({ limits }: Catraca, server: RedisProcess): Promise<number> {
  const scripts = async () => (await commandCounts(server)).get('evalsha') ?? 0
  await limits.acquire({ entity: 'user-0', resource: 'spent' })
  await limits.resourceUsage('spent')
  const before = await scripts()
  for (let i = 0; i < 10_000; i++) await limits.acquire({ entity: 'user-0', resource: 'spent' })
  return (await scripts()) - before
}

function redisRatios(rounds: Rounds): Record<string, number> {
  // Whichever of its set-ups is the faster here.
  const rateOf = (name: string) => median(rounds[name]!.map(({ rate }) => rate))
  const peer = rateOf(PEERS[0]) >= rateOf(PEERS[1]) ? PEERS[0] : PEERS[1]
  const ours = 'one limit, one in flight'
  return {
    ...ratiosOf(rounds, `one limit / ${peer}`, 'one limit', peer),
    ...ratiosOf(rounds, 'two limits / one limit', 'two limits', 'one limit'),
    ...ratiosOf(rounds, 'one in flight / EVALSHA of the same script', ours, 'EVALSHA of the same script'),
    ...ratiosOf(rounds, 'one in flight / EVALSHA of INCRBY and PTTL', ours, 'EVALSHA of INCRBY and PTTL'),
  }
}
