import type { KeyRecord, KeyStore } from '../../../access/port.js'
import type { Scope } from '../../../access/scopes.js'
import { fromJson, type Item, optionalJson, text, textOf } from '../client/attributes.js'
import { API_KEYS_PARTITION, apiKeyKey } from './items.js'
import type { Store } from './store.js'

const VERB = 'keys'

export class DynamodbKeys implements KeyStore {
  constructor(private readonly store: Store) {}

  async add(record: KeyRecord): Promise<boolean> {
    const { name, scopes, hash, createdAt } = record
    const result = await this.store.client.putItem(VERB, {
      TableName: this.store.tables.allowlists,
      Item: {
        ...apiKeyKey(name),
        name: text(name),
        scopes: fromJson(scopes, 'scopes'),
        hash: text(hash),
        createdAt: text(new Date(createdAt).toISOString()),
      },
      ConditionExpression: 'attribute_not_exists(PK)',
    })
    // An attempt whose answer was lost may have stored it: no two keys have the same hash.
    return result.applied || (result.maybeOwn && result.item?.hash?.S === hash)
  }

  async list(): Promise<KeyRecord[]> {
    const records: KeyRecord[] = []
    const pages = this.store.client.queryPages(VERB, {
      TableName: this.store.tables.allowlists,
      KeyConditionExpression: 'PK = :pk',
      ExpressionAttributeValues: { ':pk': text(API_KEYS_PARTITION) },
      ConsistentRead: true,
    })
    for await (const items of pages) records.push(...items.map(readKey))
    return records
  }

  async remove(name: string): Promise<boolean> {
    const result = await this.store.client.deleteItem(VERB, {
      TableName: this.store.tables.allowlists,
      Key: apiKeyKey(name),
      ConditionExpression: 'attribute_exists(PK)',
    })
    return result.applied || result.maybeOwn
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
