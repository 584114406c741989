import { chunksOf } from '../../../core/chunks.js'
import { changeOneByOne, idOfStep } from '../../../guards/allowlist/list-set.js'
import type {
  CreateOutcome,
  ListChange,
  ListRecord,
  ListSetOutcome,
  ListSetStep,
  ListStore,
  NewListRecord,
  UpdateOutcome,
} from '../../../guards/allowlist/port.js'
import type { ListLabels } from '../../../guards/allowlist/types.js'
import { unlessUnreadable } from '../../../guards/allowlist/unreadable.js'
import { behindChange, isForeign } from '../link/failures.js'
import type { Redis } from '../link/redis.js'
import { defineScript } from '../link/script.js'
import type { Catalog } from './catalog.js'
import type { ChangeChannel } from './change-channel.js'
import type { DueLists } from './due-lists.js'
import { INCARNATION_KEY, listKeys, REGISTRY_KEY, shardKeys } from './keys.js'
import { type Meta, readFlatMeta, recordOf } from './meta.js'
import { registeredLists } from './registry.js'
import type { Shards } from './shards.js'

const INCARNATION = defineScript('incarnation', { keys: ['string'], write: true })
const CREATE = defineScript('allowlist-create', { keys: ['hash', 'hash', 'hash', 'stream'], write: true })
const UPDATE = defineScript('allowlist-update', { keys: ['hash'], write: true })
const DELETE = defineScript('allowlist-delete', { keys: ['hash', 'hash', 'hash'], write: true })
const CHANGE_SET = defineScript('allowlist-set', {
  keys: ['hash', 'hash', 'hash', 'stream'],
  write: true,
  uses: ['allowlist-create', 'allowlist-update', 'allowlist-delete'],
  form: { argsOf: (items) => items.flatMap(({ args }) => [...args]), resultsOf: (reply) => [reply] },
})

/** Lists of a set that are prepared or finished together. */
const AT_ONCE = 100

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
    const args = await this.creationOf(list, now)
    const outcome = (await this.redis.run(CREATE, keysOf(id), args)) as CreateOutcome['outcome']
    if (outcome !== 'created') return { outcome }
    return behindChange(this.opened(id))
  }

  private async creationOf(list: NewListRecord, now: number): Promise<string[]> {
    const incarnation = String(await this.redis.run(INCARNATION, [INCARNATION_KEY], []))
    const about = [String(now), this.wake.channel, list.id]
    return [incarnation, String(this.initialShards), ...about, ...fieldsOf(list)]
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
    for await (const ids of registeredLists(this.redis, after, limit)) {
      const found = await Promise.all(ids.map((id) => this.get(id).catch(unlessUnreadable)))
      records.push(...found.filter((record) => record !== undefined))
      if (records.length >= limit) break
    }
    return records.slice(0, limit)
  }

  async update(id: string, change: ListChange, now: number): Promise<UpdateOutcome> {
    const { meta } = listKeys(id)
    const args = this.updateOf(id, change, now)
    const [outcome, ...rest] = (await this.redis.run(UPDATE, [meta], args)) as [string, ...unknown[]]
    if (outcome === 'not-found') return { outcome }
    if (outcome === 'version-mismatch') return { outcome, version: Number(rest[0]) }
    this.catalog.forget(id)
    const updated = readFlatMeta(rest as string[])!
    const figures = await behindChange(this.figures(id, updated.shards))
    return { outcome: 'updated', list: recordOf(id, updated, figures) }
  }

  private updateOf(id: string, change: ListChange, now: number): string[] {
    return [String(change.ifVersion ?? 0), String(now), this.wake.channel, id, ...fieldsOf(change)]
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

  /** One script, where all lists are on one server. In a cluster they are in different slots, which no script reaches together. */
  async changeAll(steps: readonly ListSetStep[], now: number): Promise<ListSetOutcome> {
    const slots = new Set(steps.map((step) => this.redis.slot(listKeys(idOfStep(step)).meta)))
    return slots.size > 1 ? changeOneByOne(this, steps, now) : this.changeTogether(steps, now)
  }

  private async changeTogether(steps: readonly ListSetStep[], now: number): Promise<ListSetOutcome> {
    if (steps.length === 0) return { outcome: 'changed' }
    // As for single lists: what must be known even if this process dies right after the script.
    const args: string[] = []
    for (const part of chunksOf(steps, AT_ONCE))
      for (const one of await Promise.all(part.map((step) => this.argumentsOf(step, now)))) args.push(...one)
    const [moved, leaving] = (await this.redis.run(
      CHANGE_SET,
      steps.flatMap((step) => keysOf(idOfStep(step))),
      args,
      { gathered: true },
    )) as [number[], number[]]
    const idsAt = (places: readonly number[]) => places.map((place) => idOfStep(steps[place - 1]!))
    for (const step of steps) this.catalog.forget(idOfStep(step))
    if (moved.length > 0) return { outcome: 'conflict', ids: idsAt(moved), changed: 0 }
    if (leaving.length > 0) return { outcome: 'being-deleted', ids: idsAt(leaving), changed: 0 }
    await behindChange(this.finishedAll(steps, now))
    return { outcome: 'changed' }
  }

  private async finishedAll(steps: readonly ListSetStep[], now: number): Promise<void> {
    for (const part of chunksOf(steps, AT_ONCE))
      await Promise.all(part.map((step) => this.finished(step, now)))
  }

  private async argumentsOf(step: ListSetStep, now: number): Promise<string[]> {
    switch (step.step) {
      case 'create': {
        await this.register(step.list.id)
        return counted('create', '', await this.creationOf(step.list, now))
      }
      case 'update': {
        const { id, step: _, ...change } = step
        return counted('update', String(step.ifVersion), this.updateOf(id, change, now))
      }
      case 'delete': {
        await this.due.noteIfRoom(step.id, now, now)
        const args = [String(now), this.wake.channel, step.id]
        return counted('delete', String(step.ifVersion), args)
      }
    }
  }

  private async finished(step: ListSetStep, now: number): Promise<void> {
    if (step.step === 'create') await this.opened(step.list.id)
    else if (step.step === 'delete') await this.closed(step.id, now)
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

const counted = (operation: ListSetStep['step'], version: string, args: readonly string[]): string[] => [
  ...[operation, version, String(args.length)],
  ...args,
]

/** Of the scripts that create a list or change a set. */
function keysOf(id: string): [meta: string, attributes: string, state: string, log: string] {
  const { attributes, state, log } = shardKeys(id, 1, 0)
  return [listKeys(id).meta, attributes, state, log]
}

/** If another program has overwritten the set of a list, it has no members, and can still be read and deleted. */
function noneIfOfOtherType(error: unknown): number {
  if (isForeign(error)) return 0
  throw error
}

function fieldsOf(
  list: Partial<Pick<NewListRecord, 'name' | 'type' | 'precision' | 'salt' | 'config' | keyof ListLabels>>,
): string[] {
  const { name, type, precision, salt, config, tags, owner, description } = list
  const fields = {
    ...{ name, type, precision, salt, owner, description },
    config: config && JSON.stringify(config),
    tags: tags && JSON.stringify(tags),
  }
  return Object.entries(fields).flatMap(([field, value]) => (value === undefined ? [] : [field, value]))
}
