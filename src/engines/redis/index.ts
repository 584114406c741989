import type { Durations } from '../../core/figures.js'
import type { ReshardStore } from '../../guards/allowlist/port.js'
import type { FullEngine, StoreSource } from '../engine.js'
import type { StoreUse } from '../registry-entry.js'
import { RedisSessions } from './access/sessions.js'
import { RedisAudit } from './audit/store.js'
import { openCache } from './cache/index.js'
import { DEFAULT_REDIS } from './defaults.js'
import { RedisFleet } from './fleet/store.js'
import { RedisIdempotency } from './idempotency/index.js'
import { durabilityWarnings } from './link/durability.js'
import { evictionWarnings, healthOf } from './link/eviction.js'
import { openRedis as connect } from './link/open-redis.js'
import { settingsOf } from './link/options.js'
import type { Redis, RedisInfo } from './link/redis.js'
import { RedisLocks } from './lock/store.js'
import { RedisCodes } from './one-time-code/store.js'
import type { RedisEngineOptions } from './options.js'
import { type LimitClock, openLimits } from './rate-limit/index.js'
import { openStores, type StoreOptions } from './stores.js'
import { RedisTokens } from './token-denylist/store.js'
import type { RedisUrl } from './url.js'

export interface RedisEngine extends FullEngine {
  readonly resharding: ReshardStore
  readonly warnings: readonly string[]
  health(): Promise<Record<string, unknown>>
  commandTimes(): ReadonlyMap<string, Durations>
}

export async function openRedis(url: RedisUrl, options: RedisEngineOptions = {}): Promise<RedisEngine> {
  const { maxLogBytes, staleAfterMs, shardAbove, initialShards, limitClock, ...others } = options
  const { idempotencyClock, idempotencyNaming, use = 'guards', ...connection } = others
  const redis = await connect(url, connection)
  try {
    const stored = {
      database: url.database,
      commandTimeoutMs: settingsOf(connection).commandTimeoutMs,
      maxLogBytes: maxLogBytes ?? DEFAULT_REDIS.maxLogBytes,
      staleAfterMs: staleAfterMs ?? DEFAULT_REDIS.staleAfterMs,
      shardAbove: shardAbove ?? DEFAULT_REDIS.shardAbove,
      initialShards: initialShards ?? DEFAULT_REDIS.initialShards,
      confirmFrom: settingsOf(connection).confirmFrom,
    }
    const idempotency = new RedisIdempotency(redis, {
      clock: idempotencyClock ?? 'server',
      naming: idempotencyNaming ?? DEFAULT_REDIS.idempotencyNaming,
    })
    const opened = await openOn(redis, stored, limitClock ?? 'server', use)
    return { ...opened, idempotency, forThreads: () => forThreads(url, options) }
  } catch (error) {
    await redis.close()
    throw error
  }
}

/** Functions cannot be sent to a thread, so it gets the current password. */
function forThreads(url: RedisUrl, { readPassword, ...options }: RedisEngineOptions): StoreSource {
  const password = readPassword?.() ?? url.password
  return { url: { ...url, ...(password !== undefined && { password }) }, options }
}

async function openOn(
  redis: Redis,
  options: StoreOptions,
  limitClock: LimitClock,
  use: StoreUse,
): Promise<Omit<RedisEngine, 'idempotency'>> {
  const stores = openStores(redis, options)
  await stores.wake.open()
  await stores.tokens.open()
  const limits = await openLimits(redis, options.database, limitClock)
  const locks = new RedisLocks(redis, options.database)
  const cache = await openCache(redis, options.database)
  const { lists, members, checks, bulk, changes, index, upkeep, keys } = stores
  return {
    name: 'redis',
    allowlists: { lists, members, checks, bulk, changes, index, upkeep },
    keys,
    sessions: new RedisSessions(redis),
    limits,
    codes: new RedisCodes(redis, limitClock),
    tokens: new RedisTokens(redis, options.database, options.maxLogBytes),
    audit: new RedisAudit(redis),
    fleet: new RedisFleet(redis),
    locks,
    cache,
    resharding: stores.resharding,
    warnings: warningsOf(await redis.info(), use),
    writeTimeoutMs: options.commandTimeoutMs,
    listCache: () => stores.catalog.cacheFigures(),
    async health() {
      const [info] = await Promise.all([redis.info(), redis.ping()])
      const warnings = warningsOf(info, use)
      const copies = stores.replicas && {
        confirmations: { replicas: redis.replicas, ...stores.replicas.counts },
      }
      return { ...healthOf(info), ...copies, ...(warnings.length > 0 ? { warnings } : {}) }
    },
    async figures() {
      const { nodes } = await redis.info()
      return { redisServers: nodes.filter(({ role }) => role !== undefined) }
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

const warningsOf = (info: RedisInfo, use: StoreUse): string[] => [
  ...evictionWarnings(info, use),
  ...durabilityWarnings(info, use),
]
