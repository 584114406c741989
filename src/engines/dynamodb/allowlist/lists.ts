import type {
  CreateOutcome,
  ListChange,
  ListRecord,
  ListStore,
  NewListRecord,
  UpdateOutcome,
} from '../../../guards/allowlist/port.js'
import { fromJson, type Item, number, text } from '../client/attributes.js'
import { all, Expression } from '../client/expression.js'
import { listPartition, metaKey, REGISTRY_PARTITION, readListId, registryKey } from './items.js'
import { encodeMeta, newIncarnation, readableMeta, type StoredList, toRecord } from './meta.js'
import type { Store } from './store.js'

/** Upkeep task of a deleted list. */
export const DELETE = 'DELETE'

export class DynamodbLists implements ListStore {
  constructor(private readonly store: Store) {}

  async create(list: NewListRecord, now: number): Promise<CreateOutcome> {
    const stored: StoredList = {
      ...list,
      incarnation: newIncarnation(),
      customerCount: 0,
      version: 1,
      shardCount: 1,
      giant: false,
      createdAt: now,
      updatedAt: now,
      layout: 0,
      generation: 0,
      lastGeneration: 0,
      openBatches: [],
    }
    const { allowlists: table } = this.store.tables
    const item = encodeMeta(stored)
    const result = await this.store.client.transactWrite('allowlist.create', [
      { Put: { TableName: table, Item: item, ConditionExpression: 'attribute_not_exists(PK)' } },
      { Put: { TableName: table, Item: registryKey(list.id) } },
    ])
    if (result.applied) {
      this.store.catalog.learned(list.id, item)
      return { outcome: 'created', list: toRecord(stored) }
    }
    const existing = result.refusals[0]?.item
    return { outcome: existing?.deletedAt === undefined ? 'exists' : 'being-deleted' }
  }

  async get(id: string): Promise<ListRecord | undefined> {
    const stored = await this.store.catalog.read(id)
    return stored && toRecord(stored)
  }

  async page(after: string | undefined, limit: number): Promise<ListRecord[]> {
    const { client, tables } = this.store
    const records: ListRecord[] = []
    const registry = client.queryPages('allowlist.lists', {
      TableName: tables.allowlists,
      KeyConditionExpression: 'PK = :pk AND SK > :after',
      ExpressionAttributeValues: {
        ':pk': text(REGISTRY_PARTITION),
        ':after': text(listPartition(after ?? '')),
      },
      ConsistentRead: true,
      Limit: limit,
    })
    for await (const entries of registry) {
      records.push(...(await this.records(entries)))
      if (records.length >= limit) break
    }
    return records.slice(0, limit)
  }

  private async records(entries: Item[]): Promise<ListRecord[]> {
    if (entries.length === 0) return []
    const keys = entries.map(({ SK }) => metaKey(readListId(SK!.S!)!))
    const table = this.store.tables.allowlists
    const items = await this.store.client.batchGetItem('allowlist.lists', { table, keys, consistent: true })
    const lists = items
      .flatMap((item) => readableMeta(item) ?? [])
      .filter((list) => list.deletedAt === undefined)
    return lists.sort((a, b) => (a.id < b.id ? -1 : 1)).map(toRecord)
  }

  async update(id: string, change: ListChange, now: number): Promise<UpdateOutcome> {
    const { name, config, ifVersion } = change
    const expression = new Expression()
    const version = expression.name('version')
    const one = expression.value(number(1))
    const sets = [
      `${version} = if_not_exists(${version}, ${one}) + ${one}`,
      `${expression.name('updatedAt')} = ${expression.value(text(new Date(now).toISOString()))}`,
    ]
    if (name !== undefined) sets.push(`${expression.name('name')} = ${expression.value(text(name))}`)
    if (config !== undefined) {
      sets.push(`${expression.name('config')} = ${expression.value(fromJson(config, 'config'))}`)
    }
    const condition = all(
      expression.exists('PK'),
      expression.absent('deletedAt'),
      ifVersion === undefined ? undefined : versionIs(expression, ifVersion),
    )
    const result = await this.store.client.updateItem(
      'allowlist.update',
      {
        TableName: this.store.tables.allowlists,
        Key: metaKey(id),
        UpdateExpression: `SET ${sets.join(', ')}`,
        ConditionExpression: condition,
        ReturnValues: 'ALL_NEW',
        ...expression.parts(),
      },
      { repeatable: false },
    )
    const stored = this.store.catalog.learned(id, result.item)
    if (stored === undefined) return { outcome: 'not-found' }
    if (!result.applied) return { outcome: 'version-mismatch', version: stored.version }
    return { outcome: 'updated', list: toRecord(stored) }
  }

  async delete(id: string, now: number): Promise<boolean> {
    const { client, tables, catalog, due } = this.store
    const list = await catalog.read(id)
    if (list === undefined) return false
    const expression = new Expression()
    const deletedAt = `${expression.name('deletedAt')} = ${expression.value(number(now))}`
    const result = await client.transactWrite('allowlist.delete', [
      {
        Update: {
          TableName: tables.allowlists,
          Key: metaKey(id),
          UpdateExpression: `SET ${deletedAt}`,
          ConditionExpression: all(expression.exists('PK'), expression.absent('deletedAt')),
          ...expression.parts(),
        },
      },
      due.put({ kind: DELETE, at: now, parts: [id] }),
    ])
    catalog.forget(id)
    return result.applied
  }
}

/** If another program has stored no version, the list has version 1. */
function versionIs(expression: Expression, version: number): string {
  const same = expression.equals('version', number(version))
  return version === 1 ? `${same} OR ${expression.absent('version')}` : same
}
