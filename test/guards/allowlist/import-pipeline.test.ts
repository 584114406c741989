import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { gzipSync } from 'node:zlib'
import { ManualClock } from '../../../src/core/clock.js'
import type { ImportProgress } from '../../../src/guards/allowlist/types.js'
import { failure } from '../../support/failure.js'
import { ids, pieces } from './bodies.js'
import { importInto, listFactory } from './import-helpers.js'

const small = { maxRunRows: 4, batchCustomers: 2 }
const newList = listFactory()

test('adds in sorted batches and counts every row once', async () => {
  const list = await newList('b')
  const result = await importInto(list, ids('d', 'a', 'b', 'a', 'c c', 'e', 'd', '', 'f'), { limits: small })
  assert.deepEqual(list.withoutToken(result), {
    importId: 'i1',
    added: 4,
    unchanged: 3,
    removed: 0,
    rejected: 1,
    firstErrors: [{ line: 5, message: result.firstErrors[0]!.message, row: 'c c' }],
    customerCount: 5,
  })
  const { state, rowsAcknowledged, run } = await list.record()
  assert.deepEqual([state, rowsAcknowledged, run], ['completed', 8, undefined])
  assert.deepEqual(await list.names(), ['a', 'b', 'd', 'e', 'f'])
  assert.equal(list.bulk.batches, 4)
})

test('attributes, and addedBy for customers that are new and whose row does not say it', async () => {
  const list = await newList('old', 'old-too')
  list.clock.advance(5)
  const body = 'customerId,addedBy,metadata\na,,\nb,ops,"{""k"":1}"\nc,,{}\nold,,\nold-too,,"{""k"":2}"\n'
  const result = await importInto(list, body, { format: 'csv', addedBy: 'nightly' })
  assert.deepEqual([result.added, result.unchanged], [3, 2])
  assert.deepEqual(await list.members(), [
    ['a', { addedBy: 'nightly' }],
    ['b', { addedBy: 'ops', metadata: { k: 1 } }],
    ['c', { addedBy: 'nightly', metadata: {} }],
    ['old', { addedBy: 'before' }],
    // A row that says anything replaces all that was said; who it was added by is not for the default to claim.
    ['old-too', { metadata: { k: 2 } }],
  ])
  assert.deepEqual(
    await Promise.all(['a', 'old', 'old-too'].map((id) => list.addedAt(id))),
    [1_000_005, 1_000_000, 1_000_000],
  )
})

test('rows with more cells than the first one are counted, once also by who resumes, and told again', async () => {
  const body = 'customerId\na,1\nb\nc,2\nd\ne\nf,3\n'
  const list = await newList()
  const options = { format: 'csv', limits: small } as const
  const cut = async function* () {
    yield Buffer.from(body.slice(0, -4))
    throw new Error('the line is dead')
  }
  await failure(importInto(list, cut(), options), 'IMPORT_INTERRUPTED')
  assert.equal((await list.record()).rowsWithExtraCells, 2)
  const result = await importInto(list, body, options)
  assert.deepEqual([result.added, result.rejected, result.rowsWithExtraCells], [6, 0, 3])
  assert.equal((await importInto(list, body, options)).rowsWithExtraCells, 3, 'an import that has ended')
  const replaced = await importInto(list, body, { ...options, importId: 'i2', mode: 'replace' })
  assert.equal(replaced.rowsWithExtraCells, 3)
  assert.equal((await list.record('i2')).rowsWithExtraCells, 3)
})

test('an empty body adds nothing; rows that are all rejected are acknowledged all the same', async () => {
  const list = await newList()
  assert.equal((await importInto(list, '')).added, 0)
  const result = await importInto(list, ids(...new Array(250).fill('no id')), {
    importId: 'i2',
    limits: small,
  })
  assert.deepEqual([result.added, result.rejected, result.firstErrors.length], [0, 250, 100])
  assert.equal((await list.record('i2')).rowsAcknowledged, 250)
  assert.equal(list.bulk.batches, 0)
})

