import type { ListedPage, ListingQuery } from '../../core/listing.js'
import type { CacheAnswer, FillLease, LeaseOptions, ListedEntryView, SpaceStats } from './types.js'

/** The operations on configured spaces that HTTP and the CLI offer. */
export interface CacheApi {
  /** Undefined when nothing is cached. */
  get(space: string, key: string): Promise<CacheAnswer<unknown> | undefined>
  set(space: string, key: string, value: unknown, options?: { ttlMs?: number }): Promise<void>
  /** For callers that load the value themselves: returns the cached value, or the lease that `fill` requires. */
  lease(space: string, key: string, options?: LeaseOptions): Promise<FillLease<unknown>>
  /** Rejects with `CACHE_LEASE_LOST` when nothing was stored. `null`: the source has no value. */
  fill(space: string, key: string, value: unknown, options: { lease: string; ttlMs?: number }): Promise<void>
  /** The load failed: another caller may begin at once. */
  release(space: string, key: string, lease: string): Promise<void>
  /** Treats the entry as if its TTL had passed. */
  expire(space: string, key: string): Promise<void>
  /** Entries of the second tier. A page may be short, or empty, although there is more. */
  list(space: string, query?: ListingQuery): Promise<ListedPage<ListedEntryView>>
  /** Whether the entry existed. */
  delete(space: string, key: string): Promise<boolean>
  /** Statistics by space. */
  stats(): Promise<Record<string, SpaceStats>>
}
