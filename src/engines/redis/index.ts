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
  /**
   * Maximum bytes of the change log of a shard. Followers that were disconnected for longer load the whole index
   * again.
   */
  maxLogBytes?: number
  /** Data about a list that is older than this is read again before it answers a check. */
  staleAfterMs?: number
  /** If a shard has more members than this, upkeep moves the list to more shards. */
  shardAbove?: number
  /** Shards of new lists. Use more than one only if lists are known to become large. */
  initialShards?: number
  /** Whose clock decides on rate limits and codes. Default: the server's. Test suites use the caller's. */
  limitClock?: LimitClock
  /** Whose clock decides on idempotency. */
  idempotencyClock?: IdempotencyClock
  /** How the keys of idempotency records are built. */
  idempotencyNaming?: RecordNaming
  /** `caches`: the servers hold only caches, so they should be configured to evict keys. */
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
  /** Moves lists to another number of shards and reports the progress. */
  readonly resharding: ReshardStore
  /** Problems found at the start that operators should know about. */
  readonly warnings: readonly string[]
  readonly writeTimeoutMs: number
  /** Figures of the lists that are cached in memory for checks. */
  listCache(): { size: number; hits: number; misses: number }
  /** Rejects if Redis does not answer. */
  health(): Promise<Record<string, unknown>>
  /** INFO of each primary that answers. */
  servers(): Promise<RedisNode[]>
  /** Response times of the servers, by command. */
  commandTimes(): ReadonlyMap<string, Durations>
  /** Number of connections that failed or were lost so far. */
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
