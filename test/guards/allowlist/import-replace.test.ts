import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { isCatracaError } from '../../../src/core/errors.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { ids } from './bodies.js'
import { type Attempt, importInto, listFactory, type TestList } from './import-helpers.js'

const directory = temporaryDirectory()
const newList = listFactory()
const limits = { maxRunRows: 4, blockCustomers: 3, spillBufferBytes: 64 }

const replace = (list: TestList, body: string | AsyncIterable<Uint8Array>, attempt: Attempt = {}) =>
  importInto(list, body, { mode: 'replace', spillDir: directory, limits, ...attempt })

test('the list holds what the file holds, merged from disk in blocks', async () => {
  const list = await newList('a', 'x', 'y')
  const names = ['m', 'a', 'c', 'b', 'm', 'd', 'a', 'm', 'e', 'f', 'g', 'c', 'y']
  const result = await replace(list, ids(...names))
  assert.deepEqual(await list.names(), ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'm', 'y'])
  const { added, unchanged, removed, rejected, customerCount } = result
  assert.deepEqual(
    { added, unchanged, removed, rejected, customerCount },
    {
      added: 7,
      unchanged: 6,
      removed: 1,
      rejected: 0,
      customerCount: 9,
    },
  )
  assert.deepEqual(list.bulk.replaceBlocks, [3, 3, 3])
  assert.deepEqual(readdirSync(directory), [])
  const { state, rowsAcknowledged } = await list.record()
  assert.deepEqual([state, rowsAcknowledged], ['completed', 13])
})

test('attributes and their defaults come through the disk', async () => {
  const list = await newList('a', 'b')
  const row = (id: string, metadata = ''): string => `${id},"${metadata.replaceAll('"', '""')}"\n`
  const body = `customerId,metadata\n${row('e', '{"n":1}')}${row('d')}${row('c')}${row('b')}${row('a', '{"n":2}')}${row('e')}`
  list.clock.advance(5)
  await replace(list, body, { format: 'csv', addedBy: 'nightly' })
  assert.deepEqual(Object.fromEntries(await list.members()), {
    // Of those who were members before, the default says nothing.
    a: { metadata: { n: 2 } },
    b: { addedBy: 'before' },
    c: { addedBy: 'nightly' },
    d: { addedBy: 'nightly' },
    e: { addedBy: 'nightly', metadata: { n: 1 } },
  })
  const moments = await Promise.all(['a', 'b', 'c', 'e'].map((id) => list.addedAt(id)))
  assert.deepEqual(moments, [1_000_000, 1_000_000, 1_000_005, 1_000_005])
})

test('one run, also when it is just full, never touches the disk', async () => {
  const nowhere = join(directory, 'absent')
  for (const body of [ids('a'), ids('a', 'b', 'c', 'd'), 'a\nb\nc\nd']) {
    const list = await newList('z')
    await replace(list, body, { spillDir: nowhere })
    assert.equal((await list.names()).includes('z'), false)
  }
  assert.equal(existsSync(nowhere), false)
})

test('an empty file empties the list', async () => {
  for (const body of ['', '\n\n', 'customerId\n']) {
    const list = await newList('a', 'b')
    const result = await replace(list, body, { format: 'csv' })
    assert.deepEqual([result.removed, result.customerCount], [2, 0])
  }
})

test('one bad row and nothing changes: every error is named', async () => {
  const list = await newList('a')
  const error = await replace(list, ids('b', 'bad one', 'c', 'd', 'e', 'f', '', 'bad two', 'g')).catch(
    (e: unknown) => e,
  )
  assert.ok(isCatracaError(error, 'INVALID_INPUT'))
  assert.deepEqual(
    error.errors!.map(({ path }) => path),
    ['line 2', 'line 8'],
  )
  assert.match(error.errors![0]!.message, /^customerId must be/)
  assert.match(error.message, /because 2 rows of the input/)
  assert.deepEqual(await list.names(), ['a'])
  const { state, rowsAcknowledged, rejected } = await list.record()
  assert.deepEqual([state, rowsAcknowledged, rejected], ['failed', 0, 2])
  assert.deepEqual(readdirSync(directory), [])
})

