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
const SWEEP = defineScript('allowlist-replace-sweep', { keys: ['set', 'set'], write: true })
export const MISSING = defineScript('allowlist-replace-missing', { keys: 2, write: false })
const ABANDON = defineScript('allowlist-import-abandon', {
  keys: ['hash', 'hash'],
  write: true,
  uses: ['allowlist-import-claim'],
})

const WALKED_AT_ONCE = 500

/** Maximum work of one call. */
export interface Budget {
  steps: number
}

type Walk = [cursor: string, customers: string[]]

/** Removes what replaces left: abandoned generations, and the one before the last switch. */
export class ReplaceCleanup {
  /** How far the walk over each old generation has come. */
  private readonly cursors = new Map<string, string>()

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

  /** True when no shard of the list has anything left to clean, and no replace is building. */
  async clean(
    listId: string,
    now: number,
    budget: Budget = { steps: Number.POSITIVE_INFINITY },
  ): Promise<boolean> {
    const { catalog, shards } = this.context
    const list = await catalog.read(listId)
    if (list === undefined) return true
    for (const shard of shards.all(list)) {
      if (!(await this.cleanShard(shard, now, budget))) return false
    }
    return true
  }

  private async cleanShard({ list, shard, keys }: Shard, now: number, budget: Budget): Promise<boolean> {
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
        return true
      const use = useOf(next == null ? undefined : Number(next), Number(generation), meta)
      if (use === 'building') return true
      if (use === 'given-up') {
        if (!(await this.undo(list, keys, next ?? '', budget))) return false
      } else {
        await activate(this.context, listOf(list.id, meta), shard, now)
        return this.sweepOld(list, keys, budget)
      }
    }
    if (old === 0) return true
    return this.sweepOld(list, keys, budget)
  }

  private async undo(list: RedisList, keys: ShardKeys, next: string, budget: Budget): Promise<boolean> {
    const { redis, reverse } = this.context
    const undone = [keys.state, keys.next, keys.nextAttributes, keys.nextExpiries, keys.touched]
    const run = (step: string) => redis.run(UNDO, undone, [String(list.incarnation), next, step])
    const sequence = await run('stop')
    const walk = `undo ${keys.next}`
    let cursor = this.cursors.get(walk) ?? '0'
    if (sequence !== '') {
      do {
        if (budget.steps-- <= 0) {
          this.cursors.set(walk, cursor)
          return false
        }
        const step = (await redis.run(
          MISSING,
          [keys.next, keys.members],
          [cursor, String(WALKED_AT_ONCE)],
        )) as Walk
        cursor = step[0]
        const version = { ...list, listId: list.id, sequence: Number(sequence) }
        await reverse.noteAll(step[1], '-', version)
      } while (cursor !== '0')
    }
    this.cursors.delete(walk)
    await run('clear')
    return true
  }

  /** Customers are removed from the old generation only after the reverse index was updated: a crash loses nothing. */
  private async sweepOld(list: RedisList, keys: ShardKeys, budget: Budget): Promise<boolean> {
    const { redis, reverse } = this.context
    const sequence = Number(await redis.read(keys.state, ['HGET', keys.state, 'oldSequence']))
    const version = { ...list, listId: list.id, sequence }
    let cursor = this.cursors.get(keys.old) ?? '0'
    while (budget.steps-- > 0) {
      const args = [cursor, String(WALKED_AT_ONCE)]
      // As bytes: elements of another program need not be text, and must be removed too.
      const step = await redis.run(SWEEP, [keys.old, keys.members], args, { binary: true })
      const [next, gone] = step as [Buffer, Buffer[]]
      cursor = String(next)
      if (gone.length > 0) {
        await reverse.noteAll(gone, '-', version)
        await redis.write(keys.old, ['SREM', keys.old, ...gone])
      }
      if (cursor === '0' && (await redis.read(keys.old, ['EXISTS', keys.old])) === 0) {
        this.cursors.delete(keys.old)
        return true
      }
    }
    this.cursors.set(keys.old, cursor)
    return false
  }
}

/** The state of the next generation of a shard. */
function useOf(next: number | undefined, generation: number, meta: Meta): 'building' | 'behind' | 'given-up' {
  const replacing = meta.replacing && (JSON.parse(meta.replacing) as { generation: number })
  if (next !== undefined && replacing && replacing.generation === next) return 'building'
  if (next === meta.generation && generation < meta.generation) return 'behind'
  return 'given-up'
}
