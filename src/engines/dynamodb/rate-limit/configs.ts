import { chunksOf } from '../../../core/chunks.js'
import type {
  ConfigBatch,
  ConfigPage,
  ConfigPageRequest,
  LimitConfigStore,
} from '../../../guards/rate-limit/port.js'
import type { ConfigKey, EntityRecord, Level, LevelConfig } from '../../../guards/rate-limit/types.js'
import { flag, flagOf, type Item, number, text, textOf } from '../client/attributes.js'
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
    const wanted = itemsOf(key, config)
    await this.change(key, async () => {
      const sorts = new Set(wanted.map(({ SK }) => SK!.S))
      const old = (await this.items(key, true)).filter(({ SK }) => !sorts.has(SK!.S))
      const room = MAX_TRANSACTION_ITEMS - OTHER_ITEMS - wanted.length
      const named = this.put(directoryKey(key))
      return [...wanted.map((item) => this.put(item)), named, ...(await this.removals(old, room))]
    })
  }

  remove(key: ConfigKey): Promise<boolean> {
    return this.change(key, async () => {
      const old = await this.items(key, true)
      if (old.length === 0) return undefined
      const unnamed = { Delete: { TableName: this.guards.table, Key: directoryKey(key) } }
      return [unnamed, ...(await this.removals(old, MAX_TRANSACTION_ITEMS - OTHER_ITEMS))]
    })
  }

  async writeEntity(id: string, { parent, cascade }: EntityRecord): Promise<void> {
    const item = { ...parentKey(id), parent_id: text(parent), cascade: flag(cascade) }
    await this.change(undefined, async () => [this.put(item)])
  }

  removeEntity(id: string): Promise<boolean> {
    return this.change(undefined, async () => {
      const item = await this.parent(id, true)
      return item === undefined ? undefined : this.removals([item], 1)
    })
  }

  /** Published as a number without a notice: every instance reads everything again. */
  async migrate(schemaVersion: number): Promise<void> {
    const { client, table: TableName } = this.guards
    const input = {
      TableName,
      Key: headKey('config'),
      UpdateExpression: 'SET #schema = :version ADD #number :one',
      ConditionExpression: 'attribute_not_exists(#schema) OR #schema < :version',
      ExpressionAttributeNames: { '#schema': 'schema_version', '#number': 'number' },
      ExpressionAttributeValues: { ':version': number(schemaVersion), ':one': number(1) },
    }
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

const recordOf = (item: Item): EntityRecord => ({
  parent: textOf(item, 'parent_id'),
  cascade: flagOf(item, 'cascade'),
})