test('a file full of bad rows is not read to its end', async () => {
  let given = 0
  async function* body(): AsyncGenerator<Uint8Array> {
    for (; given < 5000; given++) yield Buffer.from('bad one\n')
  }
  const error = await replace(await newList('a'), body()).catch((e: unknown) => e)
  assert.ok(isCatracaError(error, 'INVALID_INPUT'))
  assert.equal(error.errors!.length, 100)
  assert.match(error.message, /at least 100/)
  assert.ok(given < 200)
})

test('a body that breaks off, an abort before the switch, a lost lease: nothing changes, nothing stays on disk', async () => {
  async function* cut(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(ids('b', 'c', 'd', 'e', 'f', 'g'))
    assert.equal(readdirSync(directory).length, 1)
    throw new Error('connection reset')
  }
  const list = await newList('a')
  await assert.rejects(replace(list, cut()), (error) => isCatracaError(error, 'IMPORT_INTERRUPTED'))
  assert.deepEqual([(await list.record()).state, await list.names()], ['interrupted', ['a']])

  const stop = new AbortController()
  list.bulk.beforeReplace = () => stop.abort(new Error('client went away'))
  const aborted = replace(list, ids('b', 'c', 'd', 'e', 'f'), { signal: stop.signal })
  await assert.rejects(aborted, (error) => isCatracaError(error, 'IMPORT_INTERRUPTED'))

  list.bulk.beforeReplace = () => list.takeOver('replace')
  await assert.rejects(replace(list, ids('b')), (error) => isCatracaError(error, 'IMPORT_IN_PROGRESS'))
  assert.equal((await list.record()).state, 'running')
  // The lease of the other began when the first had run out.
  list.expireLeases()
  list.expireLeases()
  assert.deepEqual(await list.names(), ['a'])

  list.bulk.beforeReplace = () => list.delete()
  await assert.rejects(replace(list, ids('b')), (error) => isCatracaError(error, 'ALLOWLIST_NOT_FOUND'))
  assert.deepEqual(readdirSync(directory), [])
})

test('what breaks the engine off in mid-replace is undone, and it can be done again', async () => {
  const list = await newList('a', 'c', 'x')
  const body = ids('a', 'b', 'c', 'd', 'e', 'f', 'g')
  const surprise = new Error('surprise')
  list.bulk.beforeBlock = (block) => {
    if (block === 3) throw surprise
  }
  const error = await replace(list, body).catch((reason: unknown) => reason)
  assert.ok(isCatracaError(error, 'INTERNAL'))
  assert.equal(error.cause, surprise)
  assert.deepEqual([(await list.record()).state, await list.names()], ['failed', ['a', 'c', 'x']])

  list.bulk.heal()
  const result = await replace(list, body)
  assert.deepEqual([result.added, result.unchanged, result.removed, result.customerCount], [5, 2, 1, 7])
  assert.deepEqual(await list.names(), ['a', 'b', 'c', 'd', 'e', 'f', 'g'])
})

test('a replace whose process dies behind the switch has been done, and says so again', async () => {
  const list = await newList('a')
  list.bulk.afterReplace = () => {
    list.bulk.isDown = true
    throw new Error('power cut')
  }
  await assert.rejects(replace(list, ids('b', 'c')))
  list.bulk.heal()
  assert.deepEqual([(await list.record()).state, await list.names()], ['completed', ['b', 'c']])
  const { added, removed, customerCount } = await replace(list, ids('whatever'))
  assert.deepEqual({ added, removed, customerCount }, { added: 2, removed: 1, customerCount: 2 })
  assert.deepEqual(await list.names(), ['b', 'c'])
})

test('a resumed replace begins again, with whatever input it is given now', async () => {
  const list = await newList('a')
  async function* cut(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(ids('b', 'c', 'd', 'e', 'f', 'g'))
    throw new Error('connection reset')
  }
  await assert.rejects(replace(list, cut()))
  const result = await replace(list, ids('x', 'y'))
  assert.deepEqual([result.added, result.removed, await list.names()], [2, 1, ['x', 'y']])
})

test('no room to sort in is an error of the store, and nothing changes', async () => {
  const list = await newList('a')
  const attempt = replace(list, ids('b', 'c', 'd', 'e', 'f'), { spillDir: '/dev/null/no' })
  await assert.rejects(attempt, (error) => isCatracaError(error, 'STORE_UNUSABLE'))
  assert.deepEqual([(await list.record()).state, await list.names()], ['failed', ['a']])
})
