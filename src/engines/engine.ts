import type { Durations } from '../core/figures.js'
import type { MaybePromise } from '../core/maybe-promise.js'
import type { KeyStore } from '../guards/access/port.js'
import type { SessionStore } from '../guards/access/sessions/port.js'
import type { MemberSource } from '../guards/allowlist/hot/port.js'
import type { AllowlistEngine, ReshardStore } from '../guards/allowlist/port.js'
import type { AuditStore } from '../guards/audit/port.js'
import type { CacheStore } from '../guards/cache/port.js'
import type { FleetStore } from '../guards/fleet/port.js'
import type { IdempotencyStore } from '../guards/idempotency/port.js'
import type { LockStore } from '../guards/lock/port.js'
import type { CodeStore } from '../guards/one-time-code/port.js'
import type { LimitEngine } from '../guards/rate-limit/port.js'
import type { TokenStore } from '../guards/token-denylist/port.js'
import type { CapacityCounts } from './dynamodb/client/capacity.js'
import type { DaxState } from './dynamodb/client/dax-state.js'
import type { DiskUse } from './embedded/lmdb/disk-use.js'
import type { RedisNode } from './redis/link/redis.js'

/** What each guard needs from an engine, by the name of the guard. */
export interface EnginePorts {
  readonly allowlists: AllowlistEngine
  /** API keys. */
  readonly keys: KeyStore
  /** Sessions of people who signed in with a provider. */
  readonly sessions: SessionStore
  readonly limits: LimitEngine
  readonly idempotency: IdempotencyStore
  /** One-time codes. They also need `limits`, which counts attempts. */
  readonly codes: CodeStore
  readonly tokens: TokenStore
  readonly locks: LockStore
  /** The second tier of caches. */
  readonly cache: CacheStore
  readonly audit: AuditStore
}

export type GuardName = keyof EnginePorts

/**
 * An opened store. It offers the ports of the guards that it can keep data for; a guard whose port it does not offer
 * is absent. `name`, `health` and `close` are all that it needs besides.
 */
export interface Engine extends Partial<EnginePorts> {
  /** Shown in health, metrics and messages. */
  readonly name: string
  /** Facts about a store that answers. Throws or rejects if it does not. */
  health(): MaybePromise<object>
  close(): Promise<void>
  /** What an operator should know about the setup of the store. Reported when it is opened. */
  readonly warnings?: readonly string[]
  /** How long a write may take. Default: 10 s. */
  readonly writeTimeoutMs?: number
  /** Connections to the store that failed or were lost so far. */
  connectionFailures?(): number
  /** Checks and the change feed answer at once from mapped memory. Such calls are not timed: the clock costs more. */
  readonly answersFromMemory?: boolean
  /** A secret stored beside the data. The first call creates it. */
  keptSecret?(name: string): string
  /**
   * How a thread of this process opens the same store, by the registry. Absent for engines that are not in it: their
   * imports and index builds run in the calling thread.
   */
  forThreads?(): StoreSource
  /** After this call, reads see everything stored before it, also by other threads. */
  refresh?(): void
  /** The lists that checks have cached. */
  listCache?(): { size: number; hits: number; misses: number }
  /** For engines in which processes can find each other. */
  readonly fleet?: FleetStore
  /** For engines that shard lists. */
  readonly resharding?: ReshardStore
  /** For engines whose members can be copied to a hot tier. */
  readonly source?: MemberSource
  /** How long the servers took to answer, by command. */
  commandTimes?(): ReadonlyMap<string, Durations>
  /** Figures for metrics. */
  figures?(): MaybePromise<EngineFigures>
}

/** An engine that every guard can use. */
export type FullEngine = Engine & EnginePorts

/** Figures that only one engine has. */
export interface EngineFigures {
  /** Each Redis primary that answers. */
  redisServers?: readonly RedisNode[]
  capacity?: Pick<CapacityCounts, 'rows' | 'retries'>
  dax?: DaxState
  diskUse?: DiskUse
}

/** A store and the options to open it with, as plain data, because threads open it too. */
export interface StoreSource {
  readonly url: { readonly engine: string }
  readonly options: object
}
