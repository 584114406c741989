import { readCustomerKey } from '../../../guards/allowlist/customer-key.js'
import type { SortedCustomers } from '../../../guards/allowlist/port.js'
import { shardOf } from '../../../guards/allowlist/shard.js'

/**
 * What a batch had done when its list moved to another number of shards: how many of its customers each old shard had
 * stored. The mover writes it with its switch, so that only the rest of the batch goes to the new shards.
 */
export interface MovedBatch {
  key: string
  shards: number
  applied: number[]
  added: number
}

export function readMoved(text: string | null): MovedBatch[] {
  return text === null ? [] : (JSON.parse(text) as MovedBatch[])
}

/** The positions of a batch that are still to be stored, and how many customers were added before. */
export function stillToStore(
  run: SortedCustomers,
  from: number,
  to: number,
  key: string,
  moved: readonly MovedBatch[],
): { places: number[]; added: number } {
  let places = Array.from({ length: to - from }, (_, i) => from + i)
  let added = 0
  for (const batch of moved) {
    if (batch.key !== key) continue
    const seen = new Array<number>(batch.shards).fill(0)
    added += batch.added
    places = places.filter((place) => {
      const id = readCustomerKey(run.bytes, run.start(place), run.end(place))
      const shard = shardOf(id, batch.shards)
      return seen[shard]!++ >= batch.applied[shard]!
    })
  }
  return { places, added }
}
