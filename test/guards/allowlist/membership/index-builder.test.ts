import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { writeCustomerKey } from '../../../../src/guards/allowlist/customer-key.js'
import {
  compareRanges,
  defaultSplitAbove,
  tilingFault,
} from '../../../../src/guards/allowlist/membership/directory.js'
import { IndexBuilder } from '../../../../src/guards/allowlist/membership/index-builder.js'
import type { EncodedPage } from '../../../../src/guards/allowlist/membership/page.js'
import { PagePool } from '../../../../src/guards/allowlist/membership/page-pool.js'
import { buildPages, KEY, open, probeOf, randomHashes, snapshotOf } from './support.js'

const ids = Array.from({ length: 50_000 }, (_, i) => `customer-${i}`)

async function pooled(builder: IndexBuilder, threads: number): Promise<EncodedPage[]> {
  const pool = new PagePool(builder.kind, threads)
  const pages: EncodedPage[] = []
  try {
    for await (const page of pool.make(builder.buckets())) pages.push(page)
  } finally {
    await pool.close()
  }
  return pages.sort((a, b) => compareRanges(a.range, b.range))
}

describe('the index builder', () => {
  it('makes one page of a list that fits one, and as many as a longer one needs', () => {
    assert.equal(buildPages(ids.slice(0, 10)).length, 1)
    const most = defaultSplitAbove(32)
    const longer = Array.from({ length: most + 1000 }, (_, i) => String(i))
    assert.equal(buildPages(longer.slice(0, most), { fingerprintBits: 32 }).length, 1)
    const pages = buildPages(longer, { fingerprintBits: 32 })
    assert.equal(pages.length, 2)
    assert.equal(pages[0]!.count + pages[1]!.count, longer.length)
  })

  it('cuts ranges further than it sorts them at first', () => {
    const pages = buildPages(ids, { splitAbove: 60 })
    assert.ok(pages.length >= 1024)
    assert.equal(tilingFault(pages.map((page) => page.range)), undefined)
    assert.ok(pages.every((page) => page.count <= 60))
    const snapshot = snapshotOf(pages)
    for (const id of ids) {
      const { hi, lo } = probeOf(id)
      assert.ok(snapshot.mayContain(hi, lo), id)
    }
  })

  it('takes ids and keys alike', () => {
    const bytes = new Uint8Array(20 * ids.length)
    const offsets = [0]
    for (const id of ids) offsets.push(writeCustomerKey(id, bytes, offsets.at(-1)!))
    const block = {
      count: ids.length,
      bytes,
      start: (i: number) => offsets[i]!,
      end: (i: number) => offsets[i + 1]!,
    }
    const builder = new IndexBuilder({ key: KEY, fingerprintBits: 16, splitAbove: 3000 })
    builder.addBlock(block)
    assert.equal(builder.customers, ids.length)
    assert.deepEqual([...builder.finish()], buildPages(ids, { splitAbove: 3000 }))
  })

  it('passes over customers outside the ranges asked for', () => {
    const all = buildPages(ids, { splitAbove: 3000 })
    const wanted = [all[3]!, all[0]!]
    const builder = new IndexBuilder({
      key: KEY,
      fingerprintBits: 16,
      splitAbove: 3000,
      ranges: wanted.map((page) => page.range),
    })
    for (const id of ids) builder.addId(id)
    assert.equal(builder.customers, wanted[0]!.count + wanted[1]!.count)
    assert.deepEqual([...builder.finish()], wanted)
  })

  it('does not build pages that overlap or do not exist', () => {
    const build = (...ranges: [number, number][]): IndexBuilder =>
      new IndexBuilder({
        key: KEY,
        fingerprintBits: 16,
        ranges: ranges.map(([depth, index]) => ({ depth, index })),
      })
    build([2, 0], [2, 1], [1, 1])
    assert.throws(() => build([2, 0], [1, 0]), /overlaps/)
    assert.throws(() => build([1, 0], [2, 1]), /overlaps/)
    assert.throws(() => build([3, 5], [3, 5]), /overlaps/)
    assert.throws(() => build([2, 4]), /does not exist/)
    assert.throws(() => build([17, 0]), /at most 16 bits/)
  })

  it('counts a customer once that comes more than a million times', () => {
    const builder = new IndexBuilder({ key: KEY, fingerprintBits: 16 })
    for (let i = 0; i < 1_200_000; i++) builder.addId('again')
    for (const id of ids) builder.addId(id)
    const snapshot = snapshotOf([...builder.finish()])
    assert.equal(snapshot.count, ids.length + 1)
    const { hi, lo } = probeOf('again')
    assert.ok(snapshot.mayContain(hi, lo))
  })

  it('is empty once it has finished', () => {
    const builder = new IndexBuilder({ key: KEY, fingerprintBits: 16 })
    builder.addId('a')
    assert.equal([...builder.finish()][0]!.count, 1)
    assert.equal([...builder.finish()][0]!.count, 0)
  })

  it('makes the same pages on other threads', async () => {
    const builder = new IndexBuilder({ key: KEY, fingerprintBits: 32, splitAbove: 1000 })
    for (const id of ids) builder.addId(id)
    assert.deepEqual(await pooled(builder, 2), buildPages(ids, { fingerprintBits: 32, splitAbove: 1000 }))
  })

  it('tells when a thread cannot make its page, and when it was closed', async () => {
    const pool = new PagePool({ fingerprintBits: 32, keyCheck: 0, splitAbove: 1000 }, 2)
    const count = 80_001
    // The range is as narrow as ranges get, so these cannot be split.
    const tooMany = { range: { depth: 16, index: 0 }, count, chunks: [randomHashes(count, 1)] }
    const makeAll = async (): Promise<void> => {
      for await (const _ of pool.make([tooMany])) assert.fail('a page came out')
    }
    await assert.rejects(makeAll, /could not build its page: .* too big/)
    await assert.rejects(makeAll, /could not build its page/)
    await pool.close()
    const closed = new PagePool({ fingerprintBits: 32, keyCheck: 0, splitAbove: 1000 }, 2)
    await closed.close()
    const late = closed.make([{ ...tooMany, chunks: [] }])
    await assert.rejects(late.next(), /exited/)
  })

  it('can be left before its last page', async () => {
    const builder = new IndexBuilder({ key: KEY, fingerprintBits: 16, splitAbove: 1000 })
    for (const id of ids) builder.addId(id)
    const pool = new PagePool(builder.kind, 2)
    for await (const page of pool.make(builder.buckets())) {
      assert.ok(open(page).count > 0)
      break
    }
    await pool.close()
  })
})
