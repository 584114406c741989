import { resolve } from 'node:path'
import { parseStoreUrl } from '../config/store-url.js'
import type { DynamodbUrl } from '../config/store-url-dynamodb.js'
import type { RedisUrl } from '../config/store-url-redis.js'
import type { Durations } from '../core/figures.js'
import type { CapacityCounts } from '../engines/dynamodb/client/capacity.js'
import type { DaxState } from '../engines/dynamodb/client/dax.js'
import type { DynamodbOptions } from '../engines/dynamodb/index.js'
import type { EmbeddedOptions } from '../engines/embedded/index.js'
import type { DiskUse } from '../engines/embedded/lmdb/disk-use.js'
import type { RedisEngineOptions } from '../engines/redis/index.js'
import type { RedisNode } from '../engines/redis/link/redis.js'
import type { KeyStore } from '../guards/access/port.js'
import type { MemberSource } from '../guards/allowlist/hot/port.js'
import type { AllowlistEngine, ReshardStore } from '../guards/allowlist/port.js'
import type { AuditStore } from '../guards/audit/port.js'
import type { CacheStore } from '../guards/cache/port.js'
import type { IdempotencyStore } from '../guards/idempotency/port.js'
import type { LockStore } from '../guards/lock/port.js'
import type { CodeStore } from '../guards/one-time-code/port.js'
import type { LimitEngine } from '../guards/rate-limit/port.js'
import type { TokenStore } from '../guards/token-denylist/port.js'
import type { HotTierOptions } from './hot-tier.js'

/** Everything needed to open a store, as plain data, because threads open it too. */
export type EngineSource =
  | { engine: 'embedded'; options: EmbeddedOptions }
  | { engine: 'redis'; url: RedisUrl; options: RedisEngineOptions }
  | { engine: 'dynamodb'; url: DynamodbUrl; options: DynamodbOptions }

export interface EngineOptions {
  embedded?: Omit<EmbeddedOptions, 'directory'>
  redis?: RedisEngineOptions
  dynamodb?: DynamodbOptions & { hotTier?: HotTierOptions }
}

/** Figures that only one engine has. */
export interface EngineFigures {
  /** Each primary that answers. */
  redisServers?: readonly RedisNode[]
  capacity?: Pick<CapacityCounts, 'rows' | 'retries'>
  dax?: DaxState
  diskUse?: DiskUse
}

/** An opened store of any engine. */
export interface StoreEngine {
  readonly name: string
  readonly allowlists: AllowlistEngine
  readonly keys: KeyStore
  readonly limits: LimitEngine
  readonly idempotency: IdempotencyStore
  readonly codes: CodeStore
  readonly tokens: TokenStore
  readonly audit: AuditStore
  /** For engines with their own directory: a secret stored beside the data. */
  readonly keptSecret?: (name: string) => string
  readonly locks: LockStore
  readonly cache: CacheStore
  /** For engines that shard lists. */
  readonly resharding?: ReshardStore
  /** For engines whose members can be copied to a hot tier. */
  readonly source?: MemberSource
  /** How a thread of this process opens the same store. */
  forThreads(): EngineSource
  /** What an operator should know about the setup of the store. */
  readonly warnings: readonly string[]
  /** How long a write may take. */
  readonly writeTimeoutMs: number
  /** After this call, reads see everything stored before it, also by other threads. */
  refresh(): void
  /** The lists that checks have cached. */
  listCache(): { size: number; hits: number; misses: number }
  /** Facts about a store that answers. Rejects if it does not. */
  health(): Promise<Record<string, unknown>>
  /** Connections to the store that failed or were lost so far. */
  connectionFailures(): number
  /** Redis only: how long its servers took to answer, by command. */
  commandTimes?(): ReadonlyMap<string, Durations>
  /** Figures for metrics. */
  figures(): Promise<EngineFigures>
  close(): Promise<void>
}

export function engineSource(store: string, options: EngineOptions): EngineSource {
  const url = parseStoreUrl(store)
  switch (url.engine) {
    case 'embedded':
      return { engine: 'embedded', options: { ...options.embedded, directory: resolve(url.path) } }
    case 'memory':
      return { engine: 'embedded', options: { ...options.embedded } }
    case 'redis':
      return { engine: 'redis', url, options: { ...options.redis } }
    case 'dynamodb': {
      // The hot tier is opened separately, and threads do not need it.
      const { hotTier: _, ...own } = options.dynamodb ?? {}
      return { engine: 'dynamodb', url, options: own }
    }
  }
}

