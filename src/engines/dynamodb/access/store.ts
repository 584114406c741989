import { LIFTED_MARK, LOCKED_MARK, storedKeys } from '../../../guards/access/lock-mark.js'
import type { KeyChange, KeyRecord, KeyStore, StoredKeys } from '../../../guards/access/port.js'
import type { Scope } from '../../../guards/access/scopes.js'
import { API_KEYS_PARTITION, apiKeyKey } from '../allowlist/items.js'
import type { Store } from '../allowlist/store.js'
import { fromJson, type Item, optionalJson, optionalText, text, textOf } from '../client/attributes.js'
import { Expression } from '../client/expression.js'
import { whole } from '../client/key-ranges.js'

const VERB = 'keys'
/** Not `expiresAt`: by that name DynamoDB itself deletes rows, and a store whose last key is gone must stay locked. */
const EXPIRES = 'refusedFrom'

export class DynamodbKeys implements KeyStore {
  constructor(private readonly store: Store) {}

  async add(record: KeyRecord): Promise<boolean> {
    const Put = { ...this.put(record).Put, ConditionExpression: 'attribute_not_exists(PK)' }
    const { applied } = await this.store.client.transactWrite(VERB, [{ Put }, this.put(LOCKED_MARK)])
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

  async change(name: string, hash: string, { scopes, expiresAt, usedAt }: KeyChange): Promise<boolean> {
    const expression = new Expression()
    expression.when(expression.equals('hash', text(hash)))
    if (scopes !== undefined) expression.set({ scopes: fromJson(scopes, 'scopes') })
    if (expiresAt === null) expression.remove(EXPIRES)
    else if (expiresAt !== undefined) expression.set({ [EXPIRES]: timeText(expiresAt) })
    if (usedAt !== undefined) expression.set({ usedAt: timeText(usedAt) })
    const Update = { TableName: this.store.tables.allowlists, Key: apiKeyKey(name), ...expression.update() }
    return (await this.store.client.transactWrite(VERB, [{ Update }])).applied
  }

  /** A key that is added in between sets the mark again. While there are keys, the mark has no effect. */
  async unlock(): Promise<boolean> {
    const { records } = await this.list()
    if (records.length > 0) return false
    await this.store.client.transactWrite(VERB, [this.put(LIFTED_MARK)])
    return true
  }

  private put({ name, scopes, hash, createdAt, createdBy, expiresAt, usedAt }: KeyRecord) {
    const Item = {
      ...apiKeyKey(name),
      name: text(name),
      scopes: fromJson(scopes, 'scopes'),
      hash: text(hash),
      createdAt: timeText(createdAt),
      ...(createdBy !== undefined && { createdBy: text(createdBy) }),
      ...(expiresAt !== undefined && { [EXPIRES]: timeText(expiresAt) }),
      ...(usedAt !== undefined && { usedAt: timeText(usedAt) }),
    }
    return { Put: { TableName: this.store.tables.allowlists, Item } }
  }
}

const timeText = (ms: number) => text(new Date(ms).toISOString())

function readKey(item: Item): KeyRecord {
  const [createdBy, expiresAt, usedAt] = ['createdBy', EXPIRES, 'usedAt'].map((field) =>
    optionalText(item, field),
  )
  return {
    name: textOf(item, 'name'),
    scopes: optionalJson(item, 'scopes') as Scope[],
    hash: textOf(item, 'hash'),
    createdAt: Date.parse(textOf(item, 'createdAt')),
    ...(createdBy !== undefined && { createdBy }),
    ...(expiresAt !== undefined && { expiresAt: Date.parse(expiresAt) }),
    ...(usedAt !== undefined && { usedAt: Date.parse(usedAt) }),
  }
}
