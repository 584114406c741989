/** How much memory the index takes, and when it is built. */
export interface MembershipOptions {
  /** Lists that do not fit are dropped, least recently used first, and checked in the store. 0: no index at all. */
  maxBytes: number
  /** Whether this process builds; otherwise it uses what others, or `catraca index build`, have built. */
  build: 'auto' | 'off'
  /** A snapshot is built anew when this share of the list has changed since, but at least so many customers … */
  rebuildShare: number
  rebuildAtLeast: number
  /** … or when it is this old and anything changed. */
  rebuildAgeMs: number
  /** An image with more changes than this since its snapshot is given up until the next build. */
  maxOverlay: number
  /** How long a build may be silent before another process takes over. */
  buildLeaseMs: number
  verificationEntries: number
  verificationTtlMs: number
  /** How often positions and snapshots are compared with the store, whatever wake-ups say. */
  compareIntervalMs: number
  /** A list whose log could not be read for so long is checked in the store. */
  staleAfterMs: number
  /** How many lists are loaded before the process says that it is ready. */
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
