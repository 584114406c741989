import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { type Item, number, numberOf, text } from '../../../src/engines/dynamodb/client/attributes.js'
import { CapacityCounts } from '../../../src/engines/dynamodb/client/capacity.js'
import type { DynamoOptions } from '../../../src/engines/dynamodb/client/options.js'
import { createTables } from '../../../src/engines/dynamodb/tables/create-tables.js'
import { startFaultProxy } from '../../support/dynamodb-faults.js'
import { startDynamo } from '../../support/dynamodb-server.js'
import { failure } from '../../support/failure.js'
import { inTime } from '../../support/in-time.js'

const key = (id: string): Item => ({ PK: text('A'), SK: text(id) })
const NEW = 'attribute_not_exists(PK)'
const server = await startDynamo('dynoxide')
const proxy = await startFaultProxy(server.endpoint)
const direct = server.client()
const names = server.names()
const table = names.guards
await createTables(direct.sdk, names, ['guards'])

const counter = new CapacityCounts()
/** A client of its own each time: the SDK keeps a quota of retries, which one test must not use up for another. */
const throughProxy = (timeoutMs: number, options: Partial<DynamoOptions> = {}) =>
  server.client({
    endpoint: proxy.endpoint,
    counter,
    readTimeoutMs: timeoutMs,
    writeTimeoutMs: timeoutMs,
    batchTimeoutMs: timeoutMs,
    ...options,
  })
const LONG_MS = 60_000
const SHORT_MS = 400
/** For failures at their deadline, in the time that this process has. */
const IN_TIME_MS = SHORT_MS + 2000

/** A client that pauses for longer than it has time after a few attempts: it gives up between two of them. */
function givesUp(): ReturnType<typeof throughProxy> {
  let pauses = 0
  return throughProxy(LONG_MS, { random: () => (++pauses > 3 ? 1e6 : 0) })
}
const there = async (id: string) =>
  (await direct.getItem('look', { TableName: table, Key: key(id), ConsistentRead: true })) !== undefined
const countOf = async (id: string) => {
  const item = await direct.getItem('look', { TableName: table, Key: key(id), ConsistentRead: true })
  return item === undefined ? 0 : numberOf(item, 'n')
}
const add = (id: string) => ({
  TableName: table,
  Key: key(id),
  UpdateExpression: 'ADD n :one',
  ExpressionAttributeValues: { ':one': number(1) },
})

beforeEach(() => {
  proxy.clear()
  counter.reset()
})

describe('reads through faults', () => {
  it('get through throttling, resets and errors of the server', async () => {
    proxy.inject({ kind: 'throttled' }, { times: 1 })
    proxy.inject({ kind: 'reset', when: 'before' }, { times: 1 })
    proxy.inject({ kind: 'server-error' }, { times: 1 })
    assert.equal(
      await throughProxy(LONG_MS).getItem('look', { TableName: table, Key: key('none') }),
      undefined,
    )
    assert.deepEqual(counter.retries(), [{ verb: 'look', operation: 'GetItem', refused: 0, retried: 3 }])
  })

  for (const code of ['ThrottlingException', 'ProvisionedThroughputExceededException'] as const) {
    it(`say ENGINE_UNAVAILABLE when ${code} does not end`, async () => {
      proxy.inject({ kind: 'throttled', code })
      const get = throughProxy(SHORT_MS).getItem('look', { TableName: table, Key: key('1') })
      await failure(inTime(get, IN_TIME_MS), 'ENGINE_UNAVAILABLE')
    })
  }

  it('say ENGINE_UNAVAILABLE when nobody answers in time', async () => {
    proxy.inject({ kind: 'delay', ms: LONG_MS })
    const client = throughProxy(SHORT_MS)
    const query = { KeyConditionExpression: 'PK = :p', ExpressionAttributeValues: { ':p': text('A') } }
    const calls = [
      client.query('look', { TableName: table, ...query }),
      client.scan('look', { TableName: table }),
      client.batchGetItem('look', { table, keys: [key('1')] }),
    ]
    await Promise.all(calls.map((call) => failure(inTime<unknown>(call, IN_TIME_MS), 'ENGINE_UNAVAILABLE')))
  })
})

