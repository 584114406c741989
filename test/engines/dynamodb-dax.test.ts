import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { text } from '../../src/engines/dynamodb/client/attributes.js'
import { openDax } from '../../src/engines/dynamodb/client/dax.js'
import { createTables } from '../../src/engines/dynamodb/tables/create-tables.js'
import { CREDENTIALS, freePort, REGION, startDynamo } from '../support/dynamodb-server.js'
import { failure } from '../support/failure.js'

// There is no DAX to be had outside of AWS: what can be shown is that nothing is lost without its answer.
describe('DAX that does not answer', async () => {
  const server = await startDynamo('dynoxide')
  const client = server.client()
  const names = server.names()
  await createTables(client.sdk, names, ['guards'])
  const item = { PK: text('A'), SK: text('1') }
  await client.putItem('t', { TableName: names.guards, Item: item })
  const daxEndpoint = `dax://127.0.0.1:${await freePort()}`
  const options = { region: REGION, credentials: CREDENTIALS, daxEndpoint, timeoutMs: 100 }

  it('leaves every question to DynamoDB', async () => {
    let missed = 0
    const dax = await openDax({ ...options, onMiss: () => missed++ }, client)
    const asked = { TableName: names.guards, Key: item }
    assert.deepEqual(await dax.getItem('t', asked), item)
    assert.deepEqual(await dax.batchGetItem('t', { table: names.guards, keys: [item] }), [item])
    const query = { KeyConditionExpression: 'PK = :p', ExpressionAttributeValues: { ':p': text('A') } }
    assert.deepEqual(await dax.query('t', { TableName: names.guards, ...query }), { items: [item] })
    assert.equal(missed, 3)
    dax.close()
  })

  it('is not asked for consistent reads', async () => {
    let missed = 0
    const dax = await openDax({ ...options, onMiss: () => missed++ }, client)
    assert.deepEqual(
      await dax.getItem('t', { TableName: names.guards, Key: item, ConsistentRead: true }),
      item,
    )
    const batch = { table: names.guards, keys: [item], consistent: true }
    assert.deepEqual(await dax.batchGetItem('t', batch), [item])
    assert.equal(missed, 0)
    dax.close()
  })

  it('keeps the warnings of the process', async () => {
    const listener = () => {}
    process.on('warning', listener)
    await openDax(options, client).then((dax) => dax.close())
    assert.ok(process.listeners('warning').includes(listener))
    process.off('warning', listener)
  })

  it('says what to install when the package is missing', async () => {
    const missing = () => Promise.reject(new Error('Cannot find package'))
    const error = await failure(openDax(options, client, missing), 'STORE_UNUSABLE')
    assert.match(error.message, /dynamodb\.daxEndpoint .*@amazon-dax-sdk\/client-dax.* install it/)
  })
})
