import type { KeyStore } from '../../access/port.js'
import type { AllowlistEngine, ReshardStore } from '../../allowlist/port.js'
import type { CacheStore } from '../../cache/port.js'
import type { RedisUrl } from '../../config/store-url-redis.js'
import type { LimitEngine } from '../../rate-limit/port.js'
import { openCache } from './cache/index.js'
import { evictionWarnings, healthOf, type RedisUse } from './eviction.js'
import { openRedis as connect } from './link/open-redis.js'
import { type RedisOptions, settingsOf } from './link/options.js'
import type { Redis } from './link/redis.js'
import { type LimitClock, openLimits } from './rate-limit/index.js'
import { openStores, type StoreOptions } from './stores.js'

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
  /** Whose time decides of rate limits: the server's unless told otherwise, which suites do. */
  limitClock?: LimitClock
  /** `caches`: nothing else is kept there, so that it should be set up to make room. */
  use?: RedisUse
}

export interface RedisEngine {
  readonly allowlists: AllowlistEngine
  readonly keys: KeyStore
  readonly limits: LimitEngine
  readonly cache: CacheStore
  /** Moves lists to another number of shards, and tells how far that is. */
  readonly resharding: ReshardStore
  /** What operators should know, as it was found at the start. */
  readonly warnings: readonly string[]
  /** The lists that checks know without asking the store. */
  listCache(): { size: number; hits: number; misses: number }
  /** Rejects when the store does not answer. */
  health(): Promise<Record<string, unknown>>
  close(): Promise<void>
}

export async function openRedis(url: RedisUrl, options: RedisEngineOptions = {}): Promise<RedisEngine> {
  const {
    maxLogBytes,
    staleAfterMs,
    shardAbove,
    initialShards,
    limitClock,
    use = 'guards',
    ...connection
  } = options
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
    return await openOn(redis, stored, limitClock ?? 'server', use)
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
): Promise<RedisEngine> {
  const stores = openStores(redis, options)
  await stores.wake.open()
  await stores.tokens.open()
  const limits = await openLimits(redis, options.database, limitClock)
  const cache = await openCache(redis, options.database)
  const { lists, members, checks, bulk, changes, index, upkeep, keys } = stores
  return {
    allowlists: { lists, members, checks, bulk, changes, index, upkeep },
    keys,
    limits,
    cache,
    resharding: stores.resharding,
    warnings: evictionWarnings(await redis.info(), use),
    listCache: () => stores.catalog.cacheFigures(),
    async health() {
      const [info] = await Promise.all([redis.info(), redis.ping()])
      const warnings = evictionWarnings(info, use)
      return { ...healthOf(info), ...(warnings.length > 0 ? { warnings } : {}) }
    },
    async close() {
      await stores.resharding.close()
      stores.tokens.close()
      await cache.close()
      await limits.close()
      await stores.wake.close()
      await redis.close()
    },
  }
}
