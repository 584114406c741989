import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { ManualClock } from '../../../src/core/clock.js'
import { CatracaError, isCatracaError } from '../../../src/core/errors.js'
import { failure } from '../../support/failure.js'
import { ids, pausing } from './bodies.js'
import { importInto, listFactory } from './import-helpers.js'

const small = { maxRunRows: 4, batchCustomers: 2 }
const newList = listFactory()

test('a body that breaks off keeps the complete runs, and drops the one being collected', async () => {
  const list = await newList()
  const { body, fail } = pausing(ids('a', 'b', 'c', 'd', 'e', 'f'))
  const running = importInto(list, body, { limits: small })
  const cause = new Error('connection reset')
  fail(cause)
  const error = await failure(running, 'IMPORT_INTERRUPTED')
  assert.equal(error.cause, cause)
  assert.deepEqual(error.facts, {
    importId: 'i1',
    rowsAcknowledged: 4,
    added: 4,
    unchanged: 0,
    removed: 0,
    rejected: 0,
  })
  assert.deepEqual(await list.names(), ['a', 'b', 'c', 'd'])
  const { state, error: message } = await list.record()
  assert.equal(state, 'interrupted')
  assert.match(message!, /broke off/)
})

test('an abort stops a body that says nothing, and one that never ends', async () => {
  const stop = new AbortController()
  const { body, reached } = pausing(ids('a', 'b', 'c', 'd', 'e'))
  const running = importInto(await newList(), body, { limits: small, signal: stop.signal })
  await reached
  stop.abort(new Error('client went away'))
  const error = await failure(running, 'IMPORT_INTERRUPTED')
  assert.match(String(error.cause), /client went away/)

  const list = await newList()
  const again = new AbortController()
  async function* endless(): AsyncGenerator<Uint8Array> {
    for (let i = 0; ; i++) yield Buffer.from(`customer-${i}\n`)
  }
  list.bulk.beforeBatch = (batch) => {
    if (batch === 5) again.abort()
  }
  await failure(importInto(list, endless(), { limits: small, signal: again.signal }), 'IMPORT_INTERRUPTED')
  assert.deepEqual([list.bulk.batches, (await list.record()).state], [5, 'interrupted'])
  assert.equal((await list.names()).length, 10)

  const untouched = await newList()
  const never = importInto(untouched, endless(), { signal: AbortSignal.abort() })
  await failure(never, 'IMPORT_INTERRUPTED')
  assert.deepEqual(await untouched.names(), [])
})

test('every way in which an import may not begin', async () => {
  const list = await newList()
  const { body, rest, reached } = pausing(ids('a'))
  const first = importInto(list, body, { mode: 'replace' })
  await reached
  const untouched = {
    [Symbol.asyncIterator]: (): never => assert.fail('the body must not be touched'),
  }
  await failure(importInto(list, untouched, { mode: 'replace' }), 'IMPORT_IN_PROGRESS')
  await failure(importInto(list, untouched, { mode: 'replace', importId: 'i2' }), 'REPLACE_IN_PROGRESS')
  await failure(importInto(list, untouched, { mode: 'add' }), 'IMPORT_INPUT_CHANGED')
  rest('b\n')
  assert.deepEqual([(await first).added, await list.names()], [2, ['a', 'b']])
  await list.delete()
  await failure(importInto(list, untouched, { importId: 'i3' }), 'ALLOWLIST_NOT_FOUND')
})

test('a completed import answers again as it did, and only drains the body', async () => {
  const list = await newList()
  const first = await importInto(list, ids('a', 'b', 'a', '!'))
  let drained = 0
  async function* other(): AsyncGenerator<Uint8Array> {
    for (const name of ['x', 'y', 'z']) {
      drained++
      yield Buffer.from(ids(name))
    }
  }
  assert.deepEqual(await importInto(list, other()), first)
  assert.equal(drained, 3)
  assert.deepEqual(await list.names(), ['a', 'b'])
  async function* broken(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('x')
    throw new Error('gone')
  }
  assert.deepEqual(await importInto(list, broken()), first)
})

