import { IdempotencyConfig, makeIdempotent } from '@aws-lambda-powertools/idempotency'
import { CachePersistenceLayer } from '@aws-lambda-powertools/idempotency/cache'
import { createClient } from 'redis'
import { type Catraca, openCatraca } from '../../src/catraca.js'
import { openRedis } from '../../src/engines/redis/index.js'
import type { IdempotencyStore } from '../../src/idempotency/port.js'
import {
  commandCounts,
  type RedisProcess,
  type RedisServers,
  startSingle,
} from '../../test/support/redis/index.js'
import type { IdempotencySizes, Part } from './idempotency-embedded.js'
import { type Contenders, takeTurns } from './rate-limit-redis.js'
import { median } from './report.js'

const RESPONSE = '{"processedMessages":100,"elapsed":"PT2.5S"}'
const LEASE_MS = 30_000
const LIFE_MS = 86_400_000
const HASH = 'a1'.repeat(32)

/** As little as claim and complete can be in one script each: one key, its owner in it, then the answer. */
const RAW_CLAIM = `local found = redis.call('GET', KEYS[1])
if found then return found end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return false`
const RAW_COMPLETE = `if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1`

let made = 0
/** Never asked before. */
const fresh = (): string => `key-${made++}`
/** Completed before the measurement begins. */
const REPLAYED = Array.from({ length: 1000 }, (_, i) => `replayed-${i}`)
const replayed = (i: number): string => REPLAYED[i % REPLAYED.length]!
const work = async (): Promise<object> => ({ processedMessages: 100, elapsed: 'PT2.5S' })

/** Fresh requests and replays over one Redis on loopback, beside two EVALSHA as they are, and Powertools. */
export async function measureIdempotencyOnRedis(sizes: IdempotencySizes): Promise<Part> {
  const servers = await startSingle()
  const { port } = servers.servers[0]!
  const socket = { host: '127.0.0.1', port }
  const catraca = await openCatraca({ store: servers.storeUrl, sweepIntervalMs: 0 })
  const engine = await openRedis(servers.url)
  const plain = await createClient({ socket, maintNotifications: 'disabled' }).connect()
  const quick = await createClient({
    socket,
    maintNotifications: 'disabled',
    RESP: 3,
    commandOptions: { timeout: 0 },
  }).connect()
  try {
    const contenders = {
      'redis: claim + complete': storeFresh(engine.idempotency),
      'redis: two EVALSHA, node-redis as it comes': await rawFresh(plain),
      'redis: two EVALSHA, node-redis without timeouts': await rawFresh(quick),
      'redis: run, fresh': guardFresh(catraca),
      'Powertools on Redis, fresh': peer(plain, fresh),
      'redis: run, replay': guardReplay(catraca),
      'redis: claim, replay': storeReplay(engine.idempotency),
      'Powertools on Redis, replay': peer(plain, replayed),
    } satisfies Contenders
    await prepare(contenders)
    const rates: Record<string, number[]> = {}
    for (let round = 0; round < sizes.rounds; round++) {
      await takeTurns(contenders, sizes.inFlight, sizes.seconds, rates)
    }
    const { figures, ratios } = resultOf(rates)
    const spent = await cpuOf(servers, contenders, sizes.inFlight)
    const trips = await tripsOf(servers, engine.idempotency)
    return { figures: { ...figures, ...spent, ...trips }, ratios: { ...ratios, ...cpuRatios(spent) } }
  } finally {
    plain.destroy()
    quick.destroy()
    await engine.close()
    await catraca.close()
    await servers.stop()
  }
}

const claimOf = (key: string) => ({
  key: { operation: 'PRODUCE', key },
  ...{ owner: key.padStart(64, '0'), requestHash: HASH, leaseMs: LEASE_MS, lifeMs: LIFE_MS, takesOver: true },
})

const storeFresh = (store: IdempotencyStore) => async () => {
  const claim = claimOf(fresh())
  await store.claim(claim, 0)
  await store.complete(claim.key, claim.owner, { response: { encoding: 'json', text: RESPONSE } }, 0)
}

const storeReplay = (store: IdempotencyStore) => (i: number) =>
  store.claim({ ...claimOf('other'), key: { operation: 'PRODUCE', key: replayed(i) } }, 0)

const runOf = ({ idempotency }: Catraca, key: string) =>
  idempotency.run({ operation: 'RUN', key, payload: { id: key, amount: 100 } }, work)
const guardFresh = (catraca: Catraca) => () => runOf(catraca, fresh())
const guardReplay = (catraca: Catraca) => (i: number) => runOf(catraca, replayed(i))

interface Raw {
  sendCommand(args: string[]): Promise<unknown>
}

async function rawFresh(client: Raw) {
  const claim = String(await client.sendCommand(['SCRIPT', 'LOAD', RAW_CLAIM]))
  const complete = String(await client.sendCommand(['SCRIPT', 'LOAD', RAW_COMPLETE]))
  return async () => {
    const key = fresh()
    const [name, owner] = [`bridge:idempotency:RAW:${key}`, key.padStart(64, '0')]
    await client.sendCommand(['EVALSHA', claim, '1', name, owner, String(LEASE_MS)])
    await client.sendCommand(['EVALSHA', complete, '1', name, owner, RESPONSE, String(LIFE_MS)])
  }
}

