import { LIFTED_MARK, LOCKED_MARK, storedKeys } from '../../../guards/access/lock-mark.js'
import type { KeyRecord, KeyStore, StoredKeys } from '../../../guards/access/port.js'
import type { Scope } from '../../../guards/access/scopes.js'
import { API_KEYS_PARTITION, apiKeyKey } from '../allowlist/items.js'
import type { Store } from '../allowlist/store.js'
import { fromJson, type Item, optionalJson, text, textOf } from '../client/attributes.js'
import { whole } from '../client/key-ranges.js'
import type { TransactionItem } from '../client/transactions.js'

const VERB = 'keys'

export class DynamodbKeys implements KeyStore {
  constructor(private readonly store: Store) {}

  async add(record: KeyRecord): Promise<boolean> {
    const key = this.put(record, 'attribute_not_exists(PK)')
    const { applied } = await this.store.client.transactWrite(VERB, [key, this.put(LOCKED_MARK)])
    return applied
  }

  async list(): Promise<StoredKeys> {
    const input = { TableName: this.store.tables.allowlists, ...whole(API_KEYS_PARTITION) }
    return storedKeys((await this.store.client.queryAll(VERB, input)).map(readKey))
  }

  async remove(name: string): Promise<boolean> {
    const TableName = this.store.tables.allowlists
    const { applied } = await this.store.client.transactWrite(VERB, [
      { Delete: { TableName, Key: apiKeyKey(name), ConditionExpression: 'attribute_exists(PK)' } },
      this.put(LOCKED_MARK),
    ])
    return applied
  }

  /** A key that is added in between sets the mark again. While there are keys, the mark has no effect. */
  async unlock(): Promise<boolean> {
    const { records } = await this.list()
    if (records.length > 0) return false
    await this.store.client.transactWrite(VERB, [this.put(LIFTED_MARK)])
    return true
  }

  private put({ name, scopes, hash, createdAt }: KeyRecord, condition?: string): TransactionItem {
    const item = {
      ...apiKeyKey(name),
      name: text(name),
      scopes: fromJson(scopes, 'scopes'),
      hash: text(hash),
      createdAt: text(new Date(createdAt).toISOString()),
    }
    const TableName = this.store.tables.allowlists
    return {
      Put: { TableName, Item: item, ...(condition !== undefined && { ConditionExpression: condition }) },
    }
  }
}

function readKey(item: Item): KeyRecord {
  return {
    name: textOf(item, 'name'),
    scopes: optionalJson(item, 'scopes') as Scope[],
    hash: textOf(item, 'hash'),
    createdAt: Date.parse(textOf(item, 'createdAt')),
  }
}
