import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import {
  compareRanges,
  overlaps,
  type PageRange,
  tilingFault,
  topBits,
} from '../../../../src/guards/allowlist/membership/directory.js'
import { hashKey } from '../../../../src/guards/allowlist/membership/hash.js'
import { IndexBuilder } from '../../../../src/guards/allowlist/membership/index-builder.js'
import { Overlay } from '../../../../src/guards/allowlist/membership/overlay.js'
import { Snapshot } from '../../../../src/guards/allowlist/membership/snapshot.js'
import { buildPages, open, probeOf, snapshotOf } from './support.js'

const idSets = fc.uniqueArray(fc.oneof(fc.uuid(), fc.nat(100_000).map(String)), { maxLength: 400 })

function has(snapshot: Snapshot, id: string): boolean {
  const { hi, lo } = probeOf(id)
  return snapshot.mayContain(hi, lo)
}

describe('a snapshot', () => {
  it('holds every customer of any list, at any page size and width', () => {
    fc.assert(
      fc.property(
        idSets,
        fc.integer({ min: 1, max: 500 }),
        fc.constantFrom(16 as const, 32 as const),
        (ids, splitAbove, bits) => {
          const snapshot = snapshotOf(buildPages(ids, { fingerprintBits: bits, splitAbove }))
          assert.equal(snapshot.count, ids.length)
          for (const id of ids) assert.ok(has(snapshot, id), id)
        },
      ),
    )
  })

  it('of an empty list holds nobody', () => {
    const snapshot = snapshotOf(buildPages([]))
    for (let i = 0; i < 500_000; i++) assert.equal(has(snapshot, String(i)), false)
  })

  it('is wrong about one stranger in 65,536', () => {
    const members = 200_000
    const snapshot = snapshotOf(buildPages(Array.from({ length: members }, (_, i) => `customer-${i}`)))
    assert.equal(snapshot.pages.length, 2)
    const strangers = 2_000_000
    let wrong = 0
    for (let i = members; i < members + strangers; i++) if (has(snapshot, `customer-${i}`)) wrong++
    const expected = strangers / 65_536
    assert.ok(
      Math.abs(wrong - expected) < 5 * Math.sqrt(expected),
      `${wrong} false positives, not ${expected}`,
    )
    assert.ok(snapshot.sizeBytes / members < 2.5, `${snapshot.sizeBytes / members} bytes per customer`)
  })

  it('is not made of pages that leave a gap, overlap, or belong elsewhere', () => {
    const ids = Array.from({ length: 200 }, (_, i) => String(i))
    const pages = buildPages(ids, { splitAbove: 50 }).map(open)
    const faultOf = (parts: typeof pages): string => {
      const reading = Snapshot.of(parts)
      assert.ok(!reading.ok)
      return reading.fault
    }
    assert.ok(Snapshot.of([...pages].reverse()).ok, 'order does not matter')
    assert.match(faultOf([]), /missing/)
    assert.match(faultOf(pages.slice(1)), /no page before/)
    assert.match(faultOf(pages.slice(0, -1)), /missing/)
    assert.match(faultOf([...pages, pages[2]!]), /two pages/)
    const wide = buildPages(ids, { splitAbove: 50, fingerprintBits: 32 }).map(open)
    assert.match(faultOf([...pages.slice(0, -1), wide.at(-1)!]), /another list/)
    const foreign = new IndexBuilder({ key: hashKey(new Uint8Array(16).fill(9)), fingerprintBits: 16 })
    assert.match(
      faultOf([...pages.slice(1), { ...open([...foreign.finish()][0]!), range: pages[0]!.range }]),
      /another list/,
    )
  })

  it('splits one page and shares the others', () => {
    const ids = Array.from({ length: 800 }, (_, i) => `c${i}`)
    const before = snapshotOf(buildPages(ids, { splitAbove: 250 }))
    const range = before.pages[1]!.range
    const parts = buildPages(ids, { splitAbove: 20, ranges: [range] })
    const after = before.withPages(parts.map(open))
    assert.ok(parts.length >= 8)
    assert.equal(after.pages.length, before.pages.length - 1 + parts.length)
    assert.equal(after.pages[0], before.pages[0])
    assert.equal(after.count, ids.length)
    for (const id of ids) assert.ok(has(after, id), id)
    assert.throws(() => before.withPages(parts.slice(1).map(open)), /do not fit/)
  })

  it('with its dirty pages rebuilt is the snapshot of the changed list', () => {
    fc.assert(
      fc.property(idSets, idSets, fc.integer({ min: 8, max: 100 }), (ids, changes, splitAbove) => {
        const members = new Set(ids)
        const before = snapshotOf(buildPages(members, { splitAbove }))
        const overlay = new Overlay()
        for (const id of changes) {
          if (members.delete(id)) overlay.remove(probeOf(id))
          else overlay.add(probeOf(members.add(id) && id), 0)
        }
        const ranges = before.dirtyRanges(overlay)
        const rebuilt = before.withPages(buildPages(members, { splitAbove, ranges }).map(open))
        assert.equal(rebuilt.count, members.size)
        for (const id of members) assert.ok(has(rebuilt, id), id)
        const fresh = snapshotOf(buildPages(members, { splitAbove }))
        for (const page of fresh.pages) {
          const same = rebuilt.pages.find(({ range }) => compareRanges(range, page.range) === 0)
          if (same) assert.deepEqual(same, page)
        }
        for (const page of before.pages) {
          if (!ranges.includes(page.range))
            assert.ok(rebuilt.pages.includes(page), 'a clean page was replaced')
        }
      }),
    )
  })
})

describe('page ranges', () => {
  const ranges = fc
    .integer({ min: 0, max: 16 })
    .chain((depth) => fc.nat(2 ** depth - 1).map((index): PageRange => ({ depth, index })))

  it('cover the hashes that begin with them', () => {
    fc.assert(
      fc.property(ranges, ranges, fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), (a, b, hi) => {
        const inA = topBits(hi, a.depth) === a.index
        const inB = topBits(hi, b.depth) === b.index
        if (inA && inB) assert.ok(overlaps(a, b))
        const shorter = a.depth < b.depth ? a : b
        const longer = a.depth < b.depth ? b : a
        const begin = (longer.index * 2 ** (32 - longer.depth)) | 0
        assert.equal(overlaps(a, b), topBits(begin, shorter.depth) === shorter.index)
      }),
    )
  })

  it('are named when they do not tile', () => {
    const half = { depth: 1, index: 0 }
    const quarter = { depth: 2, index: 2 }
    assert.equal(tilingFault([half, quarter, { depth: 2, index: 3 }]), undefined)
    assert.equal(tilingFault([half, quarter]), 'the last page is missing')
    assert.equal(tilingFault([half, { depth: 2, index: 3 }]), 'no page before 3/4')
    assert.equal(tilingFault([{ depth: 0, index: 0 }, quarter]), 'two pages at 2/4')
  })
})
