import { chunksOf } from '../../../core/chunks.js'
import { differs } from '../../../guards/rate-limit/config-set.js'
import type {
  ConfigBatch,
  ConfigPage,
  ConfigPageRequest,
  ConfigSetOutcome,
  ConfigSetStep,
  EntityPage,
  LimitConfigStore,
} from '../../../guards/rate-limit/port.js'
import type { ConfigKey, EntityRecord, Level, LevelConfig } from '../../../guards/rate-limit/types.js'
import { flag, flagOf, type Item, number, text, textOf } from '../client/attributes.js'
import { Expression } from '../client/expression.js'
import { between, startingWith } from '../client/key-ranges.js'
import { MAX_TRANSACTION_ITEMS, type TransactionItem } from '../client/transactions.js'
import { configOf, itemsOf } from './config-items.js'
import { Directory } from './directory.js'
import {
  directoryKey,
  entityPartition,
  headKey,
  LIMIT_PREFIX,
  levelPartition,
  limitPrefix,
  PARENT_SORT,
  parentKey,
  SECRET_KEY,
} from './keys.js'
import type { Notices } from './notices.js'
import { type LimitTable, retryUntilDone } from './table.js'

/** How many items of an entity, also of other resources, one query reads in order to reach its parent. */
const ENTITY_ITEMS = 40
/** Other items of the transaction that changes a level: its number, the notice, and its directory entry. */
const OTHER_ITEMS = 3
/** Levels that are read concurrently. */
const READ_AT_ONCE = 20

interface EntityItems {
  /** For each requested resource. */
  limits: Item[][]
  parent: Item | undefined
}

/** Levels in the flat layout of the source design, one item per limit. */
export class DynamodbLimitConfigs implements LimitConfigStore {
  private readonly directory: Directory

  constructor(
    private readonly guards: LimitTable,
    private readonly notices: Notices,
  ) {
    this.directory = new Directory(guards)
  }

  /** One query per level, all at once. Each costs half a unit, however many limits it has. */
  async read(keys: readonly ConfigKey[], entity: string | undefined): Promise<ConfigBatch> {
    this.notices.used()
    const isConsistent = this.notices.isSettling
    const ofEntity = keys.filter((key) => key.level === 'entity' && key.entity === entity)
    const resources = ofEntity.map(({ resource }) => resource)
    const both = ofEntity.length > 0 ? this.readEntity(entity!, resources, isConsistent) : undefined
    const [configs, parent, schemaVersion] = await Promise.all([
      Promise.all(
        keys.map(async (key) => {
          const place = ofEntity.indexOf(key)
          const items = place < 0 ? await this.items(key, isConsistent) : (await both!).limits[place]!
          const config = configOf(key, items)
          if (config !== undefined) this.directory.found(key)
          return config
        }),
      ),
      both?.then((found) => found.parent) ?? this.parent(entity, isConsistent),
      this.notices.schemaVersion(),
    ])
    return { configs, entity: parent && recordOf(parent), schemaVersion }
  }

  /** Pages through the directory, then reads the configurations like `read`. */
  async list(level: Level, { after, limit, resource, scan }: ConfigPageRequest): Promise<ConfigPage> {
    if (scan && after === undefined) await this.directory.scan()
    const { keys, isLast } = await this.directory.page(level, after, limit)
    const wanted = keys.filter((key) => resource === undefined || key.resource === resource)
    const items: ConfigPage['items'] = []
    for (const part of chunksOf(wanted, READ_AT_ONCE)) {
      const found = await Promise.all(part.map(async (key) => this.items(key, true)))
      for (const [n, key] of part.entries()) {
        const config = configOf(key, found[n]!)
        // Another program has deleted it.
        if (config !== undefined) items.push({ key, config })
      }
    }
    return isLast ? { items } : { items, next: keys.at(-1)! }
  }

  /** Limits and parent are neighbours: one query, unless the entity has very many limits of other resources. */
  private async readEntity(
    entity: string,
    resources: readonly string[],
    ConsistentRead: boolean,
  ): Promise<EntityItems> {
    const { client, table: TableName } = this.guards
    const { items, next } = await client.query('limit.config', {
      TableName,
      ...between(entityPartition(entity), LIMIT_PREFIX, PARENT_SORT),
      Limit: ENTITY_ITEMS,
      ConsistentRead,
    })
    if (next !== undefined) {
      const [limits, parent] = await Promise.all([
        Promise.all(
          resources.map((resource) => this.items({ level: 'entity', entity, resource }, ConsistentRead)),
        ),
        this.parent(entity, ConsistentRead),
      ])
      return { limits, parent }
    }
    return {
      limits: resources.map((resource) => items.filter(({ SK }) => SK!.S!.startsWith(limitPrefix(resource)))),
      parent: items.find(({ SK }) => SK!.S === PARENT_SORT),
    }
  }

