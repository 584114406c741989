import type { ListRef, Position } from '../changes/port.js'
import type { IndexStatus } from '../types.js'
import type { Indexes } from './indexes.js'
import type { Manifest } from './port.js'

/** The number of log entries that a list's image contains, over all logs. */
const entriesOf = (position: Position | undefined): number =>
  (position ?? []).reduce((sum, { sequence }) => sum + sequence, 0)

/** The index status of a list, from memory and store. */
export function indexStatus(
  list: ListRef,
  indexes: Indexes,
  manifest: Manifest | undefined,
  builder: string | undefined,
): IndexStatus {
  const { index, building } = indexes.get(list.incarnation)
  const status: IndexStatus = {
    allowlistId: list.id,
    state: index === undefined ? 'absent' : index.isUsable ? 'loaded' : 'behind',
    building: building || builder !== undefined,
    pages: manifest?.pages.length ?? 0,
    sizeBytes: index?.sizeBytes ?? manifest?.sizeBytes ?? 0,
    customers: manifest?.customers ?? 0,
    position: entriesOf(index?.position ?? manifest?.position),
    overlaySize: index?.overlaySize ?? 0,
    ...(index !== undefined && { feedLagMs: indexes.feedLagMs(index) }),
  }
  if (manifest === undefined) return status
  const { builtAt, tookMs, rebuiltPages } = manifest
  return { ...status, lastBuild: { at: new Date(builtAt).toISOString(), tookMs, rebuiltPages } }
}
