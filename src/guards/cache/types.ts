/** A value and its quality. `value` is `undefined` when the source has no value for the key. */
export interface CacheAnswer<T> {
  value: T | undefined
  /**
   * The value is older than its TTL, served because the load failed, is slow, or runs elsewhere. With `degraded`,
   * it may also have been invalidated: invalidations could not be received.
   */
  stale: boolean
  /** Time since it was loaded or set. On Redis, which stores bare JSON, an upper bound computed from the TTL. */
  ageMs: number
  /** The second tier did not answer, so an invalidation may have been missed. */
  degraded?: true
}

export interface LoadContext {
  /** Aborted when the load has timed out and no caller waits for it any more. */
  signal: AbortSignal
}

/** Loads a value from the source. Returns `undefined` or `null` if the source has none. */
export type Load<T> = (
  key: string,
  context: LoadContext,
) => Promise<T | undefined | null> | T | undefined | null
/** Loads many values at once. A key that is missing in the result has no value. */
export type LoadMany<T> = (
  keys: readonly string[],
  context: LoadContext,
) => Promise<ReadonlyMap<string, T | undefined | null>>

export interface EntryOptions<T = unknown> {
  /**
   * Overrides the TTL of the space. A function computes it from the value, for example from its `expires_in`. A
   * result of 0 or less: the value is not stored.
   */
  ttlMs?: number | ((value: T, key: string) => number)
  /** Tags by which the entry can be deleted together with others. */
  tags?: readonly string[]
}

export interface LeaseOptions {
  /** Lease duration: the load must finish within it. Default: the space's `hardLoadTimeoutMs`. */
  ttlMs?: number
  /** How long to wait for another caller's load when there is no value to return meanwhile. */
  waitMs?: number
  /** Take the lease even if a value is cached or another caller holds the lease. */
  refresh?: boolean
  /** Aborts the wait. */
  signal?: AbortSignal
}

/** The result of `lease`, for callers that load the value themselves. */
export type FillLease<T> =
  /** Nothing to load. If the value is stale, another caller is loading it. */
  | ({ state: 'cached' } & CacheAnswer<T>)
  /** Load the value and pass it to `fill` with the lease. Until then `stale` may be served. */
  | { state: 'yours'; lease: string; expiresAt: Date; stale?: CacheAnswer<T> }
  /** Another caller is loading. Retry after this time. */
  | { state: 'busy'; retryAfterMs: number }

/** An entry of the second tier, without its value. */
export interface ListedEntryView {
  key: string
  /** Since it was stored, where the store knows it. */
  ageMs?: number
  /** Until the store deletes it. Absent if another program stored it without an end. */
  leftMs?: number
  /** As stored, compressed or not. */
  sizeBytes?: number
}

export interface SpaceStats {
  /** Requests answered by the first tier, by the second tier, and by neither. */
  firstTierHits: number
  secondTierHits: number
  misses: number
  /** Share of all requests that were hits. */
  hitRate: number
  loads: number
  loadFailures: number
  /** Moving average of the load time, recent loads weighing most. */
  loadMs: number
  /** Refreshes started before the entry expired. */
  earlyRefreshes: number
  staleAnswers: number
  /** Fills that waited for another caller's fill. */
  waitedFills: number
  /** Fills that were not stored because the key was invalidated after they began. */
  voidFills: number
  /** Entries that could not be decoded, and were deleted. */
  unreadable: number
  /** Hits, from either tier, that said the source has no value. */
  negatives: number
  /** Answers given while the second tier did not answer. */
  degraded: number
  /** Loads that returned their values. */
  loaded: number
  /** Values too large to store. */
  tooLarge: number
  firstTier: { entries: number; bytes: number; evictions: number; isTrusted: boolean }
  secondTier: { status: 'up' | 'down'; failures: number; skipped: number; pendingRemovals: number }
  source: 'up' | 'down'
}
