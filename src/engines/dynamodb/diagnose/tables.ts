import { type Check, ok, skipped, warning } from '../../../core/diagnosis.js'
import { DescribeTableCommand } from '../client/sdk.js'
import { type DynamodbFacts, differing } from './context.js'

const LAYOUT = new Set(['table', 'status', 'keys'])

const layoutCheck: Check<DynamodbFacts> = {
  id: 'dynamodb.tables',
  expects: 'Every table exists, is active, and has the expected keys.',
  remedy: 'catraca dynamodb create, or name other tables in the store URL.',
  run: (context) =>
    differing(context, (what) => LAYOUT.has(what), `${context.tables.length} tables as expected`),
}

const indexCheck: Check<DynamodbFacts> = {
  id: 'dynamodb.indexes',
  expects: 'The index by customer is active.',
  remedy: 'Add the index (docs/guides/operating-dynamodb.md), or wait until it is active.',
  run: (context) => differing(context, (what) => what.startsWith('index '), 'active, as expected'),
}

const streamCheck: Check<DynamodbFacts> = {
  id: 'dynamodb.streams',
  expects: 'The tables of lists have a stream with new and old images.',
  remedy: 'catraca dynamodb create turns it on; a stream of another kind must be turned off first.',
  run: (context) => differing(context, (what) => what === 'stream', 'on, with new and old images'),
}

const expiryCheck: Check<DynamodbFacts> = {
  id: 'dynamodb.ttl',
  expects: 'Expired items are deleted by TTL.',
  remedy: 'catraca dynamodb create turns it on: without it expired items stay, and cost money.',
  run: (context) => differing(context, (what) => what === 'ttl', 'on, by the right attribute'),
}

const billingCheck: Check<DynamodbFacts> = {
  id: 'dynamodb.billing',
  expects: 'Tables are billed by request.',
  remedy: 'Switch to on-demand, or watch the provisioned capacity: beyond it calls are throttled.',
  run: (context) => differing(context, (what) => what === 'billing', 'by request'),
}

const recoveryCheck: Check<DynamodbFacts> = {
  id: 'dynamodb.recovery',
  expects: 'Point-in-time recovery is on.',
  remedy: 'catraca dynamodb create turns it on: without it a mistake cannot be undone.',
  run(context) {
    const known = context.tables.filter(({ pointInTimeRecovery }) => pointInTimeRecovery !== 'unknown')
    if (known.length === 0) return skipped('the endpoint does not tell')
    return differing(context, (what) => what === 'point-in-time recovery', 'on where it should be')
  },
}

const deletionCheck: Check<DynamodbFacts> = {
  id: 'dynamodb.deletion-protection',
  expects: 'Tables are protected from deletion.',
  remedy: 'aws dynamodb update-table --table-name NAME --deletion-protection-enabled',
  async run({ client, tables }) {
    const present = tables.filter(({ status }) => status !== 'MISSING')
    const told = await Promise.all(
      present.map(async ({ name }) => {
        const { Table } = await client.sdk.send(new DescribeTableCommand({ TableName: name }))
        return { name, isProtected: Table?.DeletionProtectionEnabled }
      }),
    )
    if (told.every(({ isProtected }) => isProtected === undefined))
      return skipped('the endpoint does not tell')
    const open = told.filter(({ isProtected }) => isProtected !== true).map(({ name }) => name)
    return open.length === 0 ? ok('on') : warning(`off: ${open.join(', ')}`)
  },
}

/** What the tables should be like. */
export const TABLE_CHECKS = [
  ...[layoutCheck, indexCheck, streamCheck, expiryCheck, billingCheck, recoveryCheck, deletionCheck],
]
