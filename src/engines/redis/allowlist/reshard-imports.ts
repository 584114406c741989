import type { BulkContext } from './bulk-context.js'
import { type MovedBatch, readMoved } from './bulk-moved.js'
import { again } from './bulk-shards.js'
import { movedField } from './imports.js'
import { listKeys, type ShardKeys } from './keys.js'

interface Writer {
  owner: string
  batches: Map<string, MovedBatch>
}

/**
 * Moves the running imports to the new shards while the old ones are frozen: their owners, and what the current batch
 * has done. Returns what the switch must store: import ids and texts in turn.
 */
export async function moveImports(
  { redis }: BulkContext,
  listId: string,
  from: readonly ShardKeys[],
  to: readonly ShardKeys[],
): Promise<string[]> {
  const writers = new Map<string, Writer>()
  const found = await Promise.all(
    from.map(({ writers: key }) =>
      again(() => redis.read(key, ['HGETALL', key]) as Promise<Map<string, string>>),
    ),
  )
  found.forEach((fields, shard) => {
    for (const [importId, owner] of fields) {
      if (importId.includes('#')) continue
      const writer = writers.get(importId) ?? { owner, batches: new Map() }
      writers.set(importId, writer)
      note(writer.batches, fields.get(`${importId}#batch`), shard, from.length)
    }
  })
  if (writers.size === 0) return []
  const owners = [...writers].flatMap(([importId, { owner }]) => [importId, owner])
  await Promise.all(to.map(({ writers: key }) => again(() => redis.write(key, ['HSET', key, ...owners]))))
  const { imports } = listKeys(listId)
  const texts = await Promise.all(
    [...writers].map(async ([importId, { batches }]) => {
      const field = movedField(importId)
      const before = readMoved(
        (await again(() => redis.read(imports, ['HGET', imports, field]))) as string | null,
      )
      const still = before.filter(({ key }) => batches.has(key) || batches.size === 0)
      return [importId, JSON.stringify([...still, ...batches.values()])]
    }),
  )
  return texts.flat()
}

/** Parses NUMBER KEY APPLIED ADDED, as lua/allowlist-import-batch.lua writes it. */
function note(
  batches: Map<string, MovedBatch>,
  text: string | undefined,
  shard: number,
  shards: number,
): void {
  if (text === undefined) return
  const [, key, applied, added] = text.split(' ') as [string, string, string, string]
  const batch = batches.get(key) ?? { key, shards, applied: new Array<number>(shards).fill(0), added: 0 }
  batch.applied[shard] = Number(applied)
  batch.added += Number(added)
  batches.set(key, batch)
}
