/** A value and how good it is. `undefined` is what a source said that has none. */
export interface CacheAnswer<T> {
  value: T | undefined
  /**
   * Older than its TTL: served because the load failed, is slow, or is another's. Or, when `degraded` too, perhaps
   * invalidated: nobody could tell.
   */
  stale: boolean
  /** Since it was loaded or set. On Redis, where values are bare JSON, what its TTL lets conclude: at most so long. */
  ageMs: number
  /** The second tier did not answer: nobody could have told of an invalidation. */
  degraded?: true
}

export interface LoadContext {
  /** Aborted when the load has taken too long, and nobody waits for it any more. */
  signal: AbortSignal
}

/** Loads a value from the source; `undefined` or `null` when there is none. */
export type Load<T> = (
  key: string,
  context: LoadContext,
) => Promise<T | undefined | null> | T | undefined | null
/** Loads many at once; a key that is missing in the answer has none. */
export type LoadMany<T> = (
  keys: readonly string[],
  context: LoadContext,
) => Promise<ReadonlyMap<string, T | undefined | null>>

export interface EntryOptions<T = unknown> {
  /** Instead of the space's; or what tells it of the value, such as its `expires_in`. Not kept when that says 0 or less. */
  ttlMs?: number | ((value: T, key: string) => number)
  /** By which it can be deleted together with others. */
  tags?: readonly string[]
}

export interface LeaseOptions {
  /** How long the lease lasts: the load must be done by then. The space's `hardLoadTimeoutMs` when absent. */
  ttlMs?: number
  /** How long to wait for the load of another, if there is nothing to answer with meanwhile. */
  waitMs?: number
  /** The lease whatever is cached, and from whoever has it. */
  refresh?: boolean
  /** Ends the wait. */
  signal?: AbortSignal
}

/** What somebody gets who would load a value elsewhere. */
export type FillLease<T> =
  /** Nothing to do. What is stale is being loaded by another. */
  | ({ state: 'cached' } & CacheAnswer<T>)
  /** Load it, and give it back with the lease; until then `stale` may be served. */
  | { state: 'yours'; lease: string; expiresAt: Date; stale?: CacheAnswer<T> }
  /** Another loads, and has so long to do so. */
  | { state: 'busy'; retryAfterMs: number }

export interface SpaceStats {
  /** Answered by the first tier, by the second, and by neither. */
  firstTierHits: number
  secondTierHits: number
  misses: number
  /** Of all that were asked for. */
  hitRate: number
  loads: number
  loadFailures: number
  /** Mean time of a load, the last ones counting most. */
  loadMs: number
  /** Before the entry expired. */
  earlyRefreshes: number
  staleAnswers: number
  /** Fills that waited for the fill of another. */
  waitedFills: number
  /** Fills that were not kept, because the key was invalidated since they began. */
  voidFills: number
  /** Entries that could not be read, and were deleted. */
  unreadable: number
  /** Answers that there is none, from either tier. */
  negatives: number
  /** Answers without the second tier, which did not answer. */
  degraded: number
  /** Loads that gave their values. */
  loaded: number
  /** Values too large to be kept. */
  tooLarge: number
  firstTier: { entries: number; bytes: number; evictions: number; isTrusted: boolean }
  secondTier: { status: 'up' | 'down'; failures: number; skipped: number; pendingRemovals: number }
  source: 'up' | 'down'
}