  private async items(key: ConfigKey, ConsistentRead: boolean): Promise<Item[]> {
    const range = { ...startingWith(levelPartition(key), limitPrefix(key.resource)), ConsistentRead }
    return this.guards.client.queryAll('limit.config', { TableName: this.guards.table, ...range })
  }

  private async parent(entity: string | undefined, ConsistentRead: boolean): Promise<Item | undefined> {
    if (entity === undefined) return undefined
    const { client, table: TableName } = this.guards
    return client.getItem('limit.config', { TableName, Key: parentKey(entity), ConsistentRead })
  }

  async write(key: ConfigKey, config: LevelConfig): Promise<void> {
    await this.change(key, async () => this.itemsOfLevel(key, config, await this.items(key, true)))
  }

  remove(key: ConfigKey): Promise<boolean> {
    return this.change(key, async () => {
      const stored = await this.items(key, true)
      return stored.length === 0 ? undefined : this.itemsOfLevel(key, undefined, stored)
    })
  }

  /** What makes the stored items of a level those of the configuration; undefined removes it. */
  private async itemsOfLevel(
    key: ConfigKey,
    config: LevelConfig | undefined,
    stored: readonly Item[],
  ): Promise<TransactionItem[]> {
    const wanted = config === undefined ? [] : itemsOf(key, config)
    const sorts = new Set(wanted.map(({ SK }) => SK!.S))
    const old = stored.filter(({ SK }) => !sorts.has(SK!.S))
    const room = MAX_TRANSACTION_ITEMS - OTHER_ITEMS - wanted.length
    const listed = directoryKey(key)
    const named =
      config === undefined ? { Delete: { TableName: this.guards.table, Key: listed } } : this.put(listed)
    return [...wanted.map((item) => this.put(item)), named, ...(await this.removals(old, room))]
  }

  async writeEntity(id: string, record: EntityRecord): Promise<void> {
    await this.change(undefined, async () => this.parentItems(id, record))
  }

  removeEntity(id: string): Promise<boolean> {
    return this.change(undefined, async () => {
      const item = await this.parent(id, true)
      return item === undefined ? undefined : this.parentItems(id, undefined)
    })
  }

  private parentItems(id: string, record: EntityRecord | undefined): TransactionItem[] {
    const listed = directoryKey({ level: 'parent', entity: id })
    if (record !== undefined) {
      const item = { ...parentKey(id), parent_id: text(record.parent), cascade: flag(record.cascade) }
      return [this.put(item), this.put(listed)]
    }
    return [parentKey(id), listed].map((Key) => ({ Delete: { TableName: this.guards.table, Key } }))
  }

  async listEntities(after: string | undefined, limit: number): Promise<EntityPage> {
    const { ids, isLast } = await this.directory.entities(after, limit)
    const items: EntityPage['items'] = []
    for (const part of chunksOf(ids, READ_AT_ONCE)) {
      const found = await Promise.all(part.map((id) => this.parent(id, true)))
      for (const [n, id] of part.entries()) {
        if (found[n] !== undefined) items.push({ id, record: recordOf(found[n]) })
      }
    }
    return isLast ? { items } : { items, next: ids.at(-1)! }
  }

  /**
   * One transaction, if the set fits. Otherwise several, each of which compares its records again: a crash in between
   * leaves the later ones undone.
   */
  async changeAll(steps: readonly ConfigSetStep[]): Promise<ConfigSetOutcome> {
    const sizes: number[] = []
    const at: number[] = []
    for (const part of chunksOf([...steps.entries()], READ_AT_ONCE)) {
      await Promise.all(
        part.map(async ([i, step]) => {
          const stored = await this.stored(step)
          if (differs(step, stored.record)) at.push(i)
          const wanted = 'key' in step && step.config ? itemsOf(step.key, step.config).length : 1
          sizes[i] = stored.items.length + wanted + 1
        }),
      )
    }
    if (at.length > 0) return { outcome: 'conflict', at: at.sort((a, b) => a - b), changed: 0 }
    for (const [from, to] of groupsOf(sizes, MAX_TRANSACTION_ITEMS - OTHER_ITEMS)) {
      const moved = await this.changeGroup(steps.slice(from, to))
      if (moved.length > 0)
        return { outcome: 'conflict', at: moved.map((place) => from + place), changed: from }
    }
    return { outcome: 'changed' }
  }

