import type { SpaceParts } from './flight-endings.js'
import type { SpaceStats } from './types.js'

export function spaceStats<T>({ counts, first, second, source, entries }: SpaceParts<T>): SpaceStats {
  const hits = counts.firstTierHits + counts.secondTierHits
  const asked = hits + counts.misses
  return {
    ...counts,
    hitRate: asked === 0 ? 0 : hits / asked,
    loads: source.loads,
    loadFailures: source.failures,
    loaded: source.loaded,
    loadMs: source.loadTime.ms,
    tooLarge: entries.tooLarge,
    firstTier: {
      entries: first.entries?.size ?? 0,
      bytes: first.entries?.calculatedSize ?? 0,
      evictions: first.evictions,
      isTrusted: first.isTrusted,
    },
    secondTier: {
      status: second.isDown() ? 'down' : 'up',
      failures: second.failures,
      skipped: second.skipped,
      pendingRemovals: second.pendingRemovals,
    },
    source: source.isDown() ? 'down' : 'up',
  }
}
