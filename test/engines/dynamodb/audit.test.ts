import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { DynamodbAudit } from '../../../src/engines/dynamodb/audit/store.js'
import { createTables } from '../../../src/engines/dynamodb/tables/create-tables.js'
import { DAY_MS, entryId } from '../../../src/guards/audit/entry-id.js'
import { startDynamo } from '../../support/dynamodb-server.js'

const NOW = Date.UTC(2030, 0, 1)
const server = await startDynamo()

describe('the audit trail on DynamoDB', () => {
  it('is cut into days and parts, and every item expires', async () => {
    const client = server.client()
    const names = server.names()
    await createTables(client.sdk, names, ['guards'])
    const audit = new DynamodbAudit(client, names.guards)
    const retentionMs = 30 * DAY_MS
    const entries = Array.from({ length: 8 }, (_, i) => ({ id: entryId(NOW, i, '0000000a'), text: '{}' }))
    await audit.append(entries, { retentionMs, now: NOW })
    await audit.append([{ id: entryId(NOW - 1, 8, '0000000a'), text: '{}' }], { retentionMs, now: NOW })
    const { items } = await client.scan('test', { TableName: names.guards })
    const found = items.map(({ PK, SK, ttl }) => [PK?.S, SK?.S, Number(ttl?.N)])
    const partitions = [...new Set(found.map(([pk]) => pk))].sort()
    assert.deepEqual(partitions, [
      'AUDIT',
      'AUDIT#2029-12-31#0',
      'AUDIT#2030-01-01#0',
      'AUDIT#2030-01-01#1',
      'AUDIT#2030-01-01#2',
      'AUDIT#2030-01-01#3',
    ])
    for (const [pk, sk, ttl] of found) {
      const least = (NOW - 1 + retentionMs) / 1000
      assert.ok(Number(ttl) >= least && Number(ttl) < least + 4 * 86_400, `${pk} ${sk} ${ttl}`)
    }
    const days = found.filter(([pk]) => pk === 'AUDIT').map(([, sk]) => sk)
    assert.deepEqual(days.sort(), ['DAY#2029-12-31', 'DAY#2030-01-01'])
  })
})
