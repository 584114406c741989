import assert from 'node:assert/strict'
import { after, beforeEach, describe, it } from 'node:test'
import { customer, fixa, NOW, newFixa, sweepAll } from '../../../src/conformance/support.js'
import { isCatracaError } from '../../../src/core/errors.js'
import { type DynamodbEngine, openDynamodb } from '../../../src/engines/dynamodb/index.js'
import type { DynamodbOptions } from '../../../src/engines/dynamodb/options.js'
import { makeTables } from '../../support/dynamodb-engine.js'
import { startFaultProxy } from '../../support/dynamodb-faults.js'
import { CREDENTIALS, PATIENCE, startDynamo } from '../../support/dynamodb-server.js'
import { failure } from '../../support/failure.js'

const server = await startDynamo('dynoxide')
const proxy = await startFaultProxy(server.endpoint)
const tables = await makeTables(server)
const direct = await tables.open()
const { lists, members } = direct.allowlists

const TRANSACTION = { operation: 'TransactWriteItems' }
const CONFLICT = ['TransactionConflict', 'None']

/** On the same tables, with faults on the way. Its catalog knows nothing yet. */
const throughProxy = (options: DynamodbOptions = {}): Promise<DynamodbEngine> =>
  openDynamodb(
    { ...tables.url, endpoint: proxy.endpoint },
    { ...PATIENCE, credentials: CREDENTIALS, probeIntervalMs: 0, checkTables: false, ...options },
  )

let made = 0
const newList = async (): Promise<string> => (await newFixa(direct.allowlists, `list-${made++}`)).id
const countOf = async (id: string) => (await lists.get(id))?.customerCount

beforeEach(() => proxy.clear())
after(() => direct.close())

describe('writes of members', () => {
  it('whose answer is lost are done once, and told as what they were', async () => {
    const engine = await throughProxy()
    const id = await newList()
    proxy.inject({ kind: 'reset', when: 'after' }, { ...TRANSACTION, times: 1 })
    assert.equal((await engine.allowlists.members.add(id, 'a', {}, NOW)).outcome, 'added')
    proxy.inject({ kind: 'reset', when: 'after' }, { ...TRANSACTION, times: 1 })
    assert.equal((await engine.allowlists.members.add(id, 'a', {}, NOW)).outcome, 'replaced')
    assert.equal(await countOf(id), 1)
    proxy.inject({ kind: 'reset', when: 'after' }, { ...TRANSACTION, times: 1 })
    assert.equal((await engine.allowlists.members.remove(id, 'a', NOW)).outcome, 'removed')
    assert.equal(await countOf(id), 0)
    await engine.close()
  })

  it('that never get an answer have an unknown outcome, which a further try settles', async () => {
    const engine = await throughProxy({ writeTimeoutMs: 400 })
    const id = await newList()
    proxy.inject({ kind: 'reset', when: 'after' }, TRANSACTION)
    await failure(engine.allowlists.members.add(id, 'a', {}, NOW), 'UNKNOWN_OUTCOME')
    assert.equal((await members.add(id, 'a', {}, NOW)).outcome, 'replaced')
    assert.equal(await countOf(id), 1)
    await engine.close()
  })

  it('get through conflicts and throttling, and count once', async () => {
    const engine = await throughProxy()
    const id = await newList()
    proxy.inject({ kind: 'cancelled', codes: CONFLICT }, { ...TRANSACTION, times: 3 })
    proxy.inject({ kind: 'throttled' }, { ...TRANSACTION, times: 1 })
    proxy.inject({ kind: 'cancelled', codes: ['None', 'ThrottlingError'] }, { ...TRANSACTION, times: 1 })
    assert.equal((await engine.allowlists.members.add(id, 'a', {}, NOW)).outcome, 'added')
    assert.equal(await countOf(id), 1)
    await engine.close()
  })

  it('say so when conflicts do not end: nothing was done', async () => {
    const engine = await throughProxy({ writeTimeoutMs: 300 })
    const id = await newList()
    proxy.inject({ kind: 'cancelled', codes: CONFLICT }, TRANSACTION)
    const isUnavailable = (error: unknown) =>
      // Of an attempt that is under way when the time is up nobody knows the end.
      isCatracaError(error, 'ENGINE_UNAVAILABLE') || isCatracaError(error, 'UNKNOWN_OUTCOME')
    await assert.rejects(engine.allowlists.members.add(id, 'a', {}, NOW), isUnavailable)
    assert.equal(await countOf(id), 0)
    await engine.close()
  })

  it('that wait together are told one by one, also when the engine fails', async () => {
    const engine = await throughProxy({ writeTimeoutMs: 300 })
    const id = await newList()
    await engine.allowlists.lists.get(id)
    proxy.inject({ kind: 'throttled' }, TRANSACTION)
    const adds = Array.from({ length: 5 }, (_, i) => engine.allowlists.members.add(id, customer(i), {}, NOW))
    const ends = await Promise.allSettled(adds)
    assert.deepEqual(
      ends.map(({ status }) => status),
      new Array(5).fill('rejected'),
    )
    assert.equal((await members.add(id, customer(0), {}, NOW)).outcome, 'added')
    await engine.close()
  })

  it('find the list as it is now, when what they knew of it is old', async () => {
    const engine = await throughProxy()
    const id = await newList()
    await engine.allowlists.members.add(id, 'a', {}, NOW)
    await lists.delete(id, NOW)
    assert.equal((await engine.allowlists.members.add(id, 'b', {}, NOW)).outcome, 'list-not-found')
    assert.equal(await tables.item(`ALLOWLIST#${id}`, 'CUSTOMER#b'), undefined)
    await sweepAll(direct.allowlists)
    await lists.create(fixa(id), NOW)
    assert.equal((await engine.allowlists.members.add(id, 'b', {}, NOW)).outcome, 'added')
    assert.equal((await engine.allowlists.members.remove(id, 'a', NOW)).outcome, 'absent')
    assert.equal(await countOf(id), 1)
    await engine.close()
  })
})