/** Whether both mean the same store, however it is spelled. */
export function isSameStore(one: EngineSource, other: EngineSource): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

/** What a store is used for. A store for caches only may rightly be configured to evict keys. */
export type StoreUse = 'guards' | 'caches'

/** Loads only the requested engine: the packages of the others need not be installed. */
export async function openEngine(source: EngineSource, use: StoreUse = 'guards'): Promise<StoreEngine> {
  switch (source.engine) {
    case 'embedded':
      return openEmbeddedEngine(source.options)
    case 'redis':
      return openRedisEngine(source, use)
    case 'dynamodb':
      return openDynamodbEngine(source)
  }
}

async function openRedisEngine(
  source: EngineSource & { engine: 'redis' },
  use: StoreUse,
): Promise<StoreEngine> {
  const { openRedis } = await import('../engines/redis/index.js')
  const engine = await openRedis(source.url, { ...source.options, use })
  return {
    name: 'redis',
    allowlists: engine.allowlists,
    keys: engine.keys,
    limits: engine.limits,
    idempotency: engine.idempotency,
    codes: engine.codes,
    tokens: engine.tokens,
    audit: engine.audit,
    locks: engine.locks,
    cache: engine.cache,
    resharding: engine.resharding,
    forThreads: () => forThreads(source),
    warnings: engine.warnings,
    writeTimeoutMs: engine.writeTimeoutMs,
    refresh() {},
    listCache: () => engine.listCache(),
    health: () => engine.health(),
    connectionFailures: () => engine.connectionFailures(),
    commandTimes: () => engine.commandTimes(),
    figures: async () => ({ redisServers: await engine.servers() }),
    close: () => engine.close(),
  }
}

async function openEmbeddedEngine(options: EmbeddedOptions): Promise<StoreEngine> {
  const { openEmbedded } = await import('../engines/embedded/index.js')
  const engine = openEmbedded(options)
  const { directory, gate } = engine
  return {
    name: 'embedded',
    allowlists: engine.allowlists,
    keys: engine.keys,
    limits: engine.limits,
    idempotency: engine.idempotency,
    codes: engine.codes,
    tokens: engine.tokens,
    audit: engine.audit,
    keptSecret: (name) => engine.storedSecret(name),
    locks: engine.locks,
    cache: engine.cache,
    forThreads: () => ({ engine: 'embedded', options: { ...options, directory, gate, writes: 'here' } }),
    warnings: engine.warnings,
    writeTimeoutMs: engine.writeTimeoutMs,
    refresh: () => engine.refresh(),
    listCache: () => engine.listCache(),
    health: async () => ({ ...engine.health() }),
    connectionFailures: () => 0,
    figures: async () => ({ diskUse: engine.diskUse() }),
    close: () => engine.close(),
  }
}

async function openDynamodbEngine(source: EngineSource & { engine: 'dynamodb' }): Promise<StoreEngine> {
  const { openDynamodb } = await import('../engines/dynamodb/index.js')
  const engine = await openDynamodb(source.url, source.options)
  const { topicArn: _, counter: __, report: ___, now: ____, monotonicMs: _____, ...plain } = source.options
  return {
    name: 'dynamodb',
    allowlists: engine.allowlists,
    keys: engine.keys,
    limits: engine.limits,
    idempotency: engine.idempotency,
    codes: engine.codes,
    tokens: engine.tokens,
    audit: engine.audit,
    locks: engine.locks,
    cache: engine.cache,
    resharding: engine.resharding,
    source: engine.source,
    // A thread needs no queue, and the tables were already checked.
    forThreads: () => ({ ...source, options: { ...plain, checkTables: false } }),
    warnings: [],
    writeTimeoutMs: engine.writeTimeoutMs,
    refresh() {},
    listCache: () => engine.listCache(),
    health: async () => ({ ...(await engine.health()) }),
    connectionFailures: () => engine.connectionFailures(),
    figures: async () => {
      const dax = engine.dax()
      return { capacity: engine.capacity, ...(dax !== undefined && { dax }) }
    },
    close: () => engine.close(),
  }
}

/** Functions cannot be sent to a thread, so it gets the current password. */
function forThreads({ url, options }: EngineSource & { engine: 'redis' }): EngineSource {
  const { readPassword, ...plain } = options
  const password = readPassword?.() ?? url.password
  return { engine: 'redis', url: { ...url, ...(password !== undefined && { password }) }, options: plain }
}