describe('writes through faults', () => {
  it('are ENGINE_UNAVAILABLE when it is certain that nothing was done', async () => {
    proxy.inject({ kind: 'throttled' })
    await failure(
      // The SDK gives up behind the last refusal, and not in the midst of an attempt.
      throughProxy(LONG_MS, { maxAttempts: 3 }).putItem('w', { TableName: table, Item: key('t1') }),
      'ENGINE_UNAVAILABLE',
    )
    assert.equal(await there('t1'), false)
  })

  for (const when of ['before', 'after'] as const) {
    it(`are UNKNOWN_OUTCOME when connections break off ${when} the engine heard of them`, async () => {
      proxy.inject({ kind: 'reset', when })
      const put = throughProxy(SHORT_MS).putItem('w', { TableName: table, Item: key(`r-${when}`) })
      await failure(put, 'UNKNOWN_OUTCOME')
      assert.equal(await there(`r-${when}`), when === 'after')
    })
  }

  it('stay UNKNOWN_OUTCOME when a later attempt is throttled', async () => {
    proxy.inject({ kind: 'reset', when: 'after' }, { times: 1 })
    proxy.inject({ kind: 'throttled' })
    await failure(
      throughProxy(SHORT_MS).putItem('w', { TableName: table, Item: key('late') }),
      'UNKNOWN_OUTCOME',
    )
    assert.ok(await there('late'))
  })

  it('are UNKNOWN_OUTCOME when the time ends during the only attempt', async () => {
    proxy.inject({ kind: 'delay', ms: LONG_MS })
    await failure(throughProxy(100).putItem('w', { TableName: table, Item: key('slow') }), 'UNKNOWN_OUTCOME')
  })

  it('that meet what they wrote themselves say so', async () => {
    proxy.inject({ kind: 'reset', when: 'after' }, { times: 1 })
    const Item = { ...key('own'), owner: text('me') }
    const client = throughProxy(LONG_MS)
    const put = await client.putItem('w', { TableName: table, Item, ConditionExpression: NEW })
    assert.deepEqual(put, { applied: false, maybeOwn: true, item: Item })
    const second = await client.putItem('w', { TableName: table, Item, ConditionExpression: NEW })
    assert.deepEqual(second, { applied: false, maybeOwn: false, item: Item })
  })

  it('that must not be done twice are not repeated', async () => {
    proxy.inject({ kind: 'reset', when: 'after' }, { times: 1 })
    const before = proxy.seen('UpdateItem')
    await failure(throughProxy(LONG_MS).updateItem('w', add('n1'), { repeatable: false }), 'UNKNOWN_OUTCOME')
    assert.deepEqual([await countOf('n1'), proxy.seen('UpdateItem') - before], [1, 1])
  })

  it('that must not be done twice are still tried again after throttling', async () => {
    proxy.inject({ kind: 'throttled' }, { times: 1 })
    assert.equal(
      (await throughProxy(LONG_MS).updateItem('w', add('n2'), { repeatable: false })).applied,
      true,
    )
    assert.equal(await countOf('n2'), 1)
  })

  it('that may be done twice are repeated', async () => {
    proxy.inject({ kind: 'server-error' }, { times: 1 })
    assert.equal((await throughProxy(LONG_MS).updateItem('w', add('n3'), { repeatable: true })).applied, true)
  })
})

