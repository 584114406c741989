import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CreateTableCommand, UpdateTimeToLiveCommand } from '@aws-sdk/client-dynamodb'
import { createTableInput } from '../../../src/engines/dynamodb/tables/create-table-input.js'
import { createTables } from '../../../src/engines/dynamodb/tables/create-tables.js'
import { describeTables, differencesOf } from '../../../src/engines/dynamodb/tables/table-state.js'
import { TABLE_ROLES, TABLES } from '../../../src/engines/dynamodb/tables/tables.js'
import { EMULATORS, startDynamo } from '../../support/dynamodb-server.js'

for (const emulator of EMULATORS) {
  describe(`tables on ${emulator}`, async () => {
    const server = await startDynamo(emulator)
    const { sdk } = server.client()

    it('are made as defined, and making them again changes nothing', async () => {
      const names = server.names()
      const first = await createTables(sdk, names, TABLE_ROLES)
      assert.deepEqual(
        first.map(({ role, created, differences }) => ({ role, created, differences })),
        TABLE_ROLES.map((role) => ({ role, created: true, differences: [] })),
      )
      const again = await createTables(sdk, names, TABLE_ROLES)
      assert.deepEqual(
        again.map(({ created, turnedOn, differences }) => ({ created, turnedOn, differences })),
        TABLE_ROLES.map(() => ({ created: false, turnedOn: [], differences: [] })),
      )
    })

    it('are made once by two at the same time', async () => {
      const names = server.names()
      const both = await Promise.all([1, 2].map(() => createTables(sdk, names, ['allowlists'])))
      const made = both.flat().filter(({ created }) => created)
      assert.equal(made.length, 1)
      assert.deepEqual(
        both.flat().map(({ differences }) => differences),
        [[], []],
      )
    })

    it('are described as they are', async () => {
      const names = server.names()
      await createTables(sdk, names, ['allowlists', 'idempotency'])
      const [allowlists, giant, idempotency] = await describeTables(sdk, names, TABLE_ROLES)
      assert.deepEqual(allowlists!.keys, ['PK S', 'SK S'])
      assert.equal(allowlists!.stream, 'NEW_AND_OLD_IMAGES')
      assert.match(allowlists!.streamArn ?? '', /stream/)
      assert.equal(allowlists!.ttlAttribute, 'expiresAt')
      assert.equal(allowlists!.pointInTimeRecovery, emulator === 'extenddb' ? 'on' : 'unknown')
      assert.deepEqual(allowlists!.indexes, [
        {
          name: 'CustomerAllowlistIndex',
          status: 'ACTIVE',
          keys: ['GSI1PK S', 'GSI1SK S'],
          projection: 'KEYS_ONLY',
        },
      ])
      assert.equal(giant!.status, 'MISSING')
      assert.deepEqual([idempotency!.keys, idempotency!.ttlAttribute], [['pk S'], 'ttl'])
    })

    it('that another program made without stream and expiry get both', async () => {
      const names = server.names()
      const { StreamSpecification: _, ...plain } = createTableInput(TABLES.allowlists, names.allowlists)
      await sdk.send(new CreateTableCommand(plain))
      const [made] = await createTables(sdk, names, ['allowlists'])
      const expected =
        emulator === 'extenddb' ? ['ttl', 'stream', 'point-in-time recovery'] : ['ttl', 'stream']
      assert.deepEqual([made!.created, made!.turnedOn, made!.differences], [false, expected, []])
    })

    it('that are somebody else’s are left alone, and every difference is named', async () => {
      const names = server.names()
      await sdk.send(
        new CreateTableCommand({
          TableName: names.allowlists,
          BillingMode: 'PROVISIONED',
          ProvisionedThroughput: { ReadCapacityUnits: 1, WriteCapacityUnits: 1 },
          KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
          AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'N' }],
        }),
      )
      const [made] = await createTables(sdk, names, ['allowlists'])
      assert.deepEqual([made!.created, made!.turnedOn], [false, []])
      assert.deepEqual(
        made!.differences.map(({ what, expected, found, blocks }) => [what, expected, found, blocks]),
        [
          ['keys', 'PK S, SK S', 'id N', true],
          ['billing', 'PAY_PER_REQUEST', 'PROVISIONED', false],
          ['stream', 'NEW_AND_OLD_IMAGES', 'none', true],
          ['ttl', 'expiresAt', 'none', false],
          ...(emulator === 'extenddb' ? [['point-in-time recovery', 'on', 'off', false]] : []),
          ['index CustomerAllowlistIndex', 'GSI1PK S, GSI1SK S, KEYS_ONLY, ACTIVE', 'none', true],
        ],
      )
    })

    it('that expire by another attribute are named, not changed', async () => {
      const names = server.names()
      await createTables(sdk, names, ['guards'])
      const off = { AttributeName: 'ttl', Enabled: false }
      const other = { AttributeName: 'endsAt', Enabled: true }
      for (const TimeToLiveSpecification of [off, other]) {
        await sdk.send(new UpdateTimeToLiveCommand({ TableName: names.guards, TimeToLiveSpecification }))
      }
      const [made] = await createTables(sdk, names, ['guards'])
      assert.deepEqual(
        made!.differences.map(({ what, expected, found }) => [what, expected, found]),
        [['ttl', 'ttl', 'endsAt']],
      )
    })
  })
}

describe('a table that is missing', () => {
  it('is the only difference told of it', () => {
    const state = { status: 'MISSING', keys: [], indexes: [], pointInTimeRecovery: 'unknown' } as const
    const [only, ...others] = differencesOf({ role: 'giant', name: 'x', ...state, keys: [], indexes: [] })
    assert.deepEqual([only!.what, only!.found, only!.blocks, others], ['table', 'missing', true, []])
  })
})