test('an import that another took over stops, and leaves the record alone', async () => {
  const list = await newList()
  list.bulk.beforeBatch = async (batch) => {
    if (batch === 3) await list.takeOver('add')
  }
  const error = await failure(
    importInto(list, ids('a', 'b', 'c', 'd', 'e', 'f'), { limits: small }),
    'IMPORT_IN_PROGRESS',
  )
  assert.equal(error.facts!.rowsAcknowledged, 4)
  assert.equal((await list.record()).state, 'running')
  assert.deepEqual(list.bulk.endings, [])
  assert.deepEqual(await list.names(), ['a', 'b', 'c', 'd'])
})

test('a list deleted in mid-import is told, also when only rejected rows or the end remain', async () => {
  const six = ids('a', 'b', 'c', 'd', 'e', 'f')
  const cases = [
    ['before a batch', 'beforeBatch', 3, six],
    ['before the end', 'afterBatch', 3, six],
    ['before rejected rows', 'afterBatch', 2, ids('a', 'b', 'c', 'd', '!', '!')],
  ] as const
  for (const [when, hook, at, body] of cases) {
    const list = await newList()
    list.bulk[hook] = async (batch) => {
      if (batch === at) await list.delete()
    }
    const error = await importInto(list, body, { limits: small }).catch((reason: unknown) => reason)
    assert.ok(isCatracaError(error, 'ALLOWLIST_NOT_FOUND'), `${when}: ${error}`)
    assert.equal(error.facts!.importId, 'i1')
  }
})

test('what the engine throws is kept, and the import can be resumed', async () => {
  const list = await newList()
  list.bulk.beforeBatch = () => {
    throw new CatracaError('STORE_FULL', 'the disk is full', { facts: { free: 0 } })
  }
  const full = await failure(importInto(list, ids('a')), 'STORE_FULL')
  assert.deepEqual([full.facts!.free, full.facts!.rowsAcknowledged], [0, 0])
  assert.equal((await list.record()).error, 'the disk is full')
  list.bulk.beforeBatch = () => {
    throw new TypeError('surprise')
  }
  const surprise = await failure(importInto(list, ids('a')), 'INTERNAL')
  assert.ok(surprise.cause instanceof TypeError)
  assert.equal((await list.record()).state, 'failed')
  list.bulk.heal()
  assert.equal((await importInto(list, ids('a'))).added, 1)
})

test('the lease is renewed while the input is slow, and losing it stops the import', async (t) => {
  mock.timers.enable({ apis: ['setInterval'] })
  t.after(() => mock.timers.reset())
  const settle = async (): Promise<void> => {
    for (let i = 0; i < 5; i++) await new Promise(setImmediate)
  }
  const list = await newList()
  const clock = new ManualClock(0)
  const { body, reached } = pausing(ids('a'))
  const running = importInto(list, body, { leaseMs: 3000, clock })
  const caught = failure(running, 'IMPORT_IN_PROGRESS')
  await reached
  const pass = async (): Promise<void> => {
    clock.advance(1000)
    mock.timers.tick(1000)
    await settle()
  }
  /** How the import looks to others at these moments: it is interrupted when its lease has run out. */
  const states = (...moments: number[]): Promise<string[]> =>
    Promise.all(moments.map(async (now) => (await list.record('i1', now)).state))
  for (let i = 0; i < 6; i++) await pass()
  assert.equal(list.bulk.renewals, 6)
  assert.deepEqual(await states(8999, 9000), ['running', 'interrupted'])

  list.bulk.isDown = true
  await pass()
  await pass()
  list.bulk.isDown = false
  await pass()
  const held = await states(11_999, 12_000)
  assert.deepEqual(held, ['running', 'interrupted'], 'two failures within the lease do no harm')
  await list.takeOver('add', 3000, clock)
  await pass()
  await caught
  const { renewals } = list.bulk
  await pass()
  assert.equal(list.bulk.renewals, renewals, 'nothing is renewed behind the end')
})

test('an engine that stays away longer than the lease ends the import', async (t) => {
  mock.timers.enable({ apis: ['setInterval'] })
  t.after(() => mock.timers.reset())
  const list = await newList()
  const clock = new ManualClock(0)
  const { body, reached } = pausing(ids('a'))
  const caught = failure(importInto(list, body, { leaseMs: 3000, clock }), 'INTERNAL')
  await reached
  list.bulk.isDown = true
  for (let i = 0; i < 3; i++) {
    clock.advance(1000)
    mock.timers.tick(1000)
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate)
  }
  assert.match(String((await caught).cause), /down/)
})
