import assert from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'
import { bucket, cost, lease, of, remaining } from '../../../src/conformance/rate-limit/support.js'
import { isCatracaError } from '../../../src/core/errors.js'
import { until } from '../../server/support.js'
import { atEnd } from '../../support/at-end.js'
import { startFaultProxy } from '../../support/dynamodb-faults.js'
import { LimitsServer } from '../../support/dynamodb-limits.js'
import { startDynamo } from '../../support/dynamodb-server.js'

const limits = new LimitsServer(await startDynamo())
const table = await limits.table()
const proxy = await startFaultProxy(limits.server.endpoint)
const far = limits.open(table, { endpoint: proxy.endpoint })
const near = limits.open(table)
const NOW = 1_900_000_000_000
atEnd(() => Promise.all([far.close(), near.close()]))
afterEach(() => proxy.clear())

const left = (entity: string, capacity = 10) =>
  remaining(near.counters, of(entity, cost('x', bucket(capacity), 0)), NOW)

describe('an answer that is lost', () => {
  for (const entity of ['first', 'next']) {
    it(`is not taken for a second call: the ${entity} of a subject`, async () => {
      const asked = [of(entity, cost('x', bucket(10), 2))]
      if (entity === 'next') await far.counters.take(asked, NOW)
      proxy.inject({ kind: 'reset', when: 'after' }, { operation: 'UpdateItem', times: 1 })
      const { allowed, views } = await far.counters.take(asked, NOW)
      const expected = entity === 'next' ? 6 : 8
      assert.deepEqual([allowed, views[0]![0]!.remaining], [true, expected])
      assert.deepEqual(await left(entity), [expected])
    })
  }

  it('costs at most once more where somebody else came in between, and is never too little', async () => {
    const asked = [of('between', cost('x', bucket(10), 2))]
    await far.counters.take(asked, NOW)
    proxy.inject({ kind: 'reset', when: 'after' }, { operation: 'UpdateItem', times: 1 })
    const [own, other] = await Promise.all([far.counters.take(asked, NOW), near.counters.take(asked, NOW)])
    assert.ok(own.allowed && other.allowed)
    const [rest] = await left('between')
    assert.ok(rest === 4 || rest === 2, `${rest} are left`)
  })

  it('of two subjects takes of both once', async () => {
    const both = [of('child', cost('x', bucket(10), 1)), of('parent', cost('x', bucket(10), 1))]
    proxy.inject({ kind: 'reset', when: 'after' }, { operation: 'TransactWriteItems', times: 1 })
    assert.equal((await far.counters.take(both, NOW)).allowed, true)
    assert.deepEqual([await left('child'), await left('parent')], [[9], [9]])
  })

  it('of an adjustment adds once', async () => {
    const taken = [of('adjusted', cost('x', bucket(10), 3))]
    await far.counters.take(taken, NOW)
    const use = lease(taken, { x: 2 }, NOW)
    proxy.inject({ kind: 'reset', when: 'after' }, { operation: 'TransactWriteItems', times: 1 })
    assert.equal(await far.counters.adjust(use, 'one', NOW), 'done')
    assert.equal(await near.counters.adjust(use, 'one', NOW), 'done')
    assert.deepEqual(await left('adjusted'), [5])
  })

  it('of a lease gives back once', async () => {
    const taken = [of('leased', cost('x', bucket(10), 3))]
    await far.counters.take(taken, NOW)
    await near.counters.take(taken, NOW)
    const use = lease(taken, {}, NOW)
    proxy.inject({ kind: 'reset', when: 'after' }, { operation: 'TransactWriteItems', times: 1 })
    assert.equal(await far.counters.giveBack(use, NOW), 'done')
    assert.equal(await far.counters.giveBack(use, NOW), 'given-back')
    assert.deepEqual(await left('leased'), [7])
  })
})

describe('a table that is busy', () => {
  it('is asked again, and taken from once', async () => {
    proxy.inject({ kind: 'throttled' }, { operation: 'UpdateItem', times: 2 })
    assert.equal((await far.counters.take([of('busy', cost('x', bucket(10), 1))], NOW)).allowed, true)
    assert.deepEqual(await left('busy'), [9])
  })

  it('with transactions in each other’s way ends with both or neither', async () => {
    const both = [of('c', cost('x', bucket(10), 1)), of('p', cost('x', bucket(10), 1))]
    const codes = ['None', 'TransactionConflict']
    proxy.inject({ kind: 'cancelled', codes }, { operation: 'TransactWriteItems', times: 3 })
    assert.equal((await far.counters.take(both, NOW)).allowed, true)
    assert.deepEqual([await left('c'), await left('p')], [[9], [9]])
  })
})

describe('a table that does not answer', () => {
  it('is a failure in the words of the product', async () => {
    const impatient = limits.open(table, {
      endpoint: proxy.endpoint,
      client: { maxAttempts: 2, writeTimeoutMs: 500, readTimeoutMs: 500 },
    })
    proxy.inject({ kind: 'reset', when: 'before' })
    const asked = [of('away', cost('x', bucket(10), 1))]
    // Broken off it may have been done; to look changes nothing.
    await assert.rejects(impatient.counters.take(asked, NOW), (error) =>
      isCatracaError(error, 'UNKNOWN_OUTCOME'),
    )
    const look = [of('away', cost('x', bucket(10), 0))]
    await assert.rejects(impatient.counters.take(look, NOW), (error) =>
      isCatracaError(error, 'ENGINE_UNAVAILABLE'),
    )
    proxy.clear()
    assert.deepEqual(await left('away'), [10])
    await impatient.close()
  })

  it('is followed again when it is back, and what was missed is heard', async () => {
    // On a table of its own: on the other one it would also hear, late, of what earlier cases gave back.
    const own = await limits.table()
    const away = limits.open(own, { endpoint: proxy.endpoint })
    const here = limits.open(own)
    const heard: unknown[] = []
    const stop = away.counters.watch((freed) => heard.push(freed))
    await until('it has looked', async () => heard.length === 1)
    proxy.inject({ kind: 'server-error' })
    await here.counters.take([of('freed', cost('x', bucket(10), 1))], NOW)
    await here.counters.reset({ entity: 'freed', resource: 'gpt-4' })
    proxy.clear()
    await until('it is heard', async () => heard.length >= 2)
    stop()
    await Promise.all([away.close(), here.close()])
    // One that was away for longer is told that anything may have been freed.
    for (const freed of heard.slice(1))
      if (freed !== undefined) assert.deepEqual(freed, { entity: 'freed', resource: 'gpt-4' })
  })
})

describe('an item that is full', () => {
  it('is said, and nothing is taken', async () => {
    const Item = {
      PK: { S: 'SUBJECT#full#gpt-4' },
      SK: { S: 'STATE' },
      other: { B: new Uint8Array(409_000) },
    }
    await limits.server.client().putItem('test', { TableName: table, Item })
    const asked = [of('full', cost('x'.repeat(256), bucket(10), 1))]
    await assert.rejects(near.counters.take(asked, NOW), (error) => isCatracaError(error, 'STORE_FULL'))
  })
})