/** As its guide shows it: the client of Redis, and the payload as the key. */
function peer(
  client: ConstructorParameters<typeof CachePersistenceLayer>[0]['client'],
  key: (i: number) => string,
) {
  const persistenceStore = new CachePersistenceLayer({ client })
  const config = new IdempotencyConfig({ throwOnNoIdempotencyKey: true })
  // Without it every call writes a warning.
  config.registerLambdaContext({ getRemainingTimeInMillis: () => LEASE_MS } as never)
  const handle = makeIdempotent(async (_: { id: string; amount: number }) => work(), {
    persistenceStore,
    config,
  })
  return (i: number) => handle({ id: key(i), amount: 100 })
}

/** Completes what is replayed, by each of those who replay it. */
async function prepare(contenders: Record<string, (i: number) => Promise<unknown>>): Promise<void> {
  for (let i = 0; i < REPLAYED.length; i++) {
    await contenders['redis: run, replay']!(i)
    await contenders['Powertools on Redis, replay']!(i)
  }
}

function resultOf(rates: Record<string, number[]>) {
  const figures = Object.fromEntries(Object.entries(rates).map(([name, of]) => [`${name}/s`, median(of)]))
  const ratio = (one: string, other: string) => median(rates[one]!.map((rate, i) => rate / rates[other]![i]!))
  const own = 'redis: claim + complete'
  const ratios = {
    'redis: claim + complete / two EVALSHA as it comes': ratio(
      own,
      'redis: two EVALSHA, node-redis as it comes',
    ),
    'redis: claim + complete / two EVALSHA without timeouts': ratio(
      own,
      'redis: two EVALSHA, node-redis without timeouts',
    ),
    'redis: claim + complete / Powertools, fresh': ratio(own, 'Powertools on Redis, fresh'),
    'redis: run / Powertools, fresh': ratio('redis: run, fresh', 'Powertools on Redis, fresh'),
    'redis: run / Powertools, replay': ratio('redis: run, replay', 'Powertools on Redis, replay'),
  }
  return { figures, ratios }
}

const CPU_CALLS = 20_000
const cpuName = (name: string): string => `${name}, CPU µs`

/** What a call costs this process and the server together, which a busy machine disturbs less than rates. */
async function cpuOf({ servers }: RedisServers, contenders: Contenders, inFlight: number) {
  const server = servers[0]!
  const spent: Record<string, number> = {}
  for (const [name, call] of Object.entries(contenders)) {
    const [before, own] = [await serverCpu(server), process.cpuUsage()]
    let left = CPU_CALLS
    await Promise.all(
      Array.from({ length: inFlight }, async () => {
        while (left-- > 0) await call(left)
      }),
    )
    const { user, system } = process.cpuUsage(own)
    spent[cpuName(name)] = (user + system + (await serverCpu(server)) - before) / CPU_CALLS
  }
  return spent
}

/** In µs since its start. */
async function serverCpu(server: RedisProcess): Promise<number> {
  const text = String(await server.say('INFO', 'cpu'))
  const of = (name: string) => Number(new RegExp(`${name}:([\\d.]+)`).exec(text)![1])
  return (of('used_cpu_user') + of('used_cpu_sys')) * 1_000_000
}

function cpuRatios(spent: Record<string, number>): Record<string, number> {
  const less = (one: string, other: string) => spent[cpuName(other)]! / spent[cpuName(one)]!
  const own = 'redis: claim + complete'
  return {
    'CPU: two EVALSHA as it comes / claim + complete': less(
      own,
      'redis: two EVALSHA, node-redis as it comes',
    ),
    'CPU: two EVALSHA without timeouts / claim + complete': less(
      own,
      'redis: two EVALSHA, node-redis without timeouts',
    ),
    'CPU: Powertools, fresh / claim + complete': less(own, 'Powertools on Redis, fresh'),
    'CPU: Powertools, fresh / run': less('redis: run, fresh', 'Powertools on Redis, fresh'),
    'CPU: Powertools, replay / run': less('redis: run, replay', 'Powertools on Redis, replay'),
  }
}

/** Commands that travel for one call, none of them together with others. */
async function tripsOf({ servers }: RedisServers, store: IdempotencyStore): Promise<Record<string, number>> {
  const server = servers[0]!
  const claim = claimOf('counted')
  const calls = {
    claim: () => store.claim(claim, 0),
    complete: () => store.complete(claim.key, claim.owner, {}, 0),
    replay: () => store.claim({ ...claim, owner: 'x'.repeat(64) }, 0),
  }
  const trips: Record<string, number> = {}
  for (const [name, call] of Object.entries(calls)) {
    await server.say('CONFIG', 'RESETSTAT')
    await call()
    trips[`redis: commands for one ${name}`] = (await commandCounts(server)).get('evalsha') ?? 0
  }
  return trips
}
