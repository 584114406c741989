import type {
  CreateOutcome,
  ListChange,
  ListRecord,
  ListStore,
  NewListRecord,
  UpdateOutcome,
} from '../../../guards/allowlist/port.js'
import { unlessUnreadable } from '../../../guards/allowlist/unreadable.js'
import { behindChange, isForeign } from '../link/failures.js'
import type { Redis } from '../link/redis.js'
import { defineScript } from '../link/script.js'
import type { Catalog } from './catalog.js'
import type { ChangeChannel } from './change-channel.js'
import type { DueLists } from './due-lists.js'
import { INCARNATION_KEY, listKeys, REGISTRY_KEY, shardKeys } from './keys.js'
import { type Meta, readFlatMeta, recordOf } from './meta.js'
import type { Shards } from './shards.js'

const INCARNATION = defineScript('incarnation', { keys: ['string'], write: true })
const CREATE = defineScript('allowlist-create', { keys: ['hash', 'hash', 'hash', 'stream'], write: true })
const UPDATE = defineScript('allowlist-update', { keys: ['hash'], write: true })
const DELETE = defineScript('allowlist-delete', { keys: ['hash', 'hash', 'hash'], write: true })

export class RedisLists implements ListStore {
  constructor(
    private readonly redis: Redis,
    private readonly catalog: Catalog,
    private readonly shards: Shards,
    private readonly due: DueLists,
    private readonly wake: ChangeChannel,
    private readonly initialShards: number,
  ) {}

  /**
   * The id is registered before the list exists. A sweep of an earlier list may remove it in between, so it is
   * registered again. If this process dies before that, the first instance that uses the list does it (catalog.ts).
   */
  async create(list: NewListRecord, now: number): Promise<CreateOutcome> {
    const { id } = list
    await this.register(id)
    const incarnation = String(await this.redis.run(INCARNATION, [INCARNATION_KEY], []))
    const { meta } = listKeys(id)
    const { attributes, state, log } = shardKeys(id, 1, 0)
    const args = [incarnation, String(this.initialShards), String(now), this.wake.channel, id]
    const outcome = (await this.redis.run(
      CREATE,
      [meta, attributes, state, log],
      [...args, ...fieldsOf(list)],
    )) as CreateOutcome['outcome']
    if (outcome !== 'created') return { outcome }
    return behindChange(this.opened(id))
  }

  private async opened(id: string): Promise<CreateOutcome> {
    await this.register(id)
    const created = await this.catalog.read(id)
    if (created !== undefined && created.shardCount > 1) {
      await Promise.all(
        this.shards.all(created).map(({ shard }) => this.shards.bringForward(created, shard, 0)),
      )
    }
    const record = await this.get(id)
    // It was already deleted again. For its creator it existed.
    return record === undefined ? { outcome: 'being-deleted' } : { outcome: 'created', list: record }
  }

  private async register(id: string): Promise<void> {
    await this.redis.write(REGISTRY_KEY, ['ZADD', REGISTRY_KEY, '0', id])
  }

  async get(id: string): Promise<ListRecord | undefined> {
    const [meta, single] = await Promise.all([this.catalog.readMeta(id), this.figures(id, 1)])
    if (meta === undefined || meta.deleted !== undefined) return undefined
    return recordOf(id, meta, meta.shards === 1 ? single : await this.figures(id, meta.shards))
  }

  /** Member count and last change, over all shards. */
  private async figures(
    id: string,
    shardCount: number,
  ): Promise<{ customerCount: number; updatedAt: number }> {
    const shards = await Promise.all(
      Array.from({ length: shardCount }, async (_, shard) => {
        const { members, state } = shardKeys(id, shardCount, shard)
        return Promise.all([
          this.redis.read(members, ['SCARD', members]).catch(noneIfOfOtherType) as Promise<number>,
          this.redis.read(state, ['HGET', state, 'updatedAt']).catch(noneIfOfOtherType).then(Number),
        ])
      }),
    )
    return {
      customerCount: shards.reduce((sum, [count]) => sum + count, 0),
      updatedAt: Math.max(...shards.map(([, updatedAt]) => updatedAt)),
    }
  }

  async page(after: string | undefined, limit: number): Promise<ListRecord[]> {
    const records: ListRecord[] = []
    let from = after === undefined ? '-' : `(${after}`
    while (records.length < limit) {
      const wanted = limit - records.length
      const args = ['ZRANGE', REGISTRY_KEY, from, '+', 'BYLEX', 'LIMIT', '0', String(wanted)]
      const ids = (await this.redis.read(REGISTRY_KEY, args)) as string[]
      const found = await Promise.all(ids.map((id) => this.get(id).catch(unlessUnreadable)))
      records.push(...found.filter((record) => record !== undefined))
      if (ids.length < wanted) break
      from = `(${ids.at(-1)}`
    }
    return records
  }

  async update(id: string, change: ListChange, now: number): Promise<UpdateOutcome> {
    const { meta } = listKeys(id)
    const args = [String(change.ifVersion ?? 0), String(now), this.wake.channel, id, ...fieldsOf(change)]
    const [outcome, ...rest] = (await this.redis.run(UPDATE, [meta], args)) as [string, ...unknown[]]
    if (outcome === 'not-found') return { outcome }
    if (outcome === 'version-mismatch') return { outcome, version: Number(rest[0]) }
    this.catalog.forget(id)
    const updated = readFlatMeta(rest as string[])!
    const figures = await behindChange(this.figures(id, updated.shards))
    return { outcome: 'updated', list: recordOf(id, updated, figures) }
  }

  async delete(id: string, now: number): Promise<boolean> {
    // Upkeep must know of the delete even if this process dies right after the script.
    await this.due.noteIfRoom(id, now, now)
    const { meta } = listKeys(id)
    const single = shardKeys(id, 1, 0)
    const keys = [meta, single.state, single.attributes]
    const deleted = await this.redis.run(DELETE, keys, [String(now), this.wake.channel, id])
    this.catalog.forget(id)
    if (deleted === 0) return false
    await behindChange(this.closed(id, now))
    return true
  }

  private async closed(id: string, now: number): Promise<void> {
    const gone = await this.catalog.readMeta(id)
    if (gone !== undefined) await this.closeShards(id, gone)
    await this.due.noteIfRoom(id, now, now)
  }

  /** From now on the shards refuse writers that still have the deleted list in memory. */
  async closeShards(id: string, { incarnation, shards }: Meta): Promise<void> {
    if (shards === 1) return
    await Promise.all(
      Array.from({ length: shards }, (_, shard) =>
        this.shards.close(shardKeys(id, shards, shard), incarnation),
      ),
    )
  }
}

/** If another program has overwritten the set of a list, it has no members, and can still be read and deleted. */
function noneIfOfOtherType(error: unknown): number {
  if (isForeign(error)) return 0
  throw error
}

function fieldsOf(
  list: Partial<Pick<NewListRecord, 'name' | 'type' | 'precision' | 'salt' | 'config'>>,
): string[] {
  const { name, type, precision, salt, config } = list
  const fields = { name, type, precision, salt, config: config && JSON.stringify(config) }
  return Object.entries(fields).flatMap(([field, value]) => (value === undefined ? [] : [field, value]))
}
