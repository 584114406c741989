import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { writeCustomerKey } from '../../../src/guards/allowlist/customer-key.js'
import { DEFAULT_LIMITS } from '../../../src/guards/allowlist/import/limits.js'
import { RunBuilder } from '../../../src/guards/allowlist/import/run.js'
import { SortedRun } from '../../../src/guards/allowlist/import/sorted-run.js'
import type { MemberAttributes } from '../../../src/guards/allowlist/port.js'
import { unpack } from './faulty-bulk.js'

type Row = [id: string, attributes?: MemberAttributes | undefined] | null

const noPause = async (): Promise<void> => {}

function build(rows: Row[], builder = new RunBuilder(DEFAULT_LIMITS)): RunBuilder {
  for (const [index, row] of rows.entries()) {
    if (row === null) builder.reject(index + 1, 'no id', new Uint8Array(0))
    else assert.ok(builder.add(Buffer.from(row[0]), 0, row[0].length, row[1]))
  }
  return builder
}

const sorted = async (rows: Row[]): Promise<[string, MemberAttributes][]> =>
  unpack(await SortedRun.of(build(rows), noPause))

function keyOf(id: string): Buffer {
  const key = Buffer.alloc(256)
  return key.subarray(0, writeCustomerKey(id, key, 0))
}

/** The plain way: the first row of each id, by the bytes of its key. */
function expected(rows: Row[]): [string, MemberAttributes][] {
  const first = new Map<string, MemberAttributes>()
  for (const row of rows) {
    if (row === null) continue
    const id = row[0].length === 36 ? row[0].toLowerCase() : row[0]
    if (!first.has(id)) first.set(id, row[1] ?? {})
  }
  return [...first].sort(([a], [b]) => Buffer.compare(keyOf(a), keyOf(b)))
}

const longPrefix = 'customer-with-a-long-prefix-that-many-share-0000000000'
const id = fc.oneof(
  fc.uuid(),
  fc.uuid().map((uuid) => uuid.toUpperCase()),
  fc.constantFrom(randomUUID(), randomUUID()),
  fc.nat(30).map((n) => `00000000-0000-0000-0000-0000000000${n.toString(16).padStart(2, '0')}`),
  fc.stringMatching(/^[abA~.]{1,4}$/).filter((text) => text !== '.' && text !== '..'),
  fc.nat(60).map((n) => 'a'.repeat(n + 1)),
  fc.nat(200).map((n) => `${longPrefix}${n}`),
  fc.nat(200).map((n) => longPrefix.repeat(4) + n),
)
const row: fc.Arbitrary<Row> = fc.oneof(
  { weight: 5, arbitrary: id.map((text): Row => [text]) },
  { weight: 2, arbitrary: fc.tuple(id, fc.constantFrom({ addedBy: 'x' }, { addedBy: 'y' })) },
  { weight: 1, arbitrary: fc.constant(null) },
)

test('any rows come out sorted, each customer once, with what its first row said', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(row, { maxLength: 300, size: 'max' }), async (rows) => {
      assert.deepEqual(await sorted(rows), expected(rows))
    }),
    { numRuns: 100 },
  )
})

test('large groups that share a prefix, and ids that are prefixes of others', async () => {
  const rows: Row[] = []
  for (let i = 0; i < 3000; i++) {
    rows.push([`${longPrefix}${(i * 7919) % 2500}`], [longPrefix.slice(0, 1 + (i % longPrefix.length))])
    rows.push([randomUUID()], [`018f0000-0000-7000-8000-${((i * 31) % 700).toString(16).padStart(12, '0')}`])
  }
  assert.deepEqual(await sorted(rows), expected(rows))
})

test('one customer a thousand times is one customer, and its first row counts', async () => {
  const rows: Row[] = Array.from({ length: 1000 }, (_, i) => ['same', { addedBy: `row ${i}` }])
  assert.deepEqual(await sorted(rows), [['same', { addedBy: 'row 0' }]])
})

test('a run is full by rows, by keys or by attributes, and can be used again', async () => {
  const limits = { ...DEFAULT_LIMITS, maxRunRows: 5, maxRunKeyBytes: 600, maxRunAttributeBytes: 40 }
  const fill = (rows: Row[]): boolean => build(rows, new RunBuilder(limits)).full
  assert.equal(fill([['a'], ['b'], ['c'], ['d']]), false)
  assert.equal(fill([['a'], ['b'], null, ['d'], ['e']]), true)
  assert.equal(fill([['a'.repeat(256)], ['b'.repeat(256)]]), false)
  assert.equal(fill([['a'.repeat(256)], ['b'.repeat(256)], ['c'.repeat(88)]]), true)
  assert.equal(fill([['a', { addedBy: 'x'.repeat(10) }]]), false)
  assert.equal(fill([['a', { addedBy: 'x'.repeat(30) }]]), true)

  const builder = build([['z', { addedBy: 'old' }], null], new RunBuilder(limits))
  builder.reset()
  build([['y'], ['x']], builder)
  assert.deepEqual([builder.rows, builder.rejected, builder.errors], [2, 0, []])
  assert.deepEqual(unpack(await SortedRun.of(builder, noPause)), [
    ['x', {}],
    ['y', {}],
  ])
})

test('buffers grow with the rows', async () => {
  const attributes = { metadata: { text: 'ü'.repeat(1000) } }
  const rows: Row[] = Array.from({ length: 9000 }, (_, i) => [
    `${'k'.repeat(200)}${i}`,
    i % 3 === 0 ? attributes : undefined,
  ])
  assert.deepEqual(await sorted(rows), expected(rows))
})

test('errors are kept up to a limit, and all are counted', () => {
  const builder = build(new Array(150).fill(null))
  assert.equal(builder.rejected, 150)
  assert.equal(builder.errors.length, 100)
  assert.deepEqual(builder.errors[99], { line: 100, message: 'no id', row: '' })
})

test('the digest tells apart whatever differs, and nothing else', async () => {
  const digest = (rows: Row[], previous = ''): Promise<string> => build(rows).digest(previous, noPause)
  const inputs: Row[][] = [
    [],
    [['a']],
    [['b']],
    [['a'], ['b']],
    [['b'], ['a']],
    [['ab']],
    [['a'], null, ['b']],
    [['a'], ['b'], null],
    [['a', { addedBy: 'x' }], ['b']],
    [['a'], ['b', { addedBy: 'x' }]],
    [['a', { addedBy: 'y' }], ['b']],
  ]
  const digests = await Promise.all(inputs.map((rows) => digest(rows)))
  assert.equal(new Set(digests).size, inputs.length)
  assert.equal(await digest([['a'], ['b']]), digests[3])
  assert.notEqual(await digest([['a'], ['b']], digests[1]), digests[3])
  const reused = build([['zzz', { addedBy: 'q' }]])
  reused.reset()
  assert.equal(await build([['a'], ['b']], reused).digest('', noPause), digests[3])
})

test('sorting is cut into steps', async () => {
  const rows: Row[] = Array.from({ length: 100_000 }, () => [randomUUID()])
  let pauses = 0
  const run = await SortedRun.of(build(rows), async () => {
    pauses++
  })
  assert.equal(run.count, rows.length)
  assert.ok(pauses >= 3, `${pauses} pauses`)
})
