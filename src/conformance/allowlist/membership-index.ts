import assert from 'node:assert/strict'
import type { ListRef } from '../../guards/allowlist/changes/port.js'
import { readCustomerKey } from '../../guards/allowlist/customer-key.js'
import type { Manifest } from '../../guards/allowlist/membership/port.js'
import type { AllowlistEngine } from '../../guards/allowlist/port.js'
import { suite } from '../suite.js'
import { addAll, customers, NOW, newFixa, parallel, sweepAll } from '../support.js'

const LEASE_MS = 1000

const manifest = ({ incarnation }: ListRef, version: string, ...names: string[]): Manifest => ({
  format: 2,
  version,
  incarnation,
  position: [{ sequence: 1, mark: 7 }],
  fingerprintBits: 16,
  key: '01'.repeat(16),
  customers: 1,
  sizeBytes: 3,
  builtAt: NOW,
  tookMs: 1,
  rebuiltPages: 1,
  pages: names.map((name) => ({ name, range: { depth: 0, index: 0 }, count: 1, checksum: 1, sizeBytes: 3 })),
})

const page = Uint8Array.of(1, 2, 3)

async function built(
  engine: AllowlistEngine,
  list: ListRef,
  version: string,
  ...names: string[]
): Promise<boolean> {
  assert.equal(await engine.index.claim(list, version, LEASE_MS, NOW), true)
  for (const name of names) assert.equal(await engine.index.putPage(list, version, name, page), true)
  return engine.index.publish(list, version, manifest(list, version, ...names))
}

