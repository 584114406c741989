import type { StoreUse } from '../registry-entry.js'
import type { IdempotencyClock, RecordNaming } from './idempotency/index.js'
import type { RedisOptions } from './link/options.js'
import type { LimitClock } from './rate-limit/index.js'

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
  use?: StoreUse
}
