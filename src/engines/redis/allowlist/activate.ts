import { defineScript } from '../link/script.js'
import type { BulkContext } from './bulk-context.js'
import type { RedisList } from './meta.js'
import { newMark, SHARD_KEY_TYPES, SHARD_USES, shardScriptKeys } from './shard-script.js'

const ACTIVATE = defineScript('allowlist-activate', {
  keys: [...SHARD_KEY_TYPES, 'set'],
  write: true,
  uses: [...SHARD_USES, 'allowlist-activate-shard'],
})

/**
 * Brings a shard to the generation that its list, read just now, has switched to. Any process may do it, at any time,
 * and repeatedly. Between the switch of the metadata and this call, changes go to both generations.
 */
export async function activate(
  { redis, shards, wake, maxLogBytes }: BulkContext,
  list: RedisList,
  shard: number,
  now: number,
): Promise<void> {
  const keys = shards.keys(list, shard)
  const args = [list.incarnation, list.generation, now, newMark(), maxLogBytes].map(String)
  await redis.run(ACTIVATE, [...shardScriptKeys(keys), keys.old], [...args, wake.channel, list.id])
}
