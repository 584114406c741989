import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isCatracaError } from '../../../src/core/errors.js'
import {
  type Attribute,
  bigintOf,
  bytes,
  flag,
  flagOf,
  fromJson,
  type Item,
  number,
  numberOf,
  optionalText,
  text,
  textOf,
  toJson,
} from '../../../src/engines/dynamodb/client/attributes.js'
import { writeChunks } from '../../../src/engines/dynamodb/client/batches.js'
import { CapacityCounts } from '../../../src/engines/dynamodb/client/capacity.js'
import { DynamoClient } from '../../../src/engines/dynamodb/client/client.js'
import { itemBytes, wireBytes } from '../../../src/engines/dynamodb/client/sizes.js'
import { createTables } from '../../../src/engines/dynamodb/tables/create-tables.js'
import { EMULATORS, startDynamo } from '../../support/dynamodb-server.js'
import { failure } from '../../support/failure.js'
import { inTime } from '../../support/in-time.js'

const key = (id: string): Item => ({ PK: text('A'), SK: text(id) })
const NEW = 'attribute_not_exists(PK)'

for (const emulator of EMULATORS) {
  describe(`client on ${emulator}`, async () => {
    const server = await startDynamo(emulator)
    const counter = new CapacityCounts()
    const client = server.client({ counter })
    const { guards: table } = server.names()
    await createTables(client.sdk, { ...server.names(), guards: table }, ['guards'])

    it('writes, reads, changes and deletes an item', async () => {
      const put = await client.putItem('t', { TableName: table, Item: { ...key('1'), n: number(1) } })
      assert.deepEqual(put, { applied: true })
      const changed = await client.updateItem(
        't',
        {
          TableName: table,
          Key: key('1'),
          UpdateExpression: 'ADD n :by',
          ExpressionAttributeValues: { ':by': number(2) },
          ReturnValues: 'UPDATED_NEW',
        },
        { repeatable: false },
      )
      assert.deepEqual(changed, { applied: true, item: { n: { N: '3' } } })
      const gone = await client.deleteItem('t', { TableName: table, Key: key('1'), ReturnValues: 'ALL_OLD' })
      assert.deepEqual(gone, { applied: true, item: { ...key('1'), n: { N: '3' } } })
      assert.equal(await client.getItem('t', { TableName: table, Key: key('1') }), undefined)
    })

    it('answers a condition that is not met, with the item in the way', async () => {
      const Item = { ...key('2'), owner: text('a') }
      await client.putItem('t', { TableName: table, Item, ConditionExpression: NEW })
      const again = await client.putItem('t', { TableName: table, Item, ConditionExpression: NEW })
      assert.deepEqual(again, { applied: false, maybeOwn: false, item: Item })
      const absent = await client.deleteItem('t', {
        TableName: table,
        Key: key('none'),
        ConditionExpression: 'attribute_exists(PK)',
      })
      assert.deepEqual(absent, { applied: false, maybeOwn: false })
    })

    it('does a transaction whole or not at all, and says which condition was not met', async () => {
      const first = { Put: { TableName: table, Item: key('3'), ConditionExpression: NEW } }
      const second = { Put: { TableName: table, Item: key('4'), ConditionExpression: NEW } }
      const other = { Put: { TableName: table, Item: key('5') } }
      assert.deepEqual(await client.transactWrite('t', [second]), { applied: true })
      const refused = await client.transactWrite('t', [other, second, first])
      assert.deepEqual(refused, { applied: false, refusals: [{ index: 1, item: key('4') }] })
      assert.equal(await client.getItem('t', { TableName: table, Key: key('3') }), undefined)
    })

    it('writes and reads batches of any size, and pages of a query', async () => {
      const items = Array.from({ length: 205 }, (_, i) => ({
        PK: text('B'),
        SK: text(`${1000 + i}`),
        n: number(i),
      }))
      await client.batchWrite(
        'load',
        items.map((put) => ({ table, put })),
      )
      const keys = items.map(({ PK, SK }) => ({ PK, SK }))
      const found = await client.batchGetItem('t', { table, keys: [...keys, key('none')], consistent: true })
      assert.equal(found.length, 205)
      const some = await client.batchGetItem('t', { table, keys: keys.slice(0, 3), attributes: ['n'] })
      assert.deepEqual(some.map((item) => numberOf(item, 'n')).sort(), [0, 1, 2])
      const query = {
        TableName: table,
        KeyConditionExpression: 'PK = :pk',
        ExpressionAttributeValues: { ':pk': text('B') },
        Limit: 100,
      }
      const sizes: number[] = []
      for await (const page of client.queryPages('t', query)) sizes.push(page.length)
      assert.deepEqual(sizes, [100, 100, 5])
      await client.batchWrite(
        'load',
        keys.map((one) => ({ table, delete: one })),
      )
      assert.deepEqual((await client.query('t', query)).items, [])
    })

    it('counts units by verb, operation and table', async () => {
      counter.reset()
      await client.putItem('add', { TableName: table, Item: key('6') })
      await client.getItem('check', { TableName: table, Key: key('6') })
      await client.getItem('check', { TableName: table, Key: key('6'), ConsistentRead: true })
      await client.transactWrite('move', [
        { Put: { TableName: table, Item: key('7') } },
        { Delete: { TableName: table, Key: key('6') } },
      ])
      await client.putItem('add', { TableName: table, Item: key('7'), ConditionExpression: NEW })
      assert.deepEqual(counter.of('check'), { calls: 2, readUnits: 1.5, writeUnits: 0 })
      assert.deepEqual(counter.of('move'), { calls: 1, readUnits: 0, writeUnits: 4 })
      assert.deepEqual(counter.rows()[0], {
        verb: 'add',
        operation: 'PutItem',
        table,
        calls: 1,
        readUnits: 0,
        writeUnits: 1,
      })
      assert.deepEqual(counter.retries(), [{ verb: 'add', operation: 'PutItem', refused: 1, retried: 0 }])
    })

    it('says that a table is missing, and how it is made', async () => {
      const error = await failure(
        client.getItem('t', { TableName: 'none-here', Key: key('1') }),
        'STORE_UNUSABLE',
      )
      assert.match(error.message, /catraca dynamodb create/)
    })

    it('takes no call after it was closed', async () => {
      const closed = server.client()
      closed.close()
      await failure(closed.getItem('t', { TableName: table, Key: key('1') }), 'CLOSED')
    })
  })
}

