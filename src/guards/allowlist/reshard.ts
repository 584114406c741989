import { CatracaError, invalid } from '../../core/errors.js'
import type { ReshardCallOptions } from './api.js'
import { missing } from './lists.js'
import type { ListRecord, ReshardStore } from './port.js'

const MAX_SHARDS = 1000

/** Moves a list to another number of shards. */
export async function reshardList(
  store: ReshardStore,
  { id, shardCount }: ListRecord,
  shards: number,
  { signal, onProgress }: ReshardCallOptions,
): Promise<void> {
  const { outcome } = await store.reshard(id, shards, {
    ...(signal && { signal }),
    ...(onProgress && {
      onProgress: (moving) => onProgress({ allowlistId: id, shardCount, moving: { shards, ...moving } }),
    }),
  })
  if (outcome === 'list-not-found') missing(id)
  if (outcome === 'replace-running') throw new CatracaError('REPLACE_IN_PROGRESS', `${id} is being replaced`)
  if (outcome === 'reshard-running')
    throw new CatracaError('RESHARD_IN_PROGRESS', `${id} is already being moved to other shards`)
}

export function checkShards(shards: number): void {
  if (!Number.isInteger(shards) || shards < 1 || shards > MAX_SHARDS) {
    throw invalid('shards', `must be a whole number from 1 to ${MAX_SHARDS}`)
  }
}
