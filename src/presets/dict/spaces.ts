import type { Caches } from '../../guards/cache/index.js'
import type { NeededCodec, SpaceOptions } from '../../guards/cache/options.js'
import type { CacheSpace } from '../../guards/cache/space.js'

const SECOND = 1000
const MINUTE = 60 * SECOND
const DAY = 24 * 60 * MINUTE

/** How long entries live, according to the documents. */
export const DICT_TTL_MS = {
  entry: 5 * MINUTE,
  claim: MINUTE,
  claimStatus: MINUTE,
  claimIndex: 5 * MINUTE,
  workflowStatus: 30 * SECOND,
  workflowMetadata: 30 * DAY,
  keyCount: 5 * MINUTE,
} as const

/** Options for all spaces of the preset. With `staleMs`, values live longer in the store than the documents say. */
export type DictOptions = Omit<Partial<SpaceOptions>, 'name' | 'ttlMs' | 'codec' | 'tags'>

/** A space of the preset. No jitter by default: the TTLs of the documents are exact. */
export function dictSpace<T>(
  cache: Caches,
  name: string,
  ttlMs: number,
  options: DictOptions,
): CacheSpace<T> {
  return cache.space<T>({ jitter: 0, ...options, name, ttlMs } as SpaceOptions<T> & NeededCodec<T>)
}
