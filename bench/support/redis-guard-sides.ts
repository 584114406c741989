import { createRequire } from 'node:module'
import { IdempotencyConfig, makeIdempotent } from '@aws-lambda-powertools/idempotency'
import { CachePersistenceLayer } from '@aws-lambda-powertools/idempotency/cache'
import { createClient } from '@redis/client'
import { Redis as IoRedis } from 'ioredis'
import { RateLimiterRedis } from 'rate-limiter-flexible'
import { type Catraca, openCatraca } from '../../src/app/open-catraca.js'
import { bareTakes } from './redis-floor.js'
import type { Call } from './turns.js'

/** Opens one side of a comparison. `keys`: over how many the load goes. */
type Open = (port: number, keys: number) => Promise<Call>

export interface Comparison {
  title: string
  inFlight: number
  /** How many times as fast as the faster peer. */
  reach: number
  own: Open
  peers: Record<string, Open>
  /** The same script over a socket, with nothing around it. */
  floor?: Open
}

export const OWN = 'catraca'
export const FLOOR = 'a bare socket with the same script'

const TTL_MS = 30_000
const LIFE_MS = 300_000
const work = async (): Promise<object> => ({ processedMessages: 100, elapsed: 'PT2.5S' })
const entry = (key: string) => ({
  id: '550e8400-e29b-41d4-a716-446655440000',
  ...{ key_type: 'CPF', key_value: key, account_ispb: '00000000', account_number: '12345-6' },
  ...{ status: 'ACTIVE', created_at: '2025-10-25T10:00:00Z' },
})

const catraca = (port: number): Promise<Catraca> =>
  openCatraca({ store: `redis://127.0.0.1:${port}`, sweepIntervalMs: 0 })

const acquire: Open = async (port, keys) => {
  const { limits } = await catraca(port)
  // Never used up, and never full again: what is forgotten at once would have to be made anew each time.
  const rpm = { capacity: 1_000_000, refillAmount: 60, refillPeriodSeconds: 60 }
  await limits.setConfig({ level: 'system', resource: 'one' }, { limits: { rpm } })
  await limits.warmUp()
  return (i) => limits.acquire({ entity: `user-${i % keys}`, resource: 'one' })
}

/** Its pipelining by itself made it slower in every run. */
const limiter: Open = async (port, keys) => {
  const storeClient = new IoRedis({ host: '127.0.0.1', port })
  const points = 1_000_000_000
  const peer = new RateLimiterRedis({ storeClient, keyPrefix: 'peer', points, duration: 60 })
  return (i) => peer.consume(`user-${i % keys}`)
}

const lock: Open = async (port, keys) => {
  const { locks } = await catraca(port)
  return async (i) => {
    const name = `lock-${i % keys}`
    const answer = await locks.acquire(name, { ttlMs: TTL_MS })
    // Two loops may meet at a name.
    if (answer.acquired) await locks.release(name, answer.token)
  }
}

interface Redlock {
  acquire(resources: string[], ttlMs: number): Promise<{ release(): Promise<unknown> }>
}

const redlock: Open = async (port, keys) => {
  // Its types cannot be found by what it exports.
  const { default: NodeRedlock } = createRequire(import.meta.url)('redlock') as {
    default: new (clients: unknown[], settings: object) => Redlock
  }
  const settings = { automaticExtensionThreshold: 0, retryCount: 0 }
  const peer = new NodeRedlock([new IoRedis({ host: '127.0.0.1', port })], settings)
  return async (i) => {
    const held = await peer.acquire([`redlock:lock-${i % keys}`], TTL_MS).catch(() => undefined)
    await held?.release()
  }
}

/** Fresh keys of this process, or keys that were completed before. */
type Keys = (i: number) => string
const freshKeys = (): Keys => {
  let made = 0
  return () => `${process.pid}-${made++}`
}
const replayedKeys =
  (keys: number): Keys =>
  (i) =>
    `replayed-${i % keys}`

async function replayable(call: Call, keys: number): Promise<Call> {
  for (let i = 0; i < keys; i++) await call(i)
  return call
}

