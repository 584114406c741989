import type { LocalLease } from './local-lease.js'
import type { Defaults } from './resolve.js'
import type { Limits } from './types.js'

export interface LimitOptions {
  /** How long a level's configuration is believed without asking again, also that there is none. */
  configCacheMs: number
  /** Configurations kept in memory. */
  configCacheEntries: number
  /** An engine that has not decided by then counts as unavailable. */
  timeoutMs: number
  /** How long a lease can be adjusted or given back. */
  leaseMs: number
  /** How often what was admitted and denied is written down. */
  usageFlushMs: number
  /** Whether it is counted at all. */
  usage: boolean
  /** How many entities of each resource and hour it tells apart, the heaviest; all are in the totals. */
  usageEntities: number
  /** How long it is kept. */
  usageRetentionMs: number
  /** Seals leases; absent: one that the store keeps. */
  leaseSecret?: string
  /** Tokens that this process takes ahead, so that it can decide in memory; absent: none. */
  localLease?: LocalLease
  /** What holds where no level says anything, by resource. */
  defaults: Partial<Defaults> & { limits?: Record<string, Limits> }
}

export const DEFAULT_LIMITS: LimitOptions = {
  configCacheMs: 60_000,
  configCacheEntries: 100_000,
  timeoutMs: 1000,
  leaseMs: 3_600_000,
  usageFlushMs: 5000,
  usage: true,
  usageEntities: 20,
  usageRetentionMs: 31 * 24 * 3_600_000,
  defaults: {},
}
