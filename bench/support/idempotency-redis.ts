import { IdempotencyConfig, makeIdempotent } from '@aws-lambda-powertools/idempotency'
import { CachePersistenceLayer } from '@aws-lambda-powertools/idempotency/cache'
import { createClient } from '@redis/client'
import { type Catraca, openCatraca } from '../../src/app/open-catraca.js'
import { openRedis } from '../../src/engines/redis/index.js'
import type { IdempotencyStore } from '../../src/guards/idempotency/port.js'
import { commandCounts, type RedisServers, startSingle } from '../../test/support/redis/index.js'
import type { IdempotencySizes, Part } from './idempotency-embedded.js'
import { type Call, figuresOf, type Rounds, ratiosOf, takeTurns } from './turns.js'

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
    } satisfies Record<string, Call>
    await prepare(contenders)
    const rounds: Rounds = {}
    const serverPid = Number(
      /process_id:(\d+)/.exec(String(await servers.servers[0]!.say('INFO', 'server')))![1],
    )
    for (let round = 0; round < sizes.rounds; round++) {
      await takeTurns(contenders, { inFlight: sizes.inFlight, seconds: sizes.seconds, serverPid }, rounds)
    }
    const trips = await tripsOf(servers, engine.idempotency)
    return { figures: { ...figuresOf(rounds), ...trips }, ratios: allRatios(rounds) }
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

function allRatios(rounds: Rounds): Record<string, number> {
  const own = 'redis: claim + complete'
  const [usual, quick] = [
    'redis: two EVALSHA, node-redis as it comes',
    'redis: two EVALSHA, node-redis without timeouts',
  ]
  const peerFresh = 'Powertools on Redis, fresh'
  return {
    ...ratiosOf(rounds, `${own} / two EVALSHA as it comes`, own, usual),
    ...ratiosOf(rounds, `${own} / two EVALSHA without timeouts`, own, quick),
    ...ratiosOf(rounds, `${own} / Powertools, fresh`, own, peerFresh),
    ...ratiosOf(rounds, 'redis: run / Powertools, fresh', 'redis: run, fresh', peerFresh),
    ...ratiosOf(
      rounds,
      'redis: run / Powertools, replay',
      'redis: run, replay',
      'Powertools on Redis, replay',
    ),
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
