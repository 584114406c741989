import type { Catraca } from '../app/open-catraca.js'

/** Lookups of memberships so far, by who answered. */
export interface Lookups {
  /** Ruled out by a filter, or removed since the snapshot. */
  filtered: number
  /** By answers that the store gave lately. */
  verified: number
  /** Without asking the store, those two included. */
  fromMemory: number
  fromStore: number
}

export function lookupsOf(catraca: Catraca): Lookups {
  const { checks, verificationCacheHits: verified } = catraca.stats()
  const { filtered, overlay, trusted, confirmed, store } = checks
  return {
    filtered,
    verified,
    fromMemory: filtered + overlay + trusted + verified,
    fromStore: confirmed + store,
  }
}

export function lookupsSince(now: Lookups, before: Lookups): Lookups {
  return {
    filtered: now.filtered - before.filtered,
    verified: now.verified - before.verified,
    fromMemory: now.fromMemory - before.fromMemory,
    fromStore: now.fromStore - before.fromStore,
  }
}