describe('other writes', () => {
  it('of lists and keys whose answer is lost are done once', async () => {
    const engine = await throughProxy()
    proxy.inject({ kind: 'reset', when: 'after' }, { ...TRANSACTION, times: 1 })
    const created = await engine.allowlists.lists.create(fixa(`list-${made++}`), NOW)
    assert.equal(created.outcome, 'created')
    const key = { name: 'app', scopes: ['check' as const], hash: 'ab'.repeat(32), createdAt: NOW }
    proxy.inject({ kind: 'reset', when: 'after' }, { operation: 'PutItem', times: 1 })
    assert.equal(await engine.keys.add(key), true)
    assert.equal(await engine.keys.add({ ...key, hash: 'cd'.repeat(32) }), false)
    proxy.inject({ kind: 'reset', when: 'after' }, { operation: 'DeleteItem', times: 1 })
    assert.equal(await engine.keys.remove('app'), true)
    assert.equal(await engine.keys.remove('app'), false)
    await engine.close()
  })

  it('of a list that count versions are not done twice', async () => {
    const engine = await throughProxy()
    const id = await newList()
    proxy.inject({ kind: 'reset', when: 'after' }, { operation: 'UpdateItem', times: 1 })
    await failure(engine.allowlists.lists.update(id, { name: 'x' }, NOW), 'UNKNOWN_OUTCOME')
    assert.equal((await lists.get(id))?.version, 2)
    await engine.close()
  })

  it('of a sweep that breaks off are done by the next one', async () => {
    const engine = await throughProxy({ batchTimeoutMs: 300, writeTimeoutMs: 300 })
    const id = await newList()
    for (let i = 0; i < 30; i++) await members.add(id, customer(i), {}, NOW)
    await lists.delete(id, NOW)
    proxy.inject({ kind: 'unprocessed', processed: 7 }, { operation: 'BatchWriteItem', times: 1 })
    proxy.inject({ kind: 'throttled' }, { operation: 'BatchWriteItem' })
    await failure(sweepAll(engine.allowlists), 'UNKNOWN_OUTCOME')
    assert.deepEqual(await lists.create(fixa(id), NOW), { outcome: 'being-deleted' })
    // Another one: this one's client goes slowly for a while.
    await sweepAll(direct.allowlists)
    assert.equal((await lists.create(fixa(id), NOW)).outcome, 'created')
    assert.deepEqual(await members.page(id, undefined, 10), { members: [] })
    await engine.close()
  })
})

