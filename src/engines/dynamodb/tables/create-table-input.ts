import type { CreateTableCommandInput } from '@aws-sdk/client-dynamodb'
import { keyAttributes, type TableDefinition } from './tables.js'

export function createTableInput(table: TableDefinition, name: string): CreateTableCommandInput {
  return {
    TableName: name,
    BillingMode: 'PAY_PER_REQUEST',
    KeySchema: keySchema(table.partitionKey, table.sortKey),
    AttributeDefinitions: keyAttributes(table).map((attribute) => ({
      AttributeName: attribute,
      AttributeType: 'S',
    })),
    ...(table.indexes.length > 0 && {
      GlobalSecondaryIndexes: table.indexes.map((index) => ({
        IndexName: index.name,
        KeySchema: keySchema(index.partitionKey, index.sortKey),
        Projection: { ProjectionType: index.projection },
      })),
    }),
    ...(table.stream !== undefined && {
      StreamSpecification: { StreamEnabled: true, StreamViewType: table.stream },
    }),
  }
}

function keySchema(partitionKey: string, sortKey: string | undefined): CreateTableCommandInput['KeySchema'] {
  const hash = { AttributeName: partitionKey, KeyType: 'HASH' } as const
  return sortKey === undefined ? [hash] : [hash, { AttributeName: sortKey, KeyType: 'RANGE' }]
}