test('gzip bodies are expanded; what is wrong with one is told with how far the import came', async () => {
  const packed = gzipSync(ids('a', 'b', 'c', 'd', 'e'))
  assert.equal((await importInto(await newList(), pieces(packed))).added, 5)
  const cut = importInto(await newList(), pieces(packed.subarray(0, -3)), { limits: small })
  const error = await failure(cut, 'INVALID_INPUT')
  assert.deepEqual(error.errors, [{ path: 'body', message: 'ends in the middle of its gzip data' }])
  assert.equal(error.facts!.rowsAcknowledged, 4)

  const bomb = await newList()
  const zeros = gzipSync(Buffer.alloc(5_000_000))
  const limits = { maxExpandedBytes: 100_000, maxExpansion: 10 }
  await failure(importInto(bomb, pieces(zeros, 1000), { limits }), 'PAYLOAD_TOO_LARGE')
  assert.equal((await bomb.record()).state, 'failed')
})

test('progress is told at most ten times a second, and at the end', async () => {
  const clock = new ManualClock(0)
  const told: ImportProgress[] = []
  async function* body(): AsyncGenerator<Uint8Array> {
    for (let i = 0; i < 100; i++) {
      clock.advance(10)
      yield Buffer.from(`customer-${i}\n`)
    }
  }
  await importInto(await newList(), body(), {
    clock,
    limits: small,
    onProgress: (progress) => told.push(progress),
  })
  assert.ok(told.length >= 9 && told.length <= 11, `told ${told.length} times`)
  assert.deepEqual(told.at(-1), { bytesRead: 1190, rowsRead: 100, rowsAcknowledged: 100 })
  for (let i = 1; i < told.length; i++) assert.ok(told[i]!.rowsAcknowledged >= told[i - 1]!.rowsAcknowledged)
})

test('other work gets its turn although the whole body is in memory', async () => {
  const list = await newList()
  let turns = 0
  let running = true
  const turn = (): void => {
    turns++
    if (running) setImmediate(turn)
  }
  setImmediate(turn)
  const body = Buffer.from(Array.from({ length: 200_000 }, (_, i) => `customer-number-${i}\n`).join(''))
  const { customerCount } = await importInto(list, pieces(body, body.length))
  assert.ok(turns > 20, `${turns} turns`)
  assert.equal(customerCount, 200_000)

  turns = 0
  const blank = Buffer.alloc(10_000_000, '\n')
  await importInto(list, pieces(blank, blank.length), { importId: 'i2' })
  running = false
  assert.ok(turns >= 5, `${turns} turns while nothing was stored`)
})

setFlagsFromString('--expose-gc')
const collectOnce = runInNewContext('gc') as () => void
/** Twice, because the memory of buffers is given back by the turn that follows. */
const collect = (): void => {
  collectOnce()
  collectOnce()
}

function memoryBytes(): number {
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}

test('a line of 100 MB is rejected with its number, in little memory', async () => {
  const filler = Buffer.alloc(64 * 1024, 'x')
  async function* body(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('a\nb')
    for (let i = 0; i < 1600; i++) yield filler
    yield Buffer.from('\nc\n')
  }
  const limit = 24 * 1024 * 1024
  for (const format of ['text', 'csv', 'ndjson'] as const) {
    collect()
    const before = memoryBytes()
    let most = 0
    let seconds = 0
    const onProgress = (): void => {
      // What nobody holds any more does not count, however long it lies about.
      if (memoryBytes() - before >= limit) collect()
      most = Math.max(most, memoryBytes() - before)
    }
    const clock = new ManualClock(0)
    // Every look at the clock is a second later, so that progress is told for each chunk.
    clock.now = () => (seconds += 1000)
    const result = await importInto(await newList(), body(), { format, clock, onProgress, leaseMs: 1e9 })
    const rejected = format === 'ndjson' ? 3 : 1
    assert.equal(result.rejected, rejected)
    assert.ok(
      result.firstErrors.some(({ line, message }) => line === 2 && /longer than 65536 bytes/.test(message)),
    )
    assert.ok(most > 0 && most < limit, `${format} took ${most} bytes`)
  }
})
