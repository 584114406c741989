import { Caches } from './cache/caches.js'
import type { SpaceOptions } from './cache/options.js'
import type { CacheStore } from './cache/port.js'
import type { Clock } from './clock.js'
import { CatracaError } from './errors.js'
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
  { name, cache }: StoreEngine,
  around: Surroundings,
): Caches {
  return new Caches({ ...around, ...given, store: cache ?? withoutCache(name) })
}

/** For a store that keeps everything else: whoever opens a space is told where it can be kept. */
function withoutCache(name: string): CacheStore {
  const refuse = (): never => {
    throw new CatracaError(
      'STORE_UNSUPPORTED',
      `caches cannot be kept in ${name} in this version: name another store for them (stores.cache)`,
    )
  }
  return {
    ...{ maxValueBytes: 0, read: refuse, begin: refuse, store: refuse, renew: refuse, release: refuse },
    ...{ write: refuse, remove: refuse, removeTag: refuse, clear: refuse, watch: refuse },
    sweep: async () => ({ more: false }),
  }
}
