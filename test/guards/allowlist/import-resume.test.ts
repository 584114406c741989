import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { CatracaError, isCatracaError } from '../../../src/core/errors.js'
import { ids, pieces } from './bodies.js'
import { type Attempt, importInto, listFactory, type TestList } from './import-helpers.js'

const newList = listFactory()
const limits = { maxRunRows: 5, batchCustomers: 2 }
const LETTERS = ids('d', 'a', 'c', 'b', 'a', 'e', 'f', 'bad id', 'g', 'd', 'h', 'i')

/** As if the process had died at that batch: nothing more is recorded, and the lease runs out. */
async function die(
  list: TestList,
  body: string,
  batch: number,
  isStored: boolean,
  size = 7,
): Promise<boolean> {
  const { bulk } = list
  bulk.heal()
  bulk[isStored ? 'afterBatch' : 'beforeBatch'] = (at) => {
    if (at !== batch) return
    bulk.isDown = true
    throw new Error('power cut')
  }
  const died = await importInto(list, pieces(body, size), { limits }).then(
    () => false,
    () => true,
  )
  bulk.heal()
  list.expireLeases()
  return died
}

/** The whole of it in a list of its own, without any interruption. */
async function straight(body: string, ...before: string[]) {
  const list = await newList(...before)
  return { list, result: list.withoutToken(await importInto(list, body, { limits })) }
}

const name = fc.stringMatching(/^[a-h]{1,2}$|^[a-h] $|^$|^!$/)

test('an import that dies at any batches ends with the same counters as one that does not', async () => {
  const deaths = fc.array(fc.tuple(fc.integer({ min: 1, max: 9 }), fc.boolean()), { maxLength: 4 })
  await fc.assert(
    fc.asyncProperty(
      fc.array(name, { maxLength: 40 }),
      fc.array(name, { maxLength: 5 }),
      deaths,
      fc.integer({ min: 1, max: 20 }),
      async (rows, given, points, size) => {
        const body = ids(...rows)
        const before = given.filter((id) => /^[a-h]+$/.test(id))
        const expected = await straight(body, ...before)

        const list = await newList(...before)
        for (const [batch, isStored] of points) await die(list, body, batch, isStored, size)
        const result = await importInto(list, pieces(body, size), { limits })
        assert.deepEqual(list.withoutToken(result), expected.result)
        assert.deepEqual(await list.members(), await expected.list.members())
        assert.equal(
          result.added + result.unchanged + result.rejected,
          rows.filter((row) => row.trim() !== '').length,
        )
        assert.deepEqual(await progress(list), await progress(expected.list))
      },
    ),
    { numRuns: 100 },
  )
})

async function progress(list: TestList): Promise<unknown> {
  const { rowsAcknowledged, inputDigest, run, state } = await list.record()
  return { rowsAcknowledged, inputDigest, run, state }
}

test('at every batch of one input, before and after it is stored', async () => {
  const expected = await straight(LETTERS)
  let points = 0
  for (const isStored of [false, true]) {
    for (let batch = 1; ; batch++) {
      const list = await newList()
      if (!(await die(list, LETTERS, batch, isStored))) break
      points++
      assert.equal((await list.record()).state, 'interrupted')
      const resumed = await importInto(list, LETTERS, { limits })
      assert.deepEqual(list.withoutToken(resumed), expected.result)
      assert.deepEqual(await list.names(), await expected.list.names())
    }
  }
  assert.equal(points, 2 * 5)
})

test('what is acknowledged is not stored a second time', async () => {
  const list = await newList()
  await die(list, LETTERS, 3, true)
  const { rowsAcknowledged, run } = await list.record()
  assert.deepEqual([rowsAcknowledged, run?.applied], [5, 2])
  await importInto(list, LETTERS, { limits })
  assert.equal(list.bulk.batches, 2)
})

