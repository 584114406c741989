import type { CacheAnswer, FillLease, LeaseOptions, SpaceStats } from './types.js'

/** What can be asked of the spaces of a configuration from outside: by HTTP and on the command line. */
export interface CacheApi {
  /** Undefined when nothing is cached. */
  get(space: string, key: string): Promise<CacheAnswer<unknown> | undefined>
  set(space: string, key: string, value: unknown, options?: { ttlMs?: number }): Promise<void>
  /** For a load that is done elsewhere: what is cached, or the lease under which `fill` takes the value. */
  lease(space: string, key: string, options?: LeaseOptions): Promise<FillLease<unknown>>
  /** Rejects with `CACHE_LEASE_LOST` when nothing was stored. `null`: the source has none. */
  fill(space: string, key: string, value: unknown, options: { lease: string; ttlMs?: number }): Promise<void>
  /** The load failed: others may begin at once. */
  release(space: string, key: string, lease: string): Promise<void>
  /** As if its TTL had passed. */
  expire(space: string, key: string): Promise<void>
  /** Whether there was one. */
  delete(space: string, key: string): Promise<boolean>
  /** By space. */
  stats(): Promise<Record<string, SpaceStats>>
}