async function runs(port: number, keyOf: Keys): Promise<Call> {
  const { idempotency } = await catraca(port)
  return (i) => {
    const key = keyOf(i)
    return idempotency.run({ operation: 'RUN', key, payload: { id: key, amount: 100 } }, work)
  }
}

/** As its guide shows it: the client of Redis, and the payload as the key. */
async function powertools(port: number, keyOf: Keys): Promise<Call> {
  const client = await createClient({ socket: { host: '127.0.0.1', port } }).connect()
  const layer = {
    client: client as unknown as ConstructorParameters<typeof CachePersistenceLayer>[0]['client'],
  }
  const config = new IdempotencyConfig({ throwOnNoIdempotencyKey: true })
  // Without it every call writes a warning.
  config.registerLambdaContext({ getRemainingTimeInMillis: () => TTL_MS } as never)
  const persistenceStore = new CachePersistenceLayer(layer)
  const options = { persistenceStore, config }
  const handle = makeIdempotent(async (_: { id: string; amount: number }) => work(), options)
  return (i) => handle({ id: keyOf(i), amount: 100 })
}

const secondTier: Open = async (port, keys) => {
  const { cache } = await catraca(port)
  const space = cache.space<object>({ name: 'dict:entry:key', ttlMs: LIFE_MS, l1: false })
  const names = Array.from({ length: keys }, (_, i) => `CPF:${i}`)
  await space.warm(names, async (all) => new Map(all.map((key) => [key, entry(key)])))
  return (i) => space.getOrLoad(names[i % keys]!, entry)
}

interface Bento {
  getOrSet(options: { key: string; ttl: number; factory: () => object }): Promise<unknown>
}
interface BentoModule {
  BentoCache: new (options: object) => Bento
  bentostore(): { useL2Layer(driver: unknown): unknown }
}

const bentocache: Open = async (port, keys) => {
  // Its types name packages that are not installed here.
  const name = 'bentocache'
  const { BentoCache, bentostore } = (await import(name)) as BentoModule
  const { redisDriver } = await import(`${name}/drivers/redis`)
  const connection = { host: '127.0.0.1', port }
  const stores = { second: bentostore().useL2Layer(redisDriver({ connection })) }
  const peer = new BentoCache({ default: 'second', stores })
  const hit: Call = (i) => {
    const key = `CPF:${i % keys}`
    return peer.getOrSet({ key, ttl: LIFE_MS, factory: () => entry(key) })
  }
  return replayable(hit, keys)
}

const LIMITERS = { 'rate-limiter-flexible on ioredis': limiter }
const POWERTOOLS = 'Powertools on node-redis'

export const COMPARISONS: Record<string, Comparison> = {
  acquire: {
    ...{ title: 'acquire', inFlight: 64, reach: 1.5, own: acquire, peers: LIMITERS },
    floor: (port, keys) => bareTakes(port, keys, 32),
  },
  'acquire-alone': {
    ...{ title: 'acquire', inFlight: 1, reach: 1, own: acquire, peers: LIMITERS },
    floor: (port, keys) => bareTakes(port, keys, 1),
  },
  lock: {
    title: 'lock + unlock',
    inFlight: 32,
    reach: 1.3,
    own: lock,
    peers: { 'node-redlock 5 on ioredis': redlock },
  },
  fresh: {
    ...{ title: 'idempotent run, fresh', inFlight: 32, reach: 3 },
    own: (port) => runs(port, freshKeys()),
    peers: { [POWERTOOLS]: (port) => powertools(port, freshKeys()) },
  },
  replay: {
    ...{ title: 'idempotent run, replay', inFlight: 32, reach: 4 },
    own: async (port) => replayable(await runs(port, replayedKeys(1000)), 1000),
    peers: { [POWERTOOLS]: async (port) => replayable(await powertools(port, replayedKeys(1000)), 1000) },
  },
  cache: {
    ...{ title: 'cache hit in the second tier', inFlight: 64, reach: 2 },
    own: (port) => secondTier(port, 1000),
    peers: { 'bentocache on ioredis': (port) => bentocache(port, 1000) },
  },
}