describe('client without credentials that are right', async () => {
  const server = await startDynamo('extenddb')

  it('says so without naming a secret', async () => {
    const client = server.client({ credentials: { accessKeyId: 'AKIANOBODY', secretAccessKey: 'hush-hush' } })
    const error = await failure(client.getItem('t', { TableName: 'any', Key: key('1') }), 'STORE_UNUSABLE')
    assert.doesNotMatch(JSON.stringify(error) + error.message, /hush/)
  })
})

describe('client with nobody to talk to', () => {
  it('gives up in time, and knows that nothing was done', async () => {
    const credentials = { accessKeyId: 'a', secretAccessKey: 'b' }
    const client = new DynamoClient({
      region: 'us-east-1',
      endpoint: 'http://127.0.0.1:9',
      credentials,
      // Long beside an attempt: one that is on its way at the end leaves it unknown whether it was made.
      readTimeoutMs: 2000,
      writeTimeoutMs: 2000,
    })
    const calls = [
      client.getItem('t', { TableName: 'any', Key: key('1') }),
      client.putItem('t', { TableName: 'any', Item: key('1') }),
    ]
    for (const call of calls) call.catch(() => {})
    for (const call of calls) await failure(inTime<unknown>(call, 10_000), 'ENGINE_UNAVAILABLE')
    client.close()
  })
})

describe('attributes', () => {
  it('carry JSON there and back, whatever its keys are', () => {
    const value = JSON.parse('{"a":[1,"x",null,{"b":true}],"__proto__":{"c":-0.5},"":"empty"}')
    assert.deepEqual(toJson(fromJson(value, 'metadata')), value)
    assert.deepEqual(Object.keys(toJson(fromJson(value, 'metadata')) as object), ['a', '__proto__', ''])
  })

  it('refuse numbers that DynamoDB cannot hold, and name them', () => {
    for (const n of [1e126, -1e300, 1e-131, Number.NaN, Number.POSITIVE_INFINITY]) {
      assert.throws(
        () => fromJson({ a: [n] }, 'metadata'),
        (error) => isCatracaError(error, 'INVALID_INPUT') && error.errors?.[0]?.path === 'metadata.a[0]',
      )
    }
  })

  it('read what they are, and name what is not there', () => {
    const item: Item = {
      ...key('CUSTOMER#secret'),
      n: number(2n ** 60n),
      on: flag(true),
      b: bytes(Buffer.of(1)),
    }
    assert.equal(bigintOf(item, 'n'), 2n ** 60n)
    assert.deepEqual(
      [flagOf(item, 'on'), flagOf(item, 'off'), optionalText(item, 'none')],
      [true, false, undefined],
    )
    assert.throws(
      () => textOf(item, 'n'),
      (error) =>
        isCatracaError(error, 'STORE_CORRUPT') &&
        /CUSTOMER has no n/.test(error.message) &&
        !/secret/.test(error.message),
    )
  })

  it('have sets of other programs as lists', () => {
    const sets: Attribute[] = [{ SS: ['a'] }, { NS: ['1'] }, { BS: [Buffer.from('x')] }]
    assert.deepEqual(sets.map(toJson), [['a'], [1], ['eA==']])
  })
})

describe('sizes', () => {
  it('never promise less than is sent', () => {
    const values: Attribute[] = [
      text('é"\n\u0001'),
      number(-12.5),
      { L: [text(''), { NULL: true }, flag(false)] },
      { M: { 'a"b': { M: { c: number(1) } } } },
      { SS: ['x', 'y'] },
      { NS: ['1', '22'] },
    ]
    for (const value of values) {
      const sent = Buffer.byteLength(JSON.stringify({ name: value }))
      assert.ok(wireBytes({ name: value }) >= sent, JSON.stringify(value))
    }
    const binary = { name: bytes(Buffer.alloc(1000)) }
    assert.ok(wireBytes(binary) >= 1336 + '{"name":{"B":""}}'.length)
    assert.equal(itemBytes({ ab: text('é'), b: bytes(Buffer.alloc(10)), ok: flag(true) }), 4 + 11 + 3)
  })

  it('split a batch by count and by bytes', () => {
    const small = Array.from({ length: 60 }, (_, i) => ({ table: 't', put: key(`${i}`) }))
    assert.deepEqual(
      [...writeChunks(small)].map((chunk) => chunk.length),
      [25, 25, 10],
    )
    // 400 KB of binary are 546 KB of base64: 25 of them are 13.6 MB and fit; control characters take six bytes each.
    const wide = Array.from({ length: 25 }, (_, i) => ({
      table: 't',
      put: { ...key(`${i}`), s: text('\u0001'.repeat(390_000)) },
    }))
    const chunks = [...writeChunks(wide)].map((chunk) => chunk.length)
    assert.deepEqual(chunks, [7, 7, 7, 4])
    assert.deepEqual([...writeChunks([])], [])
  })
})
