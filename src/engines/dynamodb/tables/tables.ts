import type { CreateTableCommandInput } from '@aws-sdk/client-dynamodb'

export const TABLE_ROLES = ['allowlists', 'giant', 'idempotency', 'guards'] as const
export type TableRole = (typeof TABLE_ROLES)[number]
/** The name of the table for each role, as the store URL has them. */
export type TableNames = Record<TableRole, string>

export interface IndexDefinition {
  name: string
  partitionKey: string
  sortKey: string
  projection: 'KEYS_ONLY'
}

export interface TableDefinition {
  /** Its name unless the store URL says another. */
  defaultName: string
  /** Key attributes are strings everywhere. */
  partitionKey: string
  sortKey?: string
  indexes: readonly IndexDefinition[]
  stream?: 'NEW_AND_OLD_IMAGES'
  /** Holds epoch seconds, as a number. */
  ttlAttribute: string
  pointInTimeRecovery: boolean
}

/**
 * Every table, once. `catraca dynamodb create` makes them from here, and a test holds the Terraform module and
 * the CloudFormation template equal to it. All are billed by request.
 */
export const TABLES: Record<TableRole, TableDefinition> = {
  allowlists: {
    defaultName: 'Allowlists',
    partitionKey: 'PK',
    sortKey: 'SK',
    indexes: [
      {
        name: 'CustomerAllowlistIndex',
        partitionKey: 'GSI1PK',
        sortKey: 'GSI1SK',
        projection: 'KEYS_ONLY',
      },
    ],
    stream: 'NEW_AND_OLD_IMAGES',
    ttlAttribute: 'expiresAt',
    pointInTimeRecovery: true,
  },
  // Without the index: it would add a write unit for each of 100 million members, and the few lists that are
  // here can be asked by key.
  giant: {
    defaultName: 'AllowlistsGiant',
    partitionKey: 'PK',
    sortKey: 'SK',
    indexes: [],
    stream: 'NEW_AND_OLD_IMAGES',
    ttlAttribute: 'expiresAt',
    pointInTimeRecovery: true,
  },
  idempotency: {
    defaultName: 'mq-probe-idempotency',
    partitionKey: 'pk',
    indexes: [],
    ttlAttribute: 'ttl',
    pointInTimeRecovery: false,
  },
  // Its keys are spelled as in the layout of limit configurations, which lives here.
  guards: {
    defaultName: 'catraca-guards',
    partitionKey: 'PK',
    sortKey: 'SK',
    indexes: [],
    ttlAttribute: 'ttl',
    pointInTimeRecovery: true,
  },
}

/** The attributes that must be declared: those of the table's key and of the keys of its indexes. */
export function keyAttributes(table: TableDefinition): string[] {
  const ofIndexes = table.indexes.flatMap(({ partitionKey, sortKey }) => [partitionKey, sortKey])
  return [table.partitionKey, ...(table.sortKey === undefined ? [] : [table.sortKey]), ...ofIndexes]
}

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
