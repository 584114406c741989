import type { Clock } from '../core/clock.js'
import { Caches } from '../guards/cache/index.js'
import type { SpaceOptions } from '../guards/cache/options.js'
import type { StoreEngine } from './open-engine.js'

export interface OpenCacheOptions {
  /** A store URL, when the second tier is elsewhere than the rest. */
  store?: string
  /** What the second tier may take, where a space does not say it. */
  timeoutMs?: number
  /** Spaces that can be asked by name, over HTTP too. */
  spaces?: readonly SpaceOptions[]
}

interface Surroundings {
  clock: Clock
  report: (message: string, error: unknown) => void
}

/** Caches over their engine. */
export function openCache(
  { store: _, ...given }: OpenCacheOptions,
  { cache }: StoreEngine,
  around: Surroundings,
): Caches {
  return new Caches({ ...around, ...given, store: cache })
}
