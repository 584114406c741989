import type { RedisUrl } from '../../config/store-url-redis.js'
import type { Durations } from '../../core/figures.js'
import type { KeyStore } from '../../guards/access/port.js'
import type { AllowlistEngine, ReshardStore } from '../../guards/allowlist/port.js'
import type { AuditStore } from '../../guards/audit/port.js'
import type { CacheStore } from '../../guards/cache/port.js'
import type { IdempotencyStore } from '../../guards/idempotency/port.js'
import type { LockStore } from '../../guards/lock/port.js'
import type { CodeStore } from '../../guards/one-time-code/port.js'
import type { LimitEngine } from '../../guards/rate-limit/port.js'
import type { TokenStore } from '../../guards/token-denylist/port.js'
import { RedisAudit } from './audit/store.js'
import { openCache } from './cache/index.js'
import { type IdempotencyClock, type RecordNaming, RedisIdempotency } from './idempotency/index.js'
import { durabilityWarnings } from './link/durability.js'
import { evictionWarnings, healthOf, type RedisUse } from './link/eviction.js'
import { openRedis as connect } from './link/open-redis.js'
import { type RedisOptions, settingsOf } from './link/options.js'
import type { Redis, RedisInfo, RedisNode } from './link/redis.js'
import { RedisLocks } from './lock/store.js'
import { RedisCodes } from './one-time-code/store.js'
import { type LimitClock, openLimits } from './rate-limit/index.js'
import { openStores, type StoreOptions } from './stores.js'
import { RedisTokens } from './token-denylist/store.js'

const MIB = 1024 * 1024

export interface RedisEngineOptions extends RedisOptions {
  /** What the log of a shard may take; followers that were away for longer load their image anew. */
  maxLogBytes?: number
  /** What is known of a list for longer than this is read again before it answers. */
  staleAfterMs?: number
  /** Members of a shard beyond which upkeep moves a list to more shards. */
  shardAbove?: number
  /** Shards of new lists: more than one only where lists are known to become large. */
  initialShards?: number
  /** Whose time decides of rate limits and codes: the server's unless told otherwise, which suites do. */
  limitClock?: LimitClock
  /** The same for idempotency. */
  idempotencyClock?: IdempotencyClock
  /** How the keys of idempotency records are named. */
  idempotencyNaming?: RecordNaming
  /** `caches`: nothing else is kept there, so that it should be set up to make room. */
  use?: RedisUse
}

export interface RedisEngine {
  readonly allowlists: AllowlistEngine
  readonly keys: KeyStore
  readonly limits: LimitEngine
  readonly idempotency: IdempotencyStore
  readonly codes: CodeStore
  readonly tokens: TokenStore
  readonly audit: AuditStore
  readonly locks: LockStore
  readonly cache: CacheStore
  /** Moves lists to another number of shards, and tells how far that is. */
  readonly resharding: ReshardStore
  /** What operators should know, as it was found at the start. */
  readonly warnings: readonly string[]
  readonly writeTimeoutMs: number
  /** The lists that checks know without asking the store. */
  listCache(): { size: number; hits: number; misses: number }
  /** Rejects when the store does not answer. */
  health(): Promise<Record<string, unknown>>
  /** What INFO says of each primary that answers. */
  servers(): Promise<RedisNode[]>
  /** How long servers took to answer, by command. */
  commandTimes(): ReadonlyMap<string, Durations>
  /** Connections that could not be made, or were lost, so far. */
  connectionFailures(): number
  close(): Promise<void>
}

export async function openRedis(url: RedisUrl, options: RedisEngineOptions = {}): Promise<RedisEngine> {
  const { maxLogBytes, staleAfterMs, shardAbove, initialShards, limitClock, ...others } = options
  const {
    idempotencyClock = 'server',
    idempotencyNaming = 'operation',
    use = 'guards',
    ...connection
  } = others
  const redis = await connect(url, connection)
  try {
    const stored = {
      database: url.database,
      commandTimeoutMs: settingsOf(connection).commandTimeoutMs,
      maxLogBytes: maxLogBytes ?? 16 * MIB,
      staleAfterMs: staleAfterMs ?? 3000,
      shardAbove: shardAbove ?? 5_000_000,
      initialShards: initialShards ?? 1,
    }
    const idempotency = new RedisIdempotency(redis, { clock: idempotencyClock, naming: idempotencyNaming })
    return { ...(await openOn(redis, stored, limitClock ?? 'server', use)), idempotency }
  } catch (error) {
    await redis.close()
    throw error
  }
}

async function openOn(
  redis: Redis,
  options: StoreOptions,
  limitClock: LimitClock,
  use: RedisUse,
): Promise<Omit<RedisEngine, 'idempotency'>> {
  const stores = openStores(redis, options)
  await stores.wake.open()
  await stores.tokens.open()
  const limits = await openLimits(redis, options.database, limitClock)
  const locks = new RedisLocks(redis, options.database)
  const cache = await openCache(redis, options.database)
  const { lists, members, checks, bulk, changes, index, upkeep, keys } = stores
  return {
    allowlists: { lists, members, checks, bulk, changes, index, upkeep },
    keys,
    limits,
    codes: new RedisCodes(redis, limitClock),
    tokens: new RedisTokens(redis, options.database, options.maxLogBytes),
    audit: new RedisAudit(redis),
    locks,
    cache,
    resharding: stores.resharding,
    warnings: warningsOf(await redis.info(), use),
    writeTimeoutMs: options.commandTimeoutMs,
    listCache: () => stores.catalog.cacheFigures(),
    async health() {
      const [info] = await Promise.all([redis.info(), redis.ping()])
      const warnings = warningsOf(info, use)
      return { ...healthOf(info), ...(warnings.length > 0 ? { warnings } : {}) }
    },
    async servers() {
      const { nodes } = await redis.info()
      return nodes.filter(({ role }) => role !== undefined)
    },
    commandTimes: () => redis.commandTimes(),
    connectionFailures: () => redis.connectionFailures(),
    async close() {
      await stores.resharding.close()
      stores.tokens.close()
      await cache.close()
      await limits.close()
      await locks.close()
      await stores.wake.close()
      await redis.close()
    },
  }
}

const warningsOf = (info: RedisInfo, use: RedisUse): string[] => [
  ...evictionWarnings(info, use),
  ...durabilityWarnings(info, use),
]