describe('checks', () => {
  it('know a list for a while when the engine does not answer, and no member', async () => {
    const engine = await throughProxy({ readTimeoutMs: 3000, staleAfterMs: 600_000 })
    const id = await newList()
    const view = await engine.allowlists.checks.view(undefined)
    const list = (await view.list(id))!
    proxy.inject({ kind: 'throttled' })
    assert.equal(await view.list(id), list)
    const strong = await engine.allowlists.checks.view('strong')
    const calls: unknown[] = [view.member(list, 'a'), strong.list(id), engine.health()]
    await Promise.all(calls.map((call) => failure(Promise.resolve(call), 'ENGINE_UNAVAILABLE')))
    await engine.close()
  })
})

describe('opening', () => {
  it('is refused without tables, with the command that makes them', async () => {
    const names = server.names()
    const url = { ...tables.url, tables: names }
    const error = await failure(
      openDynamodb(url, { ...PATIENCE, credentials: CREDENTIALS }),
      'STORE_UNUSABLE',
    )
    assert.match(error.message, /: table must be present, is missing/)
    assert.ok(
      error.message.includes(`catraca dynamodb create --store 'dynamodb://us-east-1/${names.allowlists}?`),
    )
  })

  it('is refused with other tables than expected', async () => {
    const names = { ...tables.names, allowlists: tables.names.giant }
    const url = { ...tables.url, tables: names }
    const error = await failure(
      openDynamodb(url, { ...PATIENCE, credentials: CREDENTIALS }),
      'STORE_UNUSABLE',
    )
    assert.match(error.message, /index CustomerAllowlistIndex must be/)
  })
})

describe('a set of changes of lists', () => {
  it('is made whole by one of many who change the same lists, once though the answer is lost', async () => {
    const engine = await throughProxy()
    const ids = [await newList(), await newList(), await newList()]
    const setOf = (names: readonly string[], i: number) =>
      names.map((id) => ({ step: 'update', id, ifVersion: 1, name: `n${i}` }) as const)
    const outcomes = await Promise.all(
      Array.from({ length: 6 }, (_, i) =>
        lists.changeAll(setOf(i % 2 === 0 ? ids : ids.toReversed(), i), NOW),
      ),
    )
    assert.equal(outcomes.filter(({ outcome }) => outcome === 'changed').length, 1)
    for (const outcome of outcomes)
      assert.ok(outcome.outcome === 'changed' || outcome.changed === 0, JSON.stringify(outcome))
    const found = await Promise.all(ids.map((id) => lists.get(id)))
    assert.equal(new Set(found.map((list) => `${list!.name} ${list!.version}`)).size, 1)
    proxy.inject({ kind: 'reset', when: 'after' }, { ...TRANSACTION, times: 1 })
    const gone = ids.map((id) => ({ step: 'delete', id, ifVersion: 2 }) as const)
    assert.deepEqual(await engine.allowlists.lists.changeAll(gone, NOW), { outcome: 'changed' })
    await engine.close()
  })
})

describe('the end', () => {
  it('is told to whoever calls afterwards', async () => {
    const engine = await tables.open()
    await engine.close()
    await failure(engine.allowlists.lists.get('a'), 'CLOSED')
  })
})
