import type { Catraca } from '../app/open-catraca.js'

/** Membership lookups so far, by source of the answer. */
export interface Lookups {
  /** Not in the filter, or removed since the snapshot. */
  filtered: number
  /** Answered by the verification cache. */
  verified: number
  /** Answered without the store; includes the two above. */
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
