import { isForeign } from '../link/failures.js'
import type { Redis } from '../link/redis.js'
import { defineScript } from '../link/script.js'
import { listKeys, REGISTRY_KEY, type ShardKeys, shardKeys, USES_KEY } from './keys.js'
import type { RedisLists } from './lists.js'
import type { Meta } from './meta.js'
import { endOf, type ReverseIndex } from './reverse-index.js'
import { NOTHING_DUE, type TaskResult } from './tasks.js'

const PURGE = defineScript('allowlist-purge', { keys: 13, write: true })
const FORGET = defineScript('allowlist-forget', { keys: 5, write: true })

const MEMBERS_PER_STEP = 1000

/** Removes what deleted lists left. Several instances may do it at once. */
export class DeletedLists {
  constructor(
    private readonly redis: Redis,
    private readonly lists: RedisLists,
    private readonly reverse: ReverseIndex,
    /** Reads the current metadata. */
    private readonly readMeta: (id: string) => Promise<Meta | undefined>,
  ) {}

  async sweep(id: string, meta: Meta): Promise<TaskResult> {
    await this.lists.closeShards(id, meta)
    for (const shards of layoutsOf(meta)) {
      for (let shard = 0; shard < shards; shard++) {
        const keys = shardKeys(id, shards, shard)
        for (const set of [keys.members, keys.next, keys.old]) {
          const swept = await this.sweepSet(id, meta, keys, set)
          if (swept > 0) return { swept, more: true }
        }
        await this.redis.run(PURGE, purgeKeys(keys, keys.members), [String(meta.incarnation)])
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

  private async sweepSet(id: string, { incarnation }: Meta, keys: ShardKeys, set: string): Promise<number> {
    const customers = await this.someOf(set)
    if (customers.length === 0) return 0
    await this.reverse.noteAll(customers, '-', endOf(id, incarnation))
    await this.redis.run(PURGE, purgeKeys(keys, set), [String(incarnation), ...customers])
    return customers.length
  }

  /** As bytes: elements of another program need not be text, and must be removed too. */
  private async someOf(set: string): Promise<Buffer[]> {
    for (let cursor = '0'; ; ) {
      const args = ['SSCAN', set, cursor, 'COUNT', String(MEMBERS_PER_STEP)]
      const step = await this.redis.readBinary(set, args).catch(nothingIfOfOtherType)
      const [next, customers] = step as [Buffer, Buffer[]]
      // A step may find nothing if most members are removed already.
      if (customers.length > 0 || String(next) === '0') return customers
      cursor = String(next)
    }
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

/** A set that another program has overwritten is deleted as it is. */
function nothingIfOfOtherType(error: unknown): [Buffer, Buffer[]] {
  if (isForeign(error)) return [Buffer.from('0'), []]
  throw error
}

/** Where members may be: a list that was moving has some in the new or in the old shards too. */
function layoutsOf({ shards, moving, dropping }: Meta): number[] {
  const others = [moving, dropping].flatMap((text) =>
    text === undefined ? [] : [(JSON.parse(text) as { shards: number }).shards],
  )
  return [...new Set([1, shards, ...others])]
}

const purgeKeys = (keys: ShardKeys, set: string): string[] => [
  keys.state,
  set,
  ...[keys.attributes, keys.log, keys.expiries, keys.unindexed, keys.writers, keys.members],
  ...[keys.next, keys.nextAttributes, keys.nextExpiries, keys.touched, keys.old],
]
