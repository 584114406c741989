import { changeOneByOne, idOfStep, refusalNow } from '../../../guards/allowlist/list-set.js'
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
import { fromJson, type Item, number, text } from '../client/attributes.js'
import { Expression } from '../client/expression.js'
import { behind } from '../client/key-ranges.js'
import { type ItemRefusal, MAX_TRANSACTION_ITEMS, type TransactionItem } from '../client/transactions.js'
import { listPartition, metaKey, REGISTRY_PARTITION, readListId, registryKey } from './items.js'
import {
  encodeLabels,
  encodeMeta,
  newIncarnation,
  readableMeta,
  recordOf,
  type StoredList,
  updatedAt,
} from './meta.js'
import type { Store } from './store.js'

/** Upkeep task of a deleted list. */
export const DELETE = 'DELETE'
/** Of a transaction, which may have 4 MB. JSON is longer than what DynamoDB counts. */
const MAX_TRANSACTION_BYTES = 3_000_000

export class DynamodbLists implements ListStore {
  constructor(private readonly store: Store) {}

  async create(list: NewListRecord, now: number): Promise<CreateOutcome> {
    const stored = newList(list, now)
    const item = encodeMeta(stored)
    const result = await this.store.client.transactWrite('allowlist.create', this.creation(list.id, item))
    if (result.applied) {
      this.store.catalog.learned(list.id, item)
      return { outcome: 'created', list: recordOf(stored) }
    }
    const existing = result.refusals[0]?.item
    return { outcome: existing?.deletedAt === undefined ? 'exists' : 'being-deleted' }
  }

  private creation(id: string, item: Item): TransactionItem[] {
    const { allowlists: table } = this.store.tables
    return [
      { Put: { TableName: table, Item: item, ConditionExpression: 'attribute_not_exists(PK)' } },
      { Put: { TableName: table, Item: registryKey(id) } },
    ]
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
    const input = this.changed(id, change, now)
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

  private changed(id: string, change: ListChange, now: number): NonNullable<TransactionItem['Update']> {
    const { name, config, ifVersion, ...labels } = change
    const expression = new Expression()
    const version = expression.name('version')
    const one = expression.value(number(1))
    expression.setTo('version', `if_not_exists(${version}, ${one}) + ${one}`).set(updatedAt(now))
    if (name !== undefined) expression.set({ name: text(name) })
    if (config !== undefined) expression.set({ config: fromJson(config, 'config') })
    expression.set(encodeLabels(labels))
    expression.when(expression.exists('PK'), expression.absent('deletedAt'))
    if (ifVersion !== undefined) expression.when(versionIs(expression, ifVersion))
    return { TableName: this.store.tables.allowlists, Key: metaKey(id), ...expression.update() }
  }

  async delete(id: string, now: number): Promise<boolean> {
    const { client, catalog } = this.store
    const list = await catalog.read(id)
    if (list === undefined) return false
    const result = await client.transactWrite('allowlist.delete', this.deletion(id, now))
    catalog.forget(id)
    return result.applied
  }

  private deletion(id: string, now: number, ifVersion?: number): TransactionItem[] {
    const { tables, due } = this.store
    const expression = new Expression().set({ deletedAt: number(now) })
    expression.when(expression.exists('PK'), expression.absent('deletedAt'))
    if (ifVersion !== undefined) expression.when(versionIs(expression, ifVersion))
    return [
      { Update: { TableName: tables.allowlists, Key: metaKey(id), ...expression.update() } },
      due.put({ kind: DELETE, at: now, parts: [id] }),
    ]
  }

  /** One transaction, if the set fits: about 50 lists. Otherwise one list after the other. */
  async changeAll(steps: readonly ListSetStep[], now: number): Promise<ListSetOutcome> {
    const items = steps.map((step) => this.itemsOf(step, now))
    const fits =
      items.flat().length <= MAX_TRANSACTION_ITEMS && JSON.stringify(items).length <= MAX_TRANSACTION_BYTES
    if (!fits) return changeOneByOne(this, steps, now)
    if (steps.length === 0) return { outcome: 'changed' }
    const refusal = await refusalNow(this, steps)
    if (refusal !== undefined) return refusal
    const result = await this.store.client.transactWrite('allowlist.changeAll', items.flat())
    for (const step of steps) this.store.catalog.forget(idOfStep(step))
    return result.applied ? { outcome: 'changed' } : conflictOf(steps, items, result.refusals)
  }

  private itemsOf(step: ListSetStep, now: number): TransactionItem[] {
    switch (step.step) {
      case 'create':
        return this.creation(step.list.id, encodeMeta(newList(step.list, now)))
      case 'update': {
        const { id, step: _, ...change } = step
        return [{ Update: this.changed(id, change, now) }]
      }
      case 'delete':
        return this.deletion(step.id, now, step.ifVersion)
    }
  }
}

function newList(list: NewListRecord, now: number): StoredList {
  return {
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
}

/** The steps whose list somebody changed since it was compared. */
function conflictOf(
  steps: readonly ListSetStep[],
  items: readonly (readonly TransactionItem[])[],
  refusals: readonly ItemRefusal[],
): ListSetOutcome {
  const refused = new Map(refusals.map((refusal) => [refusal.index, refusal]))
  const ids: string[] = []
  const leaving: string[] = []
  let first = 0
  for (const [i, step] of steps.entries()) {
    // The condition is that of the first item.
    const refusal = refused.get(first)
    first += items[i]!.length
    if (refusal === undefined) continue
    const isLeaving = step.step === 'create' && refusal.item?.deletedAt !== undefined
    ;(isLeaving ? leaving : ids).push(idOfStep(step))
  }
  return ids.length > 0
    ? { outcome: 'conflict', ids, changed: 0 }
    : { outcome: 'being-deleted', ids: leaving, changed: 0 }
}

/** If another program has stored no version, the list has version 1. */
function versionIs(expression: Expression, version: number): string {
  const same = expression.equals('version', number(version))
  return version === 1 ? `${same} OR ${expression.absent('version')}` : same
}