export const indexSuite = suite<AllowlistEngine>(
  'allowlist index',
  {
    async 'what is published is read back, by both instances'({ one, two }) {
      const list = await newFixa(one, 'a')
      assert.equal(await one.index.manifest(list), undefined)
      assert.equal(await built(one, list, 'v1', 'p1', 'p2'), true)
      assert.deepEqual(await two.index.manifest(list), manifest(list, 'v1', 'p1', 'p2'))
      assert.equal(await two.index.version(list), 'v1')
      assert.deepEqual(Uint8Array.from((await two.index.page(list, 'p2'))!), page)
      assert.equal(await two.index.page(list, 'p3'), undefined)
    },

    async 'a page of the largest size is kept'({ one }) {
      const list = await newFixa(one, 'a')
      const large = new Uint8Array(400_000).map((_, i) => i * 7)
      await one.index.claim(list, 'x', LEASE_MS, NOW)
      await one.index.putPage(list, 'x', 'large', large)
      assert.deepEqual(Uint8Array.from((await one.index.page(list, 'large'))!), large)
    },

    async 'publishing drops the pages that are no longer named, of this list only'({ one }) {
      const list = await newFixa(one, 'a')
      const other = await newFixa(one, 'b')
      await built(one, other, 'w1', 'p1')
      await built(one, list, 'v1', 'p1', 'p2')
      await one.index.claim(list, 'v2', LEASE_MS, NOW)
      for (const name of ['p3', 'litter']) await one.index.putPage(list, 'v2', name, page)
      assert.equal(await one.index.publish(list, 'v2', manifest(list, 'v2', 'p2', 'p3')), true)
      assert.equal(await one.index.page(list, 'p1'), undefined)
      assert.equal(await one.index.page(list, 'litter'), undefined)
      assert.ok(await one.index.page(list, 'p2'))
      assert.ok(await one.index.page(other, 'p1'))
    },

    async 'only the builder publishes'({ one, two }) {
      const list = await newFixa(one, 'a')
      assert.equal(await one.index.publish(list, 'nobody', manifest(list, 'v0')), false)
      assert.equal(await one.index.claim(list, 'x', LEASE_MS, NOW), true)
      assert.equal(await two.index.claim(list, 'y', LEASE_MS, NOW + 999), false)
      assert.equal(await one.index.builder(list, NOW + 999), 'x')
      assert.equal(await one.index.renew(list, 'x', LEASE_MS, NOW + 999), true)
      assert.equal(await two.index.renew(list, 'y', LEASE_MS, NOW + 999), false)
      assert.equal(await two.index.claim(list, 'y', LEASE_MS, NOW + 1500), false)
      assert.equal(await two.index.claim(list, 'y', LEASE_MS, NOW + 2000), true)
      assert.equal(await one.index.publish(list, 'x', manifest(list, 'v1')), false)
      assert.equal(await one.index.renew(list, 'x', LEASE_MS, NOW + 2000), false)
      assert.equal(await one.index.putPage(list, 'x', 'late', page), false)
      assert.equal(await one.index.page(list, 'late'), undefined)
      assert.equal(await two.index.publish(list, 'y', manifest(list, 'v1')), true)
      assert.equal(await one.index.builder(list, NOW + 2000), undefined)
    },

    async 'a build that is given up, or dies, leaves the old snapshot and no litter'({ one, two }) {
      const list = await newFixa(one, 'a')
      await built(one, list, 'v1', 'p1')
      await one.index.claim(list, 'x', LEASE_MS, NOW)
      await one.index.putPage(list, 'x', 'x1', page)
      await one.index.abandon(list, 'x')
      assert.equal(await two.index.page(list, 'x1'), undefined)
      await one.index.claim(list, 'y', LEASE_MS, NOW)
      await one.index.putPage(list, 'y', 'y1', page)
      await sweepAll(two, NOW + LEASE_MS - 1)
      assert.ok(await two.index.page(list, 'y1'))
      await sweepAll(two, NOW + LEASE_MS)
      assert.equal(await two.index.page(list, 'y1'), undefined)
      assert.equal(await two.index.version(list), 'v1')
      assert.ok(await two.index.page(list, 'p1'))
    },

    async 'a snapshot whose pages are not all there is not published'({ one }) {
      const list = await newFixa(one, 'a')
      await built(one, list, 'v1', 'p1')
      await one.index.claim(list, 'x', LEASE_MS, NOW)
      await one.index.putPage(list, 'x', 'x1', page)
      assert.equal(await one.index.publish(list, 'x', manifest(list, 'v2', 'x1', 'x2')), false)
      assert.equal(await one.index.version(list), 'v1')
    },

    async 'a new builder finds nothing of one that died, whose claim does not come back'({ one, two }) {
      const list = await newFixa(one, 'a')
      await one.index.claim(list, 'x', LEASE_MS, NOW)
      await one.index.putPage(list, 'x', 'x1', page)
      await two.index.claim(list, 'y', LEASE_MS, NOW + LEASE_MS)
      assert.equal(await two.index.page(list, 'x1'), undefined)
      assert.equal(await one.index.renew(list, 'x', LEASE_MS, NOW + LEASE_MS), false)
    },

    async 'a list that is deleted while its index is built keeps no page of it'({ one }) {
      const list = await newFixa(one, 'a')
      await one.index.claim(list, 'x', LEASE_MS, NOW)
      await one.index.putPage(list, 'x', 'x1', page)
      await one.lists.delete('a', NOW)
      assert.equal(await one.index.putPage(list, 'x', 'x2', page), false)
      await sweepAll(one)
      assert.equal(await one.index.putPage(list, 'x', 'x3', page), false)
      for (const name of ['x1', 'x2', 'x3']) assert.equal(await one.index.page(list, name), undefined)
    },

    async 'a scan finds every member once'({ one }) {
      const list = await newFixa(one, 'a')
      await newFixa(one, 'b')
      await addAll(one, 'a', customers(0, 500))
      await addAll(one, 'b', customers(500, 510))
      const found: string[] = []
      for await (const { bytes, ends, count } of one.index.scan(list)) {
        for (let i = 0, start = 0; i < count; start = ends[i++]!)
          found.push(readCustomerKey(bytes, start, ends[i]!))
      }
      assert.deepEqual(found.toSorted(), customers(0, 500).toSorted())
    },

    async 'a deleted list leaves no index, and no claim on one'({ one }) {
      const list = await newFixa(one, 'a')
      await built(one, list, 'v1', 'p1')
      await one.index.countUses(new Map([['a', 5]]))
      await one.lists.delete('a', NOW)
      assert.equal(await one.index.claim(list, 'x', LEASE_MS, NOW), false)
      await sweepAll(one)
      assert.equal(await one.index.manifest(list), undefined)
      assert.equal(await one.index.page(list, 'p1'), undefined)
      assert.deepEqual(await one.index.mostUsed(10), [])
    },

    async 'counts of use add up'({ one, two }) {
      for (const id of ['a', 'b', 'c']) await newFixa(one, id)
      await one.index.countUses(new Map(Object.entries({ a: 5, b: 7, gone: 100 })))
      await two.index.countUses(new Map(Object.entries({ a: 4, c: 1 })))
      assert.deepEqual(await one.index.mostUsed(2), ['a', 'b'])
      assert.deepEqual(await two.index.mostUsed(10), ['a', 'b', 'c'])
    },
  },
  {
    async 'of many who want to build exactly one may'(pair) {
      const list = await newFixa(pair.one, 'a')
      const claimed = await parallel(pair, 12, (engine, i) =>
        engine.index.claim(list, `owner-${i}`, LEASE_MS, NOW),
      )
      assert.equal(claimed.filter(Boolean).length, 1)
    },

    async 'counts of use are not lost among many writers'(pair) {
      await newFixa(pair.one, 'a')
      await newFixa(pair.one, 'b')
      await pair.one.index.countUses(new Map([['b', 19]]))
      await parallel(pair, 20, (engine) => engine.index.countUses(new Map([['a', 1]])))
      assert.deepEqual(await pair.two.index.mostUsed(1), ['a'])
    },
  },
)