describe('transactions through faults', () => {
  const transaction = (id: string) => [
    { Put: { TableName: table, Item: key(id), ConditionExpression: NEW } },
    { Update: add(`${id}-count`) },
  ]

  it('get through conflicts and throttling', async () => {
    for (const code of ['TransactionConflict', 'ThrottlingError', 'ProvisionedThroughputExceeded']) {
      proxy.inject({ kind: 'cancelled', codes: ['None', code] }, { times: 2 })
    }
    assert.deepEqual(await throughProxy(LONG_MS).transactWrite('add', transaction('x1')), { applied: true })
    assert.equal(await countOf('x1-count'), 1)
    assert.deepEqual(counter.retries(), [
      { verb: 'add', operation: 'TransactWriteItems', refused: 0, retried: 6 },
    ])
  })

  it('are ENGINE_UNAVAILABLE when the conflict outlasts the time', async () => {
    proxy.inject({ kind: 'cancelled', codes: ['TransactionConflict', 'None'] })
    const error = await failure(givesUp().transactWrite('add', transaction('x2')), 'ENGINE_UNAVAILABLE')
    assert.match(error.message, /TransactionConflict/)
    assert.equal(await there('x2'), false)
  })

  // With one attempt the SDK leaves all repetition to us, with more it repeats by itself.
  for (const maxAttempts of [1, 3]) {
    it(`are done once, and known to be, when an answer is lost (${maxAttempts} attempts by the SDK)`, async () => {
      proxy.inject({ kind: 'reset', when: 'after' }, { times: 1 })
      const id = `x3-${maxAttempts}`
      const client = throughProxy(LONG_MS, { maxAttempts })
      assert.deepEqual(await client.transactWrite('add', transaction(id)), { applied: true })
      assert.equal(await countOf(`${id}-count`), 1)
    })
  }

  it('are UNKNOWN_OUTCOME when the answer is lost for good', async () => {
    proxy.inject({ kind: 'reset', when: 'after' }, { times: 1 })
    proxy.inject({ kind: 'cancelled', codes: ['TransactionConflict', 'None'] })
    await failure(throughProxy(SHORT_MS).transactWrite('add', transaction('x4')), 'UNKNOWN_OUTCOME')
    assert.ok(await there('x4'))
  })

  it('that are wrong fail at once', async () => {
    proxy.inject({ kind: 'cancelled', codes: ['ValidationError', 'None'] })
    const wrong = throughProxy(LONG_MS).transactWrite('add', transaction('x5'))
    await failure(inTime(wrong, LONG_MS / 3), 'INTERNAL')
  })
})

describe('batches through faults', () => {
  const items = (from: string, count: number) =>
    Array.from({ length: count }, (_, i) => ({ table, put: key(`${from}-${i}`) }))
  const stored = async (from: string, count: number) =>
    (await direct.batchGetItem('look', { table, keys: items(from, count).map(({ put }) => put) })).length

  it('send again what was left unprocessed', async () => {
    proxy.inject({ kind: 'unprocessed', processed: 7 }, { times: 2 })
    proxy.inject({ kind: 'unprocessed', processed: 0 }, { times: 1 })
    await throughProxy(LONG_MS).batchWrite('load', items('b1', 60))
    assert.equal(await stored('b1', 60), 60)
    proxy.inject({ kind: 'unprocessed', processed: 10 }, { times: 3 })
    const keys = items('b1', 60).map(({ put }) => put)
    assert.equal((await throughProxy(LONG_MS).batchGetItem('look', { table, keys })).length, 60)
  })

  it('get through throttling and broken connections', async () => {
    proxy.inject({ kind: 'reset', when: 'after' }, { times: 1 })
    proxy.inject({ kind: 'server-error' }, { times: 1 })
    await throughProxy(LONG_MS).batchWrite('load', items('b2', 30))
    assert.equal(await stored('b2', 30), 30)
  })

  it('are ENGINE_UNAVAILABLE when nothing, UNKNOWN_OUTCOME when a part was stored in time', async () => {
    proxy.inject({ kind: 'unprocessed', processed: 0 })
    await failure(givesUp().batchWrite('load', items('b3', 30)), 'ENGINE_UNAVAILABLE')
    assert.equal(await stored('b3', 30), 0)
    proxy.clear()
    proxy.inject({ kind: 'unprocessed', processed: 5 }, { times: 1 })
    proxy.inject({ kind: 'unprocessed', processed: 0 })
    await failure(givesUp().batchWrite('load', items('b4', 30)), 'UNKNOWN_OUTCOME')
    assert.equal(await stored('b4', 30), 5)
  })
})
