import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CreateTableCommand, DeleteTableCommand, UpdateTimeToLiveCommand } from '@aws-sdk/client-dynamodb'
import { CreateTopicCommand, SNSClient } from '@aws-sdk/client-sns'
import type { Finding } from '../../src/core/diagnosis.js'
import { diagnoseDynamodb } from '../../src/engines/dynamodb/diagnose/index.js'
import { openDynamodb } from '../../src/engines/dynamodb/index.js'
import { createTableInput } from '../../src/engines/dynamodb/tables/create-table-input.js'
import { createTables } from '../../src/engines/dynamodb/tables/create-tables.js'
import { TABLE_ROLES, TABLES } from '../../src/engines/dynamodb/tables/tables.js'
import type { DynamodbUrl } from '../../src/engines/dynamodb/url.js'
import { parseStoreUrl } from '../../src/engines/registry.js'
import { makeTables } from '../support/dynamodb-engine.js'
import { startQueues } from '../support/dynamodb-queues.js'
import { CREDENTIALS, CREDENTIALS_ENV, startDynamo } from '../support/dynamodb-server.js'
import { foundBy, levelsOf } from '../support/findings.js'
import { catraca, start } from './run.js'

const server = await startDynamo('dynoxide')

async function look(
  url: DynamodbUrl,
  options: Parameters<typeof diagnoseDynamodb>[1] = {},
  hasAllowlists = false,
): Promise<Finding[]> {
  const given = { credentials: CREDENTIALS, ...options }
  return (await diagnoseDynamodb(url, given, { hasAllowlists }, 'here')).findings
}

describe('catraca doctor on DynamoDB', () => {
  it('finds tables as they should be, whichever emulator has them', async () => {
    const { url } = await makeTables(server)
    const levels = levelsOf(await look(url))
    for (const id of ['credentials', 'connect', 'tables', 'indexes', 'streams', 'ttl', 'billing', 'clock']) {
      assert.equal(levels[`dynamodb.${id}`], 'ok', id)
    }
    const shifted = await diagnoseDynamodb(
      url,
      { credentials: CREDENTIALS },
      { hasAllowlists: false, now: () => Date.now() - 60_000 },
      'here',
    )
    assert.equal(levelsOf(shifted.findings)['dynamodb.clock'], 'problem')
  })

  it('finds a table without its index, stream and TTL, until they are there', async () => {
    const names = server.names()
    const { sdk } = server.client()
    const url = parseStoreUrl(server.url(names)) as DynamodbUrl
    const missing = await look(url)
    assert.match(foundBy(missing, 'dynamodb.tables'), new RegExp(`${names.guards}: table is missing`))
    const { stream: _, ...bare } = TABLES.allowlists
    await sdk.send(new CreateTableCommand(createTableInput({ ...bare, indexes: [] }, names.allowlists)))
    await createTables(
      sdk,
      names,
      TABLE_ROLES.filter((role) => role !== 'allowlists'),
    )
    const levels = levelsOf(await look(url))
    const ids = ['dynamodb.tables', 'dynamodb.indexes', 'dynamodb.streams', 'dynamodb.ttl']
    assert.deepEqual(
      ids.map((id) => levels[id]),
      ['ok', 'problem', 'problem', 'warning'],
    )
    await sdk.send(new DeleteTableCommand({ TableName: names.allowlists }))
    await createTables(sdk, names, TABLE_ROLES)
    const mended = levelsOf(await look(url))
    assert.deepEqual(
      ids.map((id) => mended[id]),
      ['ok', 'ok', 'ok', 'ok'],
    )
    const off = { AttributeName: 'expiresAt', Enabled: false }
    await sdk.send(new UpdateTimeToLiveCommand({ TableName: names.allowlists, TimeToLiveSpecification: off }))
    assert.equal(levelsOf(await look(url))['dynamodb.ttl'], 'warning')
  })

  it('tells whether anybody relays', async () => {
    const { url, names } = await makeTables(server)
    assert.match(foundBy(await look(url, {}, true), 'dynamodb.feed'), /no write has ever arrived/)
    const relay = start(['relay', '--store', server.url(names)], { env: CREDENTIALS_ENV })
    await relay.said(/relays the changes/)
    const findings = await look(url, {}, true)
    assert.equal(levelsOf(findings)['dynamodb.feed'], 'ok', foundBy(findings, 'dynamodb.feed'))
    relay.child.kill('SIGTERM')
    await relay.ended
    assert.equal(levelsOf(await look(url, { probeIntervalMs: 0 }, true))['dynamodb.feed'], 'skipped')
  })

  it('counts the queues of pods', async () => {
    const { url } = await makeTables(server)
    const queues = await startQueues()
    const sns = new SNSClient(queues.clientOptions)
    const { TopicArn: topicArn = '' } = await sns.send(new CreateTopicCommand({ Name: 'changes' }))
    sns.destroy()
    const options = { topicArn, queues: queues.clientOptions }
    assert.equal(levelsOf(await look(url, options))['dynamodb.queues'], 'warning')
    const pod = await openDynamodb(url, { credentials: CREDENTIALS, probeIntervalMs: 0, ...options })
    assert.match(foundBy(await look(url, options), 'dynamodb.queues'), /1 pods/)
    await pod.close()
    await queues.stop()
    assert.equal(levelsOf(await look(url, options))['dynamodb.queues'], 'problem')
  })

  it('ends with a finding where nobody answers, or nobody is known', async () => {
    const nowhere = 'dynamodb://us-east-1/Allowlists?endpoint=http://127.0.0.1:1'
    const silent = await catraca(['doctor', '--json', '--store', nowhere], { env: CREDENTIALS_ENV })
    assert.equal(silent.code, 1)
    const { findings } = JSON.parse(silent.stdout) as { findings: Finding[] }
    const levels = levelsOf(findings)
    assert.deepEqual([levels['dynamodb.connect'], levels['dynamodb.tables']], ['problem', 'skipped'])
    assert.doesNotMatch(silent.stdout, new RegExp(CREDENTIALS.secretAccessKey))
    const env = { AWS_EC2_METADATA_DISABLED: 'true', HOME: '/nonexistent' }
    const unknown = await catraca(['doctor', '--json', '--store', nowhere], { env })
    const told = JSON.parse(unknown.stdout) as { findings: Finding[] }
    assert.equal(levelsOf(told.findings)['dynamodb.credentials'], 'problem')
  })
})
