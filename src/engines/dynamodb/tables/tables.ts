export const TABLE_ROLES = ['allowlists', 'giant', 'idempotency', 'guards'] as const
export type TableRole = (typeof TABLE_ROLES)[number]
/** The table name of each role, from the store URL. */
export type TableNames = Record<TableRole, string>

interface IndexDefinition {
  name: string
  partitionKey: string
  sortKey: string
  projection: 'KEYS_ONLY'
}

export interface TableDefinition {
  /** Used unless the store URL sets another. */
  defaultName: string
  /** All key attributes are strings. */
  partitionKey: string
  sortKey?: string
  indexes: readonly IndexDefinition[]
  stream?: 'NEW_AND_OLD_IMAGES'
  /** Contains epoch seconds, as a number. */
  ttlAttribute: string
  pointInTimeRecovery: boolean
}

/**
 * The only definition of the tables. `catraca dynamodb create` creates them from it, and a test compares the
 * Terraform module and the CloudFormation template with it. All are billed per request.
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
  // Without the index: it would add a write unit for each of 100 million members, and the few lists in this table can
  // be read by key.
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
  // Its key names are those of the source design of limit configurations, which are stored here.
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
