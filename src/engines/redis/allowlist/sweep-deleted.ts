import type { Redis } from '../link/redis.js'
import { defineScript } from '../link/script.js'
import { listKeys, REGISTRY_KEY, type ShardKeys, shardKeys, USES_KEY } from './keys.js'
import type { RedisLists } from './lists.js'
import type { Meta } from './meta.js'
import { NOTHING_DUE, type TaskResult } from './tasks.js'

const PURGE = defineScript('allowlist-purge', { keys: 12, write: true })
const FORGET = defineScript('allowlist-forget', { keys: 5, write: true })

/** Removes what deleted lists left. Several instances may do it at once. */
export class DeletedLists {
  constructor(
    private readonly redis: Redis,
    private readonly lists: RedisLists,
    /** Reads the current metadata. */
    private readonly readMeta: (id: string) => Promise<Meta | undefined>,
  ) {}

  async sweep(id: string, meta: Meta): Promise<TaskResult> {
    await this.lists.closeShards(id, meta)
    for (const shards of layoutsOf(meta)) {
      for (let shard = 0; shard < shards; shard++) {
        await this.redis.run(PURGE, purgeKeys(shardKeys(id, shards, shard)), [String(meta.incarnation)])
      }
    }
    await this.forget(id, meta, 'rest')
    await this.unregister(id)
    await this.forget(id, meta, 'metadata')
    await this.registerLiving(id)
    return { swept: 1, more: false }
  }

  /** An id without a list: from a create that was abandoned, or a sweep that was not finished. */
  async sweepOrphan(id: string): Promise<TaskResult> {
    await this.unregister(id)
    await this.registerLiving(id)
    return NOTHING_DUE
  }

  private forget(id: string, { incarnation }: Meta, what: 'rest' | 'metadata'): Promise<unknown> {
    const { meta, imports, build, manifest, pages } = listKeys(id)
    return this.redis.run(FORGET, [meta, imports, build, manifest, pages], [String(incarnation), what])
  }

  private async unregister(id: string): Promise<void> {
    await Promise.all([
      this.redis.write(REGISTRY_KEY, ['ZREM', REGISTRY_KEY, id]),
      this.redis.write(USES_KEY, ['ZREM', USES_KEY, id]),
    ])
  }

  /** Another instance may have finished the sweep, and a caller may have created the list again, during this sweep. */
  private async registerLiving(id: string): Promise<void> {
    if ((await this.readMeta(id)) !== undefined) {
      await this.redis.write(REGISTRY_KEY, ['ZADD', REGISTRY_KEY, '0', id])
    }
  }
}

/** Where members may be: a list that was moving has some in the new or in the old shards too. */
function layoutsOf({ shards, moving, dropping }: Meta): number[] {
  const others = [moving, dropping].flatMap((text) =>
    text === undefined ? [] : [(JSON.parse(text) as { shards: number }).shards],
  )
  return [...new Set([1, shards, ...others])]
}

const purgeKeys = (keys: ShardKeys): string[] => [
  ...[keys.state, keys.members, keys.attributes, keys.log, keys.expiries, keys.unindexed, keys.writers],
  ...[keys.next, keys.nextAttributes, keys.nextExpiries, keys.touched, keys.old],
]