  /** The places of the records that are not as expected; then nothing is changed. */
  private async changeGroup(steps: readonly ConfigSetStep[]): Promise<number[]> {
    let moved: number[] = []
    await this.change(undefined, async () => {
      const all = await Promise.all(steps.map((step) => this.itemsOfStep(step)))
      moved = all.flatMap((items, i) => (items === undefined ? [i] : []))
      return moved.length > 0 ? undefined : all.flatMap((items) => items!)
    })
    return moved
  }

  /** Undefined if the record is not as expected. */
  private async itemsOfStep(step: ConfigSetStep): Promise<TransactionItem[] | undefined> {
    const { record, items } = await this.stored(step)
    if (differs(step, record)) return undefined
    return 'entity' in step
      ? this.parentItems(step.entity, step.record)
      : this.itemsOfLevel(step.key, step.config, items)
  }

  private async stored(
    step: ConfigSetStep,
  ): Promise<{ record: LevelConfig | EntityRecord | undefined; items: Item[] }> {
    if ('key' in step) {
      const items = await this.items(step.key, true)
      return { record: configOf(step.key, items), items }
    }
    const item = await this.parent(step.entity, true)
    return { record: item && recordOf(item), items: item === undefined ? [] : [item] }
  }

  /** Published as a number without a notice: every instance reads everything again. */
  async migrate(schemaVersion: number): Promise<void> {
    const { client, table: TableName } = this.guards
    const schema_version = number(schemaVersion)
    const e = new Expression().set({ schema_version }).add({ number: 1 })
    e.when(`${e.absent('schema_version')} OR ${e.name('schema_version')} < ${e.value(schema_version)}`)
    const input = { TableName, Key: headKey('config'), ...e.update() }
    await client.updateItem('limit.config', input, { repeatable: true })
    this.notices.changedHere()
  }

  async secret(candidate: string): Promise<string> {
    const { client, table: TableName } = this.guards
    const result = await client.putItem('limit.config', {
      TableName,
      Item: { ...SECRET_KEY, secret: text(candidate) },
      ConditionExpression: 'attribute_not_exists(PK)',
    })
    return result.applied ? candidate : textOf(result.item!, 'secret')
  }

  watch(listener: (changed: ConfigKey | undefined) => void): () => void {
    return this.notices.onConfig(listener)
  }

  private put(Item: Item): TransactionItem {
    return { Put: { TableName: this.guards.table, Item } }
  }

  /** Another program may have written more items than a transaction can delete. The excess is deleted before. */
  private async removals(old: readonly Item[], room: number): Promise<TransactionItem[]> {
    const { client, table } = this.guards
    const keys = old.map(({ PK, SK }) => ({ PK: PK!, SK: SK! }))
    const surplus = keys.slice(room).map((key) => ({ table, delete: key }))
    if (surplus.length > 0) await client.batchWrite('limit.config', surplus)
    return keys.slice(0, room).map((Key) => ({ Delete: { TableName: table, Key } }))
  }

  /**
   * One change at a time: each checks that there was no other since it began to read, so that two concurrent ones do
   * not leave half of each. The notice is in the same transaction. False if there is nothing to change.
   */
  private async change(
    key: ConfigKey | undefined,
    plan: () => Promise<TransactionItem[] | undefined>,
  ): Promise<boolean> {
    const { log } = this.notices
    const isChanged = await retryUntilDone(this.guards, async () => {
      const { count } = await log.head('limit.config', 'config', true)
      const items = await plan()
      if (items === undefined) return false
      const told = log.configNotice(count, key)
      const { applied } = await this.guards.client.transactWrite('limit.config', [...items, ...told])
      return applied ? true : undefined
    })
    this.notices.changedHere()
    return isChanged
  }
}

/** Neighbours that together have at most this size, each as where it begins and ends. */
function* groupsOf(sizes: readonly number[], most: number): Generator<[from: number, to: number]> {
  let from = 0
  let size = 0
  for (const [i, one] of sizes.entries()) {
    if (i > from && size + one > most) {
      yield [from, i]
      from = i
      size = 0
    }
    size += one
  }
  if (from < sizes.length) yield [from, sizes.length]
}

const recordOf = (item: Item): EntityRecord => ({
  parent: textOf(item, 'parent_id'),
  cascade: flagOf(item, 'cascade'),
})
