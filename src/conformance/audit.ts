import assert from 'node:assert/strict'
import { boundAt, DAY_MS, entryId } from '../guards/audit/entry-id.js'
import { type AuditStore, MAX_APPENDED, type StoredEntry } from '../guards/audit/port.js'
import { suite } from './suite.js'
import { NOW, parallel } from './support.js'

const KEEPING = { retentionMs: 90 * DAY_MS, now: NOW }
const END = boundAt(NOW + DAY_MS)
const START = boundAt(NOW - 1000 * DAY_MS)

let made = 0
const entry = (at: number, note = '', process = '0000000a'): StoredEntry => ({
  id: entryId(at, ++made, process),
  text: JSON.stringify({ note }),
})

/** All entries, read page by page. */
async function readAll(store: AuditStore, limit = 7, from = START, below = END): Promise<StoredEntry[]> {
  const found: StoredEntry[] = []
  let position: string | undefined = below
  while (position !== undefined) {
    const part = await store.read(position, from, limit)
    assert.ok(part.entries.length <= limit, `${part.entries.length} of at most ${limit}`)
    found.push(...part.entries)
    assert.ok(part.next === undefined || part.next < position, 'every part gets further')
    position = part.next
  }
  return found
}

const newestFirst = (entries: readonly StoredEntry[]): StoredEntry[] =>
  [...entries].sort((a, b) => (a.id < b.id ? 1 : -1))

export const auditSuite = suite<AuditStore>(
  'audit trail',
  {
    async 'what one instance adds the other one reads, the newest first'({ one, two }) {
      assert.deepEqual(await readAll(two), [])
      const first = entry(NOW, 'first')
      await one.append([first], KEEPING)
      const [second, third] = [entry(NOW + 1, 'ação "∿"'), entry(NOW + 2)]
      await two.append([third, second], KEEPING)
      assert.deepEqual(await readAll(two), [third, second, first])
      assert.deepEqual(await readAll(one), [third, second, first])
    },

    async 'entries of one millisecond have one order, and none is lost at the end of a page'({ one, two }) {
      const entries = Array.from({ length: 60 }, (_, i) =>
        entry(NOW, `${i}`, i % 2 ? '0000000b' : 'ffffffff'),
      )
      for (let i = 0; i < 60; i += 20) await one.append(entries.slice(i, i + 20), KEEPING)
      for (const limit of [1, 7, 59, 60, 61]) {
        assert.deepEqual(await readAll(two, limit), newestFirst(entries), `pages of ${limit}`)
      }
    },

    async 'bounds of time: from then on, and before then'({ one, two }) {
      const entries = [0, 1, 2, 3].map((i) => entry(NOW + i))
      await one.append(entries, KEEPING)
      const between = await readAll(two, 10, boundAt(NOW + 1), boundAt(NOW + 3))
      assert.deepEqual(between, [entries[2], entries[1]])
      assert.deepEqual(await readAll(two, 10, boundAt(NOW + 4)), [])
    },

    async 'days far apart are read to the end, and past empty ones'({ one, two }) {
      const ages = [0, 1, 2, 31, 32, 33, 89, 200, 365]
      const entries = ages.map((days) => entry(NOW - days * DAY_MS))
      // Entries at the first and the last moment of a day.
      entries.push(entry(NOW - 5 * DAY_MS - 1), entry(NOW - 40 * DAY_MS + DAY_MS - 1))
      await one.append(entries, { ...KEEPING, retentionMs: 1000 * DAY_MS })
      assert.deepEqual(await readAll(two, 4), newestFirst(entries))
      const young = entries.filter(({ id }) => id >= boundAt(NOW - 40 * DAY_MS))
      assert.deepEqual(await readAll(two, 4, boundAt(NOW - 40 * DAY_MS)), newestFirst(young))
    },

    async 'an entry that is added again is there once'({ one, two }) {
      const [a, b] = [entry(NOW), entry(NOW + 1)]
      await one.append([a, b], KEEPING)
      await two.append([a, b], KEEPING)
      assert.deepEqual(await readAll(one), [b, a])
    },

    async 'as many as may be added at once, and large ones'({ one, two }) {
      const many = Array.from({ length: MAX_APPENDED }, (_, i) => entry(NOW + i))
      await one.append(many, KEEPING)
      assert.deepEqual(await readAll(two, 500), newestFirst(many))
      const large = Array.from({ length: 120 }, () => entry(NOW - DAY_MS, 'x'.repeat(16_000)))
      await two.append(large, KEEPING)
      const found = await readAll(one, 100, START, boundAt(NOW))
      assert.deepEqual(found, newestFirst(large))
    },

    async 'a sweep drops nothing that is to be kept'({ one, two }) {
      const old = [100, 99, 61].map((days) => entry(NOW - days * DAY_MS))
      const kept = [59, 30, 0].map((days) => entry(NOW - days * DAY_MS))
      await one.append([...old, ...kept], { ...KEEPING, retentionMs: 1000 * DAY_MS })
      const before = NOW - 60 * DAY_MS
      while ((await two.sweep(before)).more);
      assert.deepEqual(await readAll(one, 10, boundAt(before)), newestFirst(kept))
      const left = (await readAll(one, 10)).slice(kept.length)
      assert.ok(left.length === 0 || left.length === old.length, 'swept, or left to expire')
      const late = entry(NOW)
      await two.append([late], KEEPING)
      assert.equal((await readAll(one, 10, boundAt(before))).length, kept.length + 1)
    },
  },
  {
    async 'added at the same time: nothing is lost, and all readers see one order'(pair) {
      const entries = Array.from({ length: 40 }, (_, i) => [
        entry(NOW + (i % 5), `${i}`, i % 2 ? '0000000b' : '0000000a'),
        entry(NOW + (i % 3) - 1, `${i}`, i % 2 ? '0000000b' : '0000000a'),
      ])
      await parallel(pair, 40, (store, i) => store.append(entries[i]!, KEEPING))
      const expected = newestFirst(entries.flat())
      assert.deepEqual(await readAll(pair.one, 9), expected)
      assert.deepEqual(await readAll(pair.two, 500), expected)
    },

    async 'who pages while others add sees all that was there, once and in order'(pair) {
      const before = Array.from({ length: 50 }, (_, i) => entry(NOW + i))
      await pair.one.append(before, KEEPING)
      const added: StoredEntry[] = []
      const adding = (async () => {
        for (let i = 0; i < 20; i++) {
          const batch = [entry(NOW + 60 + i), entry(NOW + i)]
          await (i % 2 ? pair.one : pair.two).append(batch, KEEPING)
          added.push(...batch)
        }
      })()
      const found = await readAll(pair.two, 3)
      await adding
      assert.deepEqual(found, newestFirst(found))
      assert.equal(new Set(found.map(({ id }) => id)).size, found.length)
      const ids = new Set(found.map(({ id }) => id))
      for (const { id } of before) assert.ok(ids.has(id), id)
      assert.deepEqual(await readAll(pair.one, 11), newestFirst([...before, ...added]))
    },
  },
)
