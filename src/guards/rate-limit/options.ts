import type { LocalLease } from './local-lease.js'
import type { Defaults } from './resolve.js'
import type { Limits } from './types.js'

export interface LimitOptions {
  /** How long a configuration is cached, also when there is none. */
  configCacheMs: number
  /** Maximum number of cached configurations. */
  configCacheEntries: number
  /** An engine that has not answered within this time counts as unavailable. */
  timeoutMs: number
  /** How long a lease can be adjusted or given back. */
  leaseMs: number
  /** How often usage counts are written to the store. */
  usageFlushMs: number
  /** Whether usage is counted. */
  usage: boolean
  /** How many entities are listed per resource and hour, highest use first. The totals include all entities. */
  usageEntities: number
  /** How long usage is stored. */
  usageRetentionMs: number
  /** Encrypts leases. Absent: a secret that the store holds. */
  leaseSecret?: string
  /**
   * With `onUnavailable: 'local'`: the part of each limit, above 0 and up to 1, that this process admits by itself
   * while the engine does not answer.
   */
  localShare: number
  /** Tokens that this process takes in advance, so that it can decide in memory. Absent: none. */
  localLease?: LocalLease
  /** Limits by resource, used where no level configures any. */
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
  localShare: 0.1,
  defaults: {},
}
