import type { Clock } from '../core/clock.js'
import { Caches } from '../guards/cache/index.js'
import type { SpaceOptions } from '../guards/cache/options.js'
import type { StoreEngine } from './open-engine.js'

export interface OpenCacheOptions {
  /** A store URL, if the second tier is in another store than the rest. */
  store?: string
  /** Default timeout of the second tier, for spaces that set none. */
  timeoutMs?: number
  /** Spaces that can be used by name, also over HTTP. */
  spaces?: readonly SpaceOptions[]
}

interface Surroundings {
  clock: Clock
  report: (message: string, error: unknown) => void
}

export function openCache(
  { store: _, ...given }: OpenCacheOptions,
  { cache }: StoreEngine,
  around: Surroundings,
): Caches {
  return new Caches({ ...around, ...given, store: cache })
}
