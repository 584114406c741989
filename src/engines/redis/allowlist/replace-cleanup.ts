import { defineScript } from '../link/script.js'
import { activate } from './activate.js'
import type { BulkContext } from './bulk-context.js'
import { again } from './bulk-shards.js'
import { listKeys, type ShardKeys } from './keys.js'
import { listOf, type Meta, type RedisList } from './meta.js'
import type { Shard } from './shards.js'

const UNDO = defineScript('allowlist-replace-undo', {
  keys: ['hash', 'set', 'hash', 'zset', 'set'],
  write: true,
})
export const MISSING = defineScript('allowlist-replace-missing', { keys: 2, write: false })
const ABANDON = defineScript('allowlist-import-abandon', {
  keys: ['hash', 'hash'],
  write: true,
  uses: ['allowlist-import-claim'],
})

/** Removes what replaces left: abandoned generations, and what version 0.1.0 kept of the one before the last switch. */
export class ReplaceCleanup {
  constructor(private readonly context: BulkContext) {}

  /** Abandons a replace whose import is dead: it can no longer switch. */
  async abandonDead(listId: string, now: number): Promise<boolean> {
    const { redis, wake, catalog } = this.context
    const { meta, imports } = listKeys(listId)
    const args = [String(now), await this.followed(listId), wake.channel, listId]
    const isOver = (await again(() => redis.run(ABANDON, [meta, imports], args))) === 1
    if (isOver) catalog.forget(listId)
    return isOver
  }

  /**
   * The generation of a running replace, if shards have switched to it although the list, after a failover, has not.
   */
  private async followed(listId: string): Promise<string> {
    const { redis, catalog, shards } = this.context
    const meta = await again(() => catalog.readMeta(listId))
    if (meta?.replacing === undefined || meta.shards === 1) return ''
    const { generation } = JSON.parse(meta.replacing) as { generation: number }
    const fields = ['incarnation', 'generation']
    const states = (await Promise.all(
      shards
        .all(listOf(listId, meta))
        .map(({ keys }) => again(() => redis.read(keys.state, ['HMGET', keys.state, ...fields]))),
    )) as (string | null)[][]
    const wanted = [String(meta.incarnation), String(generation)].join()
    return states.some((state) => state.join() === wanted) ? String(generation) : ''
  }

  /** Cleans all shards of the list, unless a replace is building there. */
  async clean(listId: string, now: number): Promise<void> {
    const { catalog, shards } = this.context
    const list = await catalog.read(listId)
    if (list === undefined) return
    for (const shard of shards.all(list)) await this.cleanShard(shard, now)
  }

  private async cleanShard({ list, shard, keys }: Shard, now: number): Promise<void> {
    const { redis, catalog } = this.context
    const [[next, generation], left, old] = (await Promise.all([
      redis.read(keys.state, ['HMGET', keys.state, 'next', 'generation']),
      redis.read(keys.next, ['EXISTS', keys.next, keys.nextAttributes, keys.nextExpiries, keys.touched]),
      redis.read(keys.old, ['EXISTS', keys.old]),
    ])) as [(string | null)[], number, number]
    if (next != null || left > 0 || (generation != null && Number(generation) < list.generation)) {
      // Read after the shard: a replace is in the metadata before it opens the shards.
      const meta = await catalog.readMeta(list.id)
      if (meta?.incarnation !== list.incarnation || meta.deleted !== undefined || meta.layout !== list.layout)
        return
      const use = useOf(next == null ? undefined : Number(next), Number(generation), meta)
      if (use === 'building') return
      if (use === 'given-up') await this.undo(list, keys, next ?? '')
      else await activate(this.context, listOf(list.id, meta), shard, now)
    }
    if (old > 0) await redis.write(keys.old, ['UNLINK', keys.old])
  }

  private async undo(list: RedisList, keys: ShardKeys, next: string): Promise<void> {
    const undone = [keys.state, keys.next, keys.nextAttributes, keys.nextExpiries, keys.touched]
    await this.context.redis.run(UNDO, undone, [String(list.incarnation), next])
  }
}

/** The state of the next generation of a shard. */
function useOf(next: number | undefined, generation: number, meta: Meta): 'building' | 'behind' | 'given-up' {
  const replacing = meta.replacing && (JSON.parse(meta.replacing) as { generation: number })
  if (next !== undefined && replacing && replacing.generation === next) return 'building'
  if (next === meta.generation && generation < meta.generation) return 'behind'
  return 'given-up'
}
