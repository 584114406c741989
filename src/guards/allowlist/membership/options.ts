/** How much memory the index uses, and when it is built. */
export interface MembershipOptions {
  /** Lists that do not fit are evicted, least recently used first, and checked in the store. 0: no index. */
  maxBytes: number
  /**
   * Whether this process builds snapshots. If off, it uses those built by other processes or by `catraca index build`.
   */
  build: 'auto' | 'off'
  /** A snapshot is rebuilt when this share of the list has changed, but not below `rebuildAtLeast` customers … */
  rebuildShare: number
  rebuildAtLeast: number
  /** … or when it is this old and anything has changed. */
  rebuildAgeMs: number
  /** An image with more changes than this since its snapshot is dropped until the next build. */
  maxOverlay: number
  /** Another process takes over a build that has not renewed its lease for this long. */
  buildLeaseMs: number
  verificationEntries: number
  verificationTtlMs: number
  /** How often positions and snapshots are compared with the store, even without notifications. */
  compareIntervalMs: number
  /** A list whose log could not be read for this long is checked in the store. */
  staleAfterMs: number
  /** How many lists are loaded before the process reports that it is ready. */
  warmUpLists: number
}

const MIB = 1024 * 1024
const HOUR_MS = 3_600_000

export const DEFAULT_MEMBERSHIP: MembershipOptions = {
  maxBytes: 512 * MIB,
  build: 'auto',
  rebuildShare: 0.02,
  rebuildAtLeast: 1000,
  rebuildAgeMs: 24 * HOUR_MS,
  maxOverlay: 500_000,
  buildLeaseMs: 30_000,
  verificationEntries: 50_000,
  verificationTtlMs: 60_000,
  compareIntervalMs: 1000,
  staleAfterMs: 3000,
  warmUpLists: 50,
}
