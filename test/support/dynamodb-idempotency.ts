import type { Item } from '../../src/engines/dynamodb/client/attributes.js'
import type { DynamodbOptions } from '../../src/engines/dynamodb/options.js'
import type { RecordKey } from '../../src/guards/idempotency/types.js'
import { makeTables } from './dynamodb-engine.js'
import type { DynamoServer } from './dynamodb-server.js'

/** The table of records as it is, and stores on it. */
export async function makeRecords(server: DynamoServer) {
  const tables = await makeTables(server)
  const TableName = tables.names.idempotency
  return {
    tables,
    open: (options?: DynamodbOptions) => tables.open(options),
    async put(item: Item): Promise<void> {
      await tables.client.putItem('test', { TableName, Item: item })
    },
    item: ({ operation, key }: RecordKey): Promise<Item | undefined> =>
      tables.client.getItem('test', {
        TableName,
        Key: { pk: { S: `${operation}#${key}` } },
        ConsistentRead: true,
      }),
    /** Everything in the table whose partition begins so. */
    async all(prefix: string): Promise<Item[]> {
      const found: Item[] = []
      let next: Item | undefined
      do {
        const start = next && { ExclusiveStartKey: next }
        const page = await tables.client.scan('test', { TableName, ConsistentRead: true, ...start })
        found.push(...page.items.filter(({ pk }) => pk!.S!.startsWith(prefix)))
        next = page.next
      } while (next !== undefined)
      return found
    },
    async remove(item: Item): Promise<void> {
      await tables.client.deleteItem('test', { TableName, Key: { pk: item.pk! } })
    },
  }
}
