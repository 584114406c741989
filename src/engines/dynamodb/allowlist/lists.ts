import type {
  CreateOutcome,
  ListChange,
  ListRecord,
  ListStore,
  NewListRecord,
  UpdateOutcome,
} from '../../../guards/allowlist/port.js'
import { fromJson, type Item, number, text } from '../client/attributes.js'
import { Expression } from '../client/expression.js'
import { behind } from '../client/key-ranges.js'
import { listPartition, metaKey, REGISTRY_PARTITION, readListId, registryKey } from './items.js'
import { encodeMeta, newIncarnation, readableMeta, recordOf, type StoredList, updatedAt } from './meta.js'
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
      return { outcome: 'created', list: recordOf(stored) }
    }
    const existing = result.refusals[0]?.item
    return { outcome: existing?.deletedAt === undefined ? 'exists' : 'being-deleted' }
  }

  async get(id: string): Promise<ListRecord | undefined> {
    const stored = await this.store.catalog.read(id)
    return stored && recordOf(stored)
  }

  async page(after: string | undefined, limit: number): Promise<ListRecord[]> {
    const { client, tables } = this.store
    const records: ListRecord[] = []
    const registry = client.queryPages('allowlist.lists', {
      TableName: tables.allowlists,
      ...behind(REGISTRY_PARTITION, listPartition(after ?? '')),
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
    return lists.sort((a, b) => (a.id < b.id ? -1 : 1)).map(recordOf)
  }

  async update(id: string, change: ListChange, now: number): Promise<UpdateOutcome> {
    const { name, config, ifVersion } = change
    const expression = new Expression()
    const version = expression.name('version')
    const one = expression.value(number(1))
    expression.setTo('version', `if_not_exists(${version}, ${one}) + ${one}`).set(updatedAt(now))
    if (name !== undefined) expression.set({ name: text(name) })
    if (config !== undefined) expression.set({ config: fromJson(config, 'config') })
    expression.when(expression.exists('PK'), expression.absent('deletedAt'))
    if (ifVersion !== undefined) expression.when(versionIs(expression, ifVersion))
    const input = { TableName: this.store.tables.allowlists, Key: metaKey(id), ...expression.update() }
    const result = await this.store.client.updateItem(
      'allowlist.update',
      { ...input, ReturnValues: 'ALL_NEW' },
      { repeatable: false },
    )
    const stored = this.store.catalog.learned(id, result.item)
    if (stored === undefined) return { outcome: 'not-found' }
    if (!result.applied) return { outcome: 'version-mismatch', version: stored.version }
    return { outcome: 'updated', list: recordOf(stored) }
  }

  async delete(id: string, now: number): Promise<boolean> {
    const { client, tables, catalog, due } = this.store
    const list = await catalog.read(id)
    if (list === undefined) return false
    const expression = new Expression().set({ deletedAt: number(now) })
    expression.when(expression.exists('PK'), expression.absent('deletedAt'))
    const result = await client.transactWrite('allowlist.delete', [
      { Update: { TableName: tables.allowlists, Key: metaKey(id), ...expression.update() } },
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