test('an interrupted body is resumed with the whole of it', async () => {
  const list = await newList()
  async function* cut(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(LETTERS.slice(0, 20))
    throw new Error('connection reset')
  }
  await assert.rejects(importInto(list, cut(), { limits }), (error) =>
    isCatracaError(error, 'IMPORT_INTERRUPTED'),
  )
  assert.equal((await list.record()).rowsAcknowledged, 5)
  const told: number[] = []
  const onProgress: Attempt['onProgress'] = (each) => told.push(each.rowsAcknowledged)
  const result = await importInto(list, LETTERS, { limits, onProgress })
  assert.deepEqual(list.withoutToken(result), (await straight(LETTERS)).result)
  assert.equal(told.at(-1), 12)
})

test('customers removed by hand between two attempts stay removed', async () => {
  const list = await newList()
  await die(list, LETTERS, 3, true)
  await list.remove('a')
  const result = await importInto(list, LETTERS, { limits })
  assert.deepEqual(await list.names(), ['b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'])
  assert.deepEqual([result.added, result.customerCount], [9, 8])
})

test('another input than before is refused, and the import waits for its own', async () => {
  const rows = LETTERS.split('\n')
  const changed = (line: number, to: string): string => rows.with(line - 1, to).join('\n')
  const wrong: Record<string, string> = {
    'another row in what is acknowledged': changed(2, 'x'),
    'another row in the run being stored': changed(7, 'x'),
    'a row that is rejected now': changed(2, '!'),
    'a rejected row that is one no more': changed(8, 'good'),
    'two rows exchanged': rows.with(0, 'a').with(1, 'd').join('\n'),
    'the input ends within what is acknowledged': ids('d', 'a'),
    'the input ends with what is acknowledged': rows.slice(0, 5).join('\n'),
    'the input ends within the run being stored': rows.slice(0, 7).join('\n'),
    'an empty input': '',
  }
  const { result: expected } = await straight(LETTERS)
  // In the middle of the second run, and right behind the first.
  for (const [batch, isStored] of [
    [4, false],
    [2, true],
  ] as const) {
    for (const [what, body] of Object.entries(wrong)) {
      if (isStored && /being stored|with what|no more/.test(what)) continue
      const list = await newList()
      await die(list, LETTERS, batch, isStored)
      const members = await list.members()
      const before = await stand(list)
      const error = await importInto(list, body, { limits }).catch((reason: unknown) => reason)
      assert.ok(isCatracaError(error, 'IMPORT_INPUT_CHANGED'), `${what}: ${error}`)
      assert.equal(error.facts!.rowsAcknowledged, 5)
      assert.deepEqual(await list.members(), members, what)
      assert.deepEqual(await stand(list), before, what)
      assert.equal((await list.record()).state, 'interrupted', what)
      assert.deepEqual(list.withoutToken(await importInto(list, LETTERS, { limits })), expected)
    }
  }
})

async function stand(list: TestList): Promise<unknown> {
  const { rowsAcknowledged, run, added, unchanged, rejected } = await list.record()
  return { rowsAcknowledged, run, added, unchanged, rejected }
}

test('an input that grew behind its last run is refused too', async () => {
  const list = await newList()
  list.bulk.afterBatch = (batch) => {
    if (batch !== 5) return
    list.bulk.isDown = true
    throw new CatracaError('ENGINE_UNAVAILABLE', 'power cut')
  }
  await assert.rejects(importInto(list, LETTERS, { limits }))
  list.bulk.heal()
  list.expireLeases()
  assert.equal((await list.record()).rowsAcknowledged, 12)
  const grown = importInto(list, `${LETTERS}new\n`, { limits })
  await assert.rejects(grown, (error) => isCatracaError(error, 'IMPORT_INPUT_CHANGED'))
  assert.equal((await list.names()).includes('new'), false)
})

test('how the rows are spelled may change where their meaning does not', async () => {
  const list = await newList()
  await die(list, LETTERS, 4, false)
  const respelled = `\n${LETTERS.replaceAll('\n', ' \r\n\n')}`
  const result = await importInto(list, respelled, { limits })
  assert.deepEqual([result.added, result.rejected], [9, 1])
})
