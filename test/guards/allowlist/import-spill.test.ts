import assert from 'node:assert/strict'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { isCatracaError } from '../../../src/core/errors.js'
import { DEFAULT_LIMITS } from '../../../src/guards/allowlist/import/limits.js'
import { RunBuilder } from '../../../src/guards/allowlist/import/run.js'
import { SortedRun } from '../../../src/guards/allowlist/import/sorted-run.js'
import { Spill } from '../../../src/guards/allowlist/import/spill.js'
import type { MemberAttributes, SortedCustomers } from '../../../src/guards/allowlist/port.js'
import { temporaryDirectory } from '../../support/temporary.js'
import { unpack } from './faulty-bulk.js'

type Row = [id: string, attributes?: MemberAttributes | undefined]

const directory = temporaryDirectory()
const limits = { ...DEFAULT_LIMITS, blockCustomers: 3, spillBufferBytes: 1 }

async function runOf(rows: Row[]): Promise<SortedRun> {
  const builder = new RunBuilder(DEFAULT_LIMITS)
  for (const [id, attributes] of rows) builder.add(Buffer.from(id), 0, id.length, attributes)
  return SortedRun.of(builder, async () => {})
}

async function unpackAll(blocks: AsyncIterable<SortedCustomers>): Promise<[string, MemberAttributes][]> {
  const all: [string, MemberAttributes][] = []
  for await (const block of blocks) {
    assert.ok(block.count > 0)
    all.push(...unpack(block))
  }
  return all
}

const rows: fc.Arbitrary<Row[]> = fc.array(
  fc.tuple(
    fc.oneof(fc.stringMatching(/^[abc]{1,3}$/), fc.uuid()),
    fc.option(
      fc.stringMatching(/^[a-z]{1,9}$/).map((addedBy) => ({ addedBy })),
      { nil: undefined },
    ),
  ),
  { maxLength: 20 },
)

test('any runs merge into one ascending order; of equal ids the earliest run counts', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(rows, { minLength: 1, maxLength: 6 }),
      fc.boolean(),
      async (input, keepsLast) => {
        const spill = new Spill(directory, limits)
        const runs = await Promise.all(input.map(runOf))
        const last = keepsLast ? runs.pop() : undefined
        for (const run of runs) await spill.write(run)
        const tally = { duplicates: 0 }
        const merged = await unpackAll(spill.merged(last, tally))
        await spill.dispose()

        // One run of all rows in input order does the same in memory.
        assert.deepEqual(merged, unpack(await runOf(input.flat())))
        const inRuns = [...runs, ...(last ? [last] : [])].reduce((sum, run) => sum + run.count, 0)
        assert.equal(tally.duplicates, inRuns - merged.length)
      },
    ),
    { numRuns: 60 },
  )
  assert.deepEqual(readdirSync(directory), [])
})

test('many rows through small buffers, with long attributes', async () => {
  const spill = new Spill(directory, { ...limits, blockCustomers: 1000, blockBytes: 20_000 })
  const text = 'é'.repeat(1500)
  for (let run = 0; run < 4; run++) {
    const own: Row[] = Array.from({ length: 5000 }, (_, i) => [
      `c${String((i * 4 + run) * 7).padStart(9, '0')}`,
      i % 50 === 0 ? { metadata: { text, run } } : undefined,
    ])
    await spill.write(await runOf(own))
  }
  const found = await unpackAll(spill.merged(undefined, { duplicates: 0 }))
  assert.equal(found.length, 20_000)
  assert.deepEqual(found[0], ['c000000000', { metadata: { text, run: 0 } }])
  assert.deepEqual(found[1], ['c000000007', { metadata: { text, run: 1 } }])
  assert.deepEqual(found.at(-1), ['c000139993', {}])
  await spill.dispose()
})

test('a single run never touches the disk', async () => {
  const nowhere = join(directory, 'absent')
  const spill = new Spill(nowhere, limits)
  const found = await unpackAll(spill.merged(await runOf([['b'], ['a'], ['c'], ['d']]), { duplicates: 0 }))
  assert.deepEqual(
    found.map(([id]) => id),
    ['a', 'b', 'c', 'd'],
  )
  await spill.dispose()
  assert.equal(existsSync(nowhere), false)
})

test('files are for their owner only, and are removed also in mid-merge', async () => {
  const spill = new Spill(join(directory, 'made', 'as-needed'), limits)
  await spill.write(await runOf([['a'], ['b'], ['c'], ['d'], ['e']]))
  const folder = join(directory, 'made', 'as-needed')
  const [name] = readdirSync(folder)
  assert.equal(statSync(join(folder, name!)).mode & 0o077, 0)
  for await (const _ of spill.merged(undefined, { duplicates: 0 })) break
  await spill.dispose()
  assert.deepEqual(readdirSync(folder), [])
  await spill.dispose()
})

test('a directory that cannot be used is said so', async () => {
  const spill = new Spill('/dev/null/spill', limits)
  await assert.rejects(spill.write(await runOf([['a']])), (error) => isCatracaError(error, 'STORE_UNUSABLE'))
  await spill.dispose()
})
