import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { lines } from '../../../bench/support/proof.js'
import { text } from '../../../src/engines/dynamodb/client/attributes.js'
import { openDax } from '../../../src/engines/dynamodb/client/dax.js'
import type { DaxState } from '../../../src/engines/dynamodb/client/dax-state.js'
import { createTables } from '../../../src/engines/dynamodb/tables/create-tables.js'
import { TABLE_ROLES } from '../../../src/engines/dynamodb/tables/tables.js'
import { metricsOf } from '../../../src/metrics/index.js'
import { CREDENTIALS, freePort, REGION, startDynamo } from '../../support/dynamodb-server.js'
import { failure } from '../../support/failure.js'
import { openPatiently } from '../../support/patient.js'

// There is no DAX to be had outside of AWS: what can be shown is that nothing is lost without its answer.
describe('DAX that does not answer', async () => {
  const server = await startDynamo('dynoxide')
  const client = server.client()
  const names = server.names()
  await createTables(client.sdk, names, TABLE_ROLES)
  const item = { PK: text('A'), SK: text('1') }
  await client.putItem('t', { TableName: names.guards, Item: item })
  const daxEndpoint = `dax://127.0.0.1:${await freePort()}`
  const options = { region: REGION, credentials: CREDENTIALS, daxEndpoint, timeoutMs: 100 }

  it('leaves every question to DynamoDB', async () => {
    const dax = await openDax(options, client)
    const asked = { TableName: names.guards, Key: item }
    assert.deepEqual(await dax.getItem('t', asked), item)
    assert.deepEqual(await dax.batchGetItem('t', { table: names.guards, keys: [item] }), [item])
    const query = { KeyConditionExpression: 'PK = :p', ExpressionAttributeValues: { ':p': text('A') } }
    assert.deepEqual(await dax.query('t', { TableName: names.guards, ...query }), { items: [item] })
    const { error, ...state } = dax.state
    assert.deepEqual(state, { status: 'unhealthy', missedReads: 3 })
    assert.equal(typeof error, 'string')
    dax.close()
  })

  it('is not asked for consistent reads', async () => {
    const dax = await openDax(options, client)
    assert.deepEqual(
      await dax.getItem('t', { TableName: names.guards, Key: item, ConsistentRead: true }),
      item,
    )
    const batch = { table: names.guards, keys: [item], consistent: true }
    assert.deepEqual(await dax.batchGetItem('t', batch), [item])
    assert.deepEqual(dax.state, { status: 'healthy', missedReads: 0 })
    dax.close()
  })

  it('shows in health and metrics, is reported once, and prints nothing', async (t) => {
    const printed: string[] = []
    t.mock.method(process.stderr, 'write', (chunk: string | Buffer) => printed.push(String(chunk)) > 0)
    const reported: string[] = []
    const catraca = await openPatiently({
      store: server.url(names),
      sweepIntervalMs: 0,
      dynamodb: { credentials: CREDENTIALS, probeIntervalMs: 0, daxEndpoint },
      onReport: (message) => reported.push(message),
    })
    t.after(() => catraca.close())
    const [engine] = (await catraca.health()).engines
    assert.equal(engine!.status, 'healthy', 'DynamoDB answers')
    assert.equal((engine!.dax as DaxState).status, 'unhealthy')
    const { allowlists } = catraca
    await allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
    const members = ['ann', 'bob', 'eve']
    await allowlists.import('vip', lines(members), { format: 'text' })
    await allowlists.rebuild('vip')
    await allowlists.check('nobody', ['vip'])
    for (const id of members) assert.equal((await allowlists.check(id, ['vip'])).overallAllowed, true)
    const text = await metricsOf(catraca).metrics()
    assert.match(text, /^catraca_dynamodb_dax_up 0$/m)
    assert.ok(Number(/^catraca_dynamodb_dax_missed_reads_total (\d+)$/m.exec(text)?.[1]) >= 3, text)
    assert.deepEqual(reported, ['DAX does not answer: reads go to DynamoDB'])
    console.error('of somebody else')
    // Node warns of its own version, and threads of this process do too.
    assert.deepEqual(
      printed.filter((text) => !/^\(node:\d+\) Warning/.test(text)),
      ['of somebody else\n'],
    )
  })

  it('is tried once a second meanwhile, and reported when it answers again', async () => {
    let isUp = false
    let asked = 0
    let now = 0
    const reported: string[] = []
    class Dax {
      async getItem() {
        asked++
        if (!isUp) throw new Error('gone')
        return { Item: item }
      }
      shutdown() {}
    }
    const report = (message: string) => void reported.push(message)
    const dax = await openDax({ ...options, report, time: () => now }, client, async () => ({ Dax }))
    const get = () => dax.getItem('t', { TableName: names.guards, Key: item })
    for (let i = 0; i < 5; i++) assert.deepEqual(await get(), item)
    assert.equal(asked, 1, 'nobody waits for it again at once')
    now += 1000
    await get()
    assert.equal(asked, 2)
    isUp = true
    now += 1000
    await get()
    await get()
    assert.equal(asked, 4)
    assert.deepEqual(dax.state, { status: 'healthy', missedReads: 6 })
    isUp = false
    await get()
    assert.equal(dax.state.error, 'gone')
    assert.deepEqual(reported, ['DAX does not answer: reads go to DynamoDB', 'DAX answers again'])
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
    const name = '@amazon-dax-sdk/client-dax'
    const absent = Object.assign(new Error(`Cannot find package '${name}'`), { code: 'ERR_MODULE_NOT_FOUND' })
    const missing = () => Promise.reject(absent)
    const error = await failure(openDax(options, client, missing), 'PACKAGE_MISSING')
    assert.match(error.message, /^dynamodb\.daxEndpoint needs .* npm install @amazon-dax-sdk\/client-dax$/)
  })
})
