import type { KeySchemaElement, TableDescription } from '@aws-sdk/client-dynamodb'
import { engineError, type SdkFailure } from '../client/failures.js'
import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  type DynamoDBClient,
} from '../client/sdk.js'
import type { Difference, TableState } from './table-facts.js'
import { TABLES, type TableDefinition, type TableNames, type TableRole } from './tables.js'

const EXPIRY_ON = new Set(['ENABLED', 'ENABLING'])

export async function describeTable(
  client: DynamoDBClient,
  role: TableRole,
  name: string,
): Promise<TableState> {
  const table = await describe(client, name)
  if (table === undefined) {
    return { role, name, status: 'MISSING', keys: [], indexes: [], pointInTimeRecovery: 'unknown' }
  }
  const ttlAttribute = await describeExpiry(client, name)
  return {
    role,
    name,
    ...stateOf(table),
    ...(ttlAttribute !== undefined && { ttlAttribute }),
    pointInTimeRecovery: await describeRecovery(client, name),
  }
}

export function describeTables(
  client: DynamoDBClient,
  names: TableNames,
  roles: readonly TableRole[],
): Promise<TableState[]> {
  return Promise.all(roles.map((role) => describeTable(client, role, names[role])))
}

/** All differences between a table and its definition. */
export function differencesOf(state: TableState): Difference[] {
  const { role, name: table } = state
  const wanted = TABLES[role]
  const differences: Difference[] = []
  const compare = (what: string, expected: string, found: string | undefined, blocks: boolean): void => {
    if (expected !== found) differences.push({ role, table, what, expected, found: found ?? 'none', blocks })
  }
  if (state.status === 'MISSING') {
    compare('table', 'present', 'missing', true)
    return differences
  }
  // Items can be read and written while a table is updating.
  if (state.status !== 'UPDATING') compare('status', 'ACTIVE', state.status, true)
  compare('keys', wantedKeys(wanted).join(', '), state.keys.join(', '), true)
  compare('billing', 'PAY_PER_REQUEST', state.billing, false)
  compare('stream', wanted.stream ?? 'none', state.stream ?? 'none', wanted.stream !== undefined)
  compare('ttl', wanted.ttlAttribute, state.ttlAttribute, false)
  if (wanted.pointInTimeRecovery && state.pointInTimeRecovery !== 'unknown') {
    compare('point-in-time recovery', 'on', state.pointInTimeRecovery, false)
  }
  for (const index of wanted.indexes) {
    const found = state.indexes.find(({ name }) => name === index.name)
    const expected = `${index.partitionKey} S, ${index.sortKey} S, ${index.projection}, ACTIVE`
    const shown = found && [...found.keys, found.projection, found.status].join(', ')
    // An index with more than the keys also works, at a higher cost.
    const serves =
      found?.status === 'ACTIVE' && shown?.startsWith(`${index.partitionKey} S, ${index.sortKey} S,`)
    compare(`index ${index.name}`, expected, shown, serves !== true)
  }
  return differences
}

function wantedKeys({ partitionKey, sortKey }: TableDefinition): string[] {
  return [`${partitionKey} S`, ...(sortKey === undefined ? [] : [`${sortKey} S`])]
}

async function describe(client: DynamoDBClient, name: string): Promise<TableDescription | undefined> {
  try {
    return (await client.send(new DescribeTableCommand({ TableName: name }))).Table
  } catch (error) {
    if ((error as SdkFailure).name === 'ResourceNotFoundException') return undefined
    throw engineError(error, `DescribeTable of ${name}`, false)
  }
}

function stateOf(table: TableDescription): Omit<TableState, 'role' | 'name' | 'pointInTimeRecovery'> {
  const types = new Map(table.AttributeDefinitions?.map((a) => [a.AttributeName, a.AttributeType]))
  const keysOf = (schema: KeySchemaElement[] = []): string[] =>
    schema.map(({ AttributeName: name }) => `${name} ${types.get(name)}`)
  const stream = table.StreamSpecification?.StreamEnabled
    ? table.StreamSpecification.StreamViewType
    : undefined
  return {
    status: table.TableStatus ?? 'unknown',
    keys: keysOf(table.KeySchema),
    billing: table.BillingModeSummary?.BillingMode ?? 'PROVISIONED',
    indexes: (table.GlobalSecondaryIndexes ?? []).map((index) => ({
      name: index.IndexName ?? '',
      // An emulator may omit the status.
      status: index.IndexStatus ?? 'ACTIVE',
      keys: keysOf(index.KeySchema),
      projection: index.Projection?.ProjectionType ?? 'none',
    })),
    ...(table.TableArn !== undefined && { arn: table.TableArn }),
    ...(stream !== undefined && { stream }),
    ...(stream !== undefined && table.LatestStreamArn !== undefined && { streamArn: table.LatestStreamArn }),
    ...(table.ItemCount !== undefined && { itemCount: table.ItemCount }),
    ...(table.TableSizeBytes !== undefined && { sizeBytes: table.TableSizeBytes }),
  }
}

async function describeExpiry(client: DynamoDBClient, name: string): Promise<string | undefined> {
  try {
    const answer = await client.send(new DescribeTimeToLiveCommand({ TableName: name }))
    const { TimeToLiveStatus: status = '', AttributeName: attribute } = answer.TimeToLiveDescription ?? {}
    return EXPIRY_ON.has(status) ? attribute : undefined
  } catch (error) {
    throw engineError(error, `DescribeTimeToLive of ${name}`, false)
  }
}

async function describeRecovery(
  client: DynamoDBClient,
  name: string,
): Promise<TableState['pointInTimeRecovery']> {
  try {
    const answer = await client.send(new DescribeContinuousBackupsCommand({ TableName: name }))
    const recovery = answer.ContinuousBackupsDescription?.PointInTimeRecoveryDescription
    return recovery?.PointInTimeRecoveryStatus === 'ENABLED' ? 'on' : 'off'
  } catch (error) {
    if ((error as SdkFailure).name === 'UnknownOperationException') return 'unknown'
    throw engineError(error, `DescribeContinuousBackups of ${name}`, false)
  }
}
