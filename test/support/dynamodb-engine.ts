import type { Item } from '../../src/engines/dynamodb/client/attributes.js'
import type { DynamoClient } from '../../src/engines/dynamodb/client/client.js'
import { type DynamodbEngine, openDynamodb } from '../../src/engines/dynamodb/index.js'
import { keyOf } from '../../src/engines/dynamodb/keys.js'
import type { DynamodbOptions } from '../../src/engines/dynamodb/options.js'
import { createTables } from '../../src/engines/dynamodb/tables/create-tables.js'
import type { TableNames } from '../../src/engines/dynamodb/tables/tables.js'
import type { DynamodbUrl } from '../../src/engines/dynamodb/url.js'
import { parseStoreUrl } from '../../src/engines/registry.js'
import { CREDENTIALS, type DynamoServer, PATIENCE } from './dynamodb-server.js'

/** Tables of one's own, the items in them as they are, and engines on them. */
export interface Tables {
  readonly names: TableNames
  readonly url: DynamodbUrl
  readonly client: DynamoClient
  open(options?: DynamodbOptions): Promise<DynamodbEngine>
  put(item: Item, table?: 'allowlists' | 'giant'): Promise<void>
  item(partition: string, sort: string, table?: 'allowlists' | 'giant'): Promise<Item | undefined>
}

export async function makeTables(server: DynamoServer): Promise<Tables> {
  const names = server.names()
  const client = server.client()
  await createTables(client.sdk, names, ['allowlists', 'giant', 'idempotency', 'guards'])
  const url = parseStoreUrl(server.url(names)) as DynamodbUrl
  return {
    names,
    url,
    client,
    open: (options) =>
      openDynamodb(url, { ...PATIENCE, credentials: CREDENTIALS, probeIntervalMs: 0, ...options }),
    async put(Item, table = 'allowlists') {
      await client.putItem('test', { TableName: names[table], Item })
    },
    item: (partition, sort, table = 'allowlists') =>
      client.getItem('test', {
        TableName: names[table],
        Key: keyOf(partition, sort),
        ConsistentRead: true,
      }),
  }
}
