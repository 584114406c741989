import assert from 'node:assert/strict'
import type {
  AllowlistEngine,
  BeginOutcome,
  ImportCheckpoint,
  ImportRequest,
  ImportSession,
  ReplaceCounts,
  SortedCustomers,
} from '../../guards/allowlist/port.js'
import type { ImportMode } from '../../guards/allowlist/types.js'
import { suite } from '../suite.js'
import {
  allMembers,
  countOf,
  customer,
  customers,
  holds,
  NOW,
  newFixa,
  parallel,
  sorted,
  sweepAll,
} from '../support.js'

const LEASE_MS = 1000
let owners = 0

const request = (mode: ImportMode, importId = 'i1', listId = 'a'): ImportRequest => ({
  listId,
  importId,
  mode,
  owner: `owner-${++owners}`,
  leaseMs: LEASE_MS,
})

const checkpoint = (rowsAcknowledged: number, added: number, unchanged = 0): ImportCheckpoint => ({
  rowsAcknowledged,
  inputDigest: `digest-${rowsAcknowledged}`,
  added,
  unchanged,
  removed: 0,
  rejected: 0,
  rowsWithExtraCells: 2,
  firstErrors: [],
})

function session(outcome: BeginOutcome): ImportSession {
  assert.ok('session' in outcome, `begun, not ${outcome.outcome}`)
  return outcome.session
}

const begin = async (engine: AllowlistEngine, mode: ImportMode, importId?: string, now = NOW) =>
  session(await engine.bulk.begin(request(mode, importId), now))

const add = (engine: AllowlistEngine, into: ImportSession, run: SortedCustomers, now = NOW) =>
  engine.bulk.add(into, run, 0, run.count, (added, unchanged) => checkpoint(run.count, added, unchanged), now)

/** The checkpoint of a replace of this many rows. */
const replaced =
  (rows: number) =>
  (counts: ReplaceCounts): ImportCheckpoint => ({ ...checkpoint(rows, 0), ...counts })

async function* runsOf(...runs: SortedCustomers[]): AsyncGenerator<SortedCustomers> {
  yield* runs
}

const replace = (engine: AllowlistEngine, into: ImportSession, ...runs: SortedCustomers[]) =>
  engine.bulk.replace(into, runsOf(...runs), replaced(7), () => NOW)

const finish = (engine: AllowlistEngine, of: ImportSession, state: 'completed' | 'failed' = 'completed') =>
  engine.bulk.finish(of, checkpoint(0, 0), state, undefined, NOW)

async function filled(engine: AllowlistEngine, from: number, to: number): Promise<void> {
  await newFixa(engine, 'a')
  await add(engine, await begin(engine, 'add', 'fill'), sorted(customers(from, to)))
}

async function exactly(engine: AllowlistEngine, ids: string[]): Promise<void> {
  assert.deepEqual((await allMembers(engine, 'a', 1000)).toSorted(), ids.toSorted())
  assert.equal(await countOf(engine, 'a'), ids.length)
}

export const bulkSuite = suite<AllowlistEngine>(
  'allowlist bulk',
  {
    async 'a batch adds what is new and counts what is not'({ one, two }) {
      await newFixa(one, 'a')
      await one.members.add('a', customer(3), { addedBy: 'before' }, NOW - 5)
      const into = await begin(one, 'add')
      const outcome = await add(one, into, sorted(customers(0, 50)))
      assert.deepEqual(outcome, { outcome: 'stored', added: 49, unchanged: 1 })
      const end = await finish(one, into)
      assert.equal(end?.customerCount, 50)
      await exactly(two, customers(0, 50))
      assert.equal((await two.members.get('a', customer(3)))?.addedBy, 'before')
      assert.equal((await two.members.listsOf(customer(7), undefined, 9)).length, 1)
    },

    async 'the imports of a list are told, the latest first'({ one, two }) {
      await newFixa(one, 'a')
      await newFixa(one, 'b')
      assert.deepEqual(await one.bulk.list('a', 10, NOW), [])
      const ids = Array.from({ length: 5 }, (_, i) => `import-${(i * 3) % 5}`)
      for (const [i, importId] of ids.entries()) {
        const into = await begin(one, 'add', importId, NOW + i)
        await add(one, into, sorted([customer(i)]), NOW + i)
        await one.bulk.finish(into, checkpoint(1, 1), 'completed', undefined, NOW + i)
      }
      await one.bulk.begin({ ...request('remove', 'other', 'b') }, NOW)
      const listed = await two.bulk.list('a', 3, NOW + 9)
      assert.deepEqual(
        listed.map(({ importId }) => importId),
        ids.toReversed().slice(0, 3),
      )
      assert.deepEqual(listed[0], await two.bulk.status('a', listed[0]!.importId, NOW + 9))
      const [other] = await two.bulk.list('b', 3, NOW + LEASE_MS)
      assert.deepEqual([other?.mode, other?.state], ['remove', 'interrupted'])
      assert.deepEqual(await one.bulk.list('none', 3, NOW), [])
    },

    async 'an import that removes goes on where it stopped, and keeps what it counted'({ one, two }) {
      await filled(one, 0, 10)
      const first = await begin(one, 'remove')
      const counted = { ...checkpoint(4, 0, 1), removed: 3 }
      assert.ok(await one.bulk.renew(first, counted, NOW))
      const other = await two.bulk.begin(request('add'), NOW + LEASE_MS)
      assert.equal(other.outcome, 'other-mode')
      const second = await two.bulk.begin(request('remove'), NOW + LEASE_MS)
      assert.equal(second.outcome, 'resumed')
      const { removed, rowsAcknowledged } = (second as { record: ImportCheckpoint }).record
      assert.deepEqual([removed, rowsAcknowledged], [3, 4])
      assert.equal(await one.bulk.renew(first, counted, NOW + LEASE_MS), false)
    },

    async 'rows that say attributes set them, bare rows leave them'({ one }) {
      await newFixa(one, 'a')
      const given = {
        [customer(1)]: { addedBy: 'x', expiresAt: NOW + 50 },
        [customer(2)]: { metadata: { a: 1 } },
      }
      await add(one, await begin(one, 'add'), sorted([customer(1), customer(2)], given))
      await add(one, await begin(one, 'add', 'i2'), sorted([customer(1), customer(2)]))
      assert.deepEqual(await one.members.get('a', customer(1)), {
        customerId: customer(1),
        addedAt: NOW,
        addedBy: 'x',
        expiresAt: NOW + 50,
      })
      await add(
        one,
        await begin(one, 'add', 'i3'),
        sorted([customer(1)], { [customer(1)]: { addedBy: 'y' } }),
        NOW + 1,
      )
      assert.deepEqual(await one.members.get('a', customer(1)), {
        customerId: customer(1),
        addedAt: NOW,
        addedBy: 'y',
      })
      await sweepAll(one, NOW + 100)
      await exactly(one, [customer(1), customer(2)])
    },

    async 'an expired member in a batch is added anew'({ one }) {
      await newFixa(one, 'a')
      await one.members.add('a', customer(1), { expiresAt: NOW - 1 }, NOW - 5)
      const outcome = await add(one, await begin(one, 'add'), sorted([customer(1)]))
      assert.deepEqual(outcome, { outcome: 'stored', added: 1, unchanged: 0 })
      await sweepAll(one)
      await exactly(one, [customer(1)])
    },

    async 'the record tells how far an import is, also to the other instance'({ one, two }) {
      await newFixa(one, 'a')
      assert.equal(await one.bulk.status('a', 'i1', NOW), undefined)
      const into = await begin(one, 'add')
      await add(one, into, sorted(customers(0, 5)))
      const record = await two.bulk.status('a', 'i1', NOW)
      assert.equal(record?.state, 'running')
      assert.equal(record?.rowsAcknowledged, 5)
      assert.equal(record?.inputDigest, 'digest-5')
      assert.equal(record?.rowsWithExtraCells, 2)
      assert.equal((await two.bulk.status('a', 'i1', NOW + LEASE_MS))?.state, 'interrupted')
      await finish(one, into)
      assert.equal((await two.bulk.status('a', 'i1', NOW))?.state, 'completed')
    },

    async 'an import that lives is not taken over, a dead one goes on where it was'({ one, two }) {
      await newFixa(one, 'a')
      const first = await begin(one, 'add')
      await add(one, first, sorted(customers(0, 5)))
      assert.equal((await two.bulk.begin(request('add'), NOW)).outcome, 'import-running')
      assert.equal(await one.bulk.renew(first, undefined, NOW + 900), true)
      assert.equal((await two.bulk.begin(request('add'), NOW + 1500)).outcome, 'import-running')
      const second = await two.bulk.begin(request('add'), NOW + 1900)
      assert.equal(second.outcome, 'resumed')
      assert.equal((second as { record: { rowsAcknowledged: number } }).record.rowsAcknowledged, 5)
      assert.deepEqual(await add(one, first, sorted(customers(5, 9))), { outcome: 'lost' })
      assert.equal(await one.bulk.renew(first, undefined, NOW), false)
      await exactly(one, customers(0, 5))
    },

    async 'a finished import is not done again, nor in another mode'({ one, two }) {
      await newFixa(one, 'a')
      await finish(one, await begin(one, 'add'))
      assert.equal((await two.bulk.begin(request('add'), NOW)).outcome, 'completed')
      assert.equal((await two.bulk.begin(request('replace'), NOW)).outcome, 'other-mode')
      assert.equal((await two.bulk.begin(request('add', 'x', 'none'), NOW)).outcome, 'list-not-found')
    },

    async 'a replace leaves exactly the new customers'({ one, two }) {
      await filled(one, 0, 60)
      const into = await begin(one, 'replace')
      const outcome = await replace(one, into, sorted(customers(40, 90)))
      assert.deepEqual(outcome, { outcome: 'replaced', added: 30, unchanged: 20, removed: 40 })
      // Also true if the process dies at this point.
      const record = await two.bulk.status('a', 'i1', NOW)
      assert.deepEqual([record?.state, record?.rowsAcknowledged, record?.removed], ['completed', 7, 40])
      const end = await finish(one, into)
      assert.equal(end?.customerCount, 50)
      await exactly(two, customers(40, 90))
      await sweepAll(two)
      await exactly(one, customers(40, 90))
      assert.deepEqual(await one.members.listsOf(customer(1), undefined, 9), [])
      assert.equal((await one.members.listsOf(customer(50), undefined, 9)).length, 1)
    },

    async 'replaces by nothing, of nothing, and again'({ one }) {
      await filled(one, 0, 10)
      for (const [i, ids] of [[], customers(0, 10), customers(5, 15), customers(5, 15), []].entries()) {
        const into = await begin(one, 'replace', `r${i}`)
        await replace(one, into, sorted(ids))
        await finish(one, into)
        await exactly(one, ids)
      }
      await sweepAll(one)
      await exactly(one, [])
    },

    async 'many runs replace as one'({ one }) {
      await filled(one, 0, 300)
      const all = sorted(customers(100, 400))
      const part = (from: number, to: number): SortedCustomers => ({
        ...all,
        count: to - from,
        start: (i) => all.start(from + i),
        end: (i) => all.end(from + i),
      })
      const into = await begin(one, 'replace')
      await replace(one, into, part(0, 7), part(7, 150), part(150, 300))
      await finish(one, into)
      await exactly(one, customers(100, 400))
    },

    async 'nothing of a replace is seen before its switch'({ one, two }) {
      await filled(one, 0, 20)
      const into = await begin(one, 'replace')
      let looked = 0
      async function* slowly(): AsyncGenerator<SortedCustomers> {
        const all = sorted(customers(10, 30))
        for (let i = 0; i < all.count; i++) {
          yield { ...all, count: 1, start: () => all.start(i), end: () => all.end(i) }
          await exactly(two, customers(0, 20))
          looked++
        }
      }
      await one.bulk.replace(into, slowly(), replaced(7), () => NOW)
      assert.equal(looked, 20)
      await exactly(two, customers(10, 30))
    },

    async 'attributes of a replace show only after its switch'({ one, two }) {
      await newFixa(one, 'a')
      await one.members.add('a', customer(1), { addedBy: 'old', expiresAt: NOW + 100 }, NOW)
      const into = await begin(one, 'replace')
      async function* run(): AsyncGenerator<SortedCustomers> {
        yield sorted([customer(1)], { [customer(1)]: { addedBy: 'new', expiresAt: NOW + 200 } })
        assert.equal((await two.members.get('a', customer(1)))?.expiresAt, NOW + 100)
      }
      await one.bulk.replace(into, run(), replaced(7), () => NOW)
      await finish(one, into)
      const after = { customerId: customer(1), addedAt: NOW, addedBy: 'new', expiresAt: NOW + 200 }
      assert.deepEqual(await two.members.get('a', customer(1)), after)
      await sweepAll(one, NOW + 150)
      assert.deepEqual(await two.members.get('a', customer(1)), after)
      await sweepAll(one, NOW + 201)
      await exactly(one, [])
    },

    async 'attributes of an earlier replace stay until the switch of the next'({ one, two }) {
      await filled(one, 1, 2)
      const id = customer(1)
      const by = (addedBy: string) => sorted([id], { [id]: { addedBy } })
      await replace(one, await begin(one, 'replace', 'r1'), by('first'))
      const into = await begin(one, 'replace', 'r2')
      const seen: (string | undefined)[] = []
      async function* run() {
        yield by('second')
        // Applied by now, and nothing has swept the rows of the first replace.
        seen.push((await two.members.get('a', id))?.addedBy)
      }
      await one.bulk.replace(into, run(), replaced(7), () => NOW)
      seen.push((await two.members.get('a', id))?.addedBy)
      assert.deepEqual(seen, ['first', 'second'])
    },

    async 'changes by hand during a replace win over the file'({ one, two }) {
      await filled(one, 0, 10)
      const into = await begin(one, 'replace')
      await two.members.add('a', 'by-hand-before', {}, NOW)
      await two.members.remove('a', customer(8), NOW)
      await two.members.add('a', customer(0), { addedBy: 'hand' }, NOW)
      async function* run(): AsyncGenerator<SortedCustomers> {
        yield sorted(customers(5, 15))
        await two.members.add('a', 'by-hand-after', {}, NOW)
        await two.members.remove('a', customer(12), NOW)
        await exactly(two, [...customers(0, 8), customer(9), 'by-hand-before', 'by-hand-after'])
      }
      await one.bulk.replace(into, run(), replaced(7), () => NOW)
      await finish(one, into)
      const expected = [customer(0), ...customers(5, 15), 'by-hand-before', 'by-hand-after'].filter(
        (id) => id !== customer(8) && id !== customer(12),
      )
      await exactly(two, expected)
      await sweepAll(one)
      await exactly(two, expected)
    },

    async 'customers of an import that runs beside a replace stay'({ one, two }) {
      await filled(one, 0, 10)
      const into = await begin(one, 'replace')
      await add(two, await begin(two, 'add', 'beside-1'), sorted(customers(0, 2)))
      async function* run(): AsyncGenerator<SortedCustomers> {
        yield sorted(customers(5, 15))
        await add(two, await begin(two, 'add', 'beside-2'), sorted([...customers(2, 4), customer(7), 'new']))
      }
      await one.bulk.replace(into, run(), replaced(7), () => NOW)
      await finish(one, into)
      const expected = [...customers(0, 4), ...customers(5, 15), 'new']
      await exactly(two, expected)
      await sweepAll(one)
      await exactly(two, expected)
    },

    async 'a replace that fails leaves the list as it was'({ one, two }) {
      await filled(one, 0, 20)
      const into = await begin(one, 'replace')
      async function* broken(): AsyncGenerator<SortedCustomers> {
        yield sorted(customers(10, 30), { [customer(15)]: { addedBy: 'new' } })
        throw new Error('input broke')
      }
      await assert.rejects(
        one.bulk.replace(into, broken(), replaced(7), () => NOW),
        /input broke/,
      )
      await two.members.add('a', 'since', {}, NOW)
      await finish(one, into, 'failed')
      await exactly(two, [...customers(0, 20), 'since'])
      const next = await begin(two, 'replace', 'i2')
      await replace(two, next, sorted(customers(3, 5)))
      await finish(two, next)
      await sweepAll(one)
      await exactly(one, customers(3, 5))
      assert.equal((await one.members.get('a', customer(3)))?.addedBy, undefined)
    },

    async 'a second replace is refused while the first lives, and takes over when it is dead'({ one, two }) {
      await filled(one, 0, 20)
      const first = await begin(one, 'replace', 'r1')
      assert.equal((await two.bulk.begin(request('replace', 'r2'), NOW)).outcome, 'replace-running')
      const second = session(await two.bulk.begin(request('replace', 'r2'), NOW + LEASE_MS))
      assert.deepEqual(await replace(one, first, sorted(customers(0, 1))), { outcome: 'lost' })
      await replace(two, second, sorted(customers(10, 30)))
      await finish(two, second)
      await exactly(one, customers(10, 30))
    },

    async 'a replace whose process died is undone by the sweep'({ one, two }) {
      await filled(one, 0, 20)
      // On a slow machine, an engine renews the lease while it writes: by a minute at most.
      const dead = NOW + LEASE_MS + 60_000
      const into = await begin(one, 'replace')
      async function* dies(): AsyncGenerator<SortedCustomers> {
        yield sorted(customers(10, 40))
        throw new Error('died')
      }
      await assert.rejects(one.bulk.replace(into, dies(), replaced(7), () => NOW))
      await sweepAll(two, dead)
      await exactly(two, customers(0, 20))
      const next = session(await two.bulk.begin(request('replace', 'i2'), dead))
      await replace(two, next, sorted(customers(0, 20)))
      await exactly(one, customers(0, 20))
    },

    async 'an import into a list that was deleted stops, also when its id lives again'({ one, two }) {
      await newFixa(one, 'a')
      const into = await begin(one, 'add')
      await two.lists.delete('a', NOW)
      assert.deepEqual(await add(one, into, sorted(customers(0, 5))), { outcome: 'list-not-found' })
      await sweepAll(two)
      await newFixa(two, 'a')
      assert.deepEqual(await add(one, into, sorted(customers(0, 5))), { outcome: 'list-not-found' })
      assert.equal(await finish(one, into), undefined)
      await exactly(two, [])
      assert.equal(await two.bulk.status('a', 'i1', NOW), undefined)
    },
  },
  {
    async 'of many begins of one import exactly one begins'(pair) {
      await newFixa(pair.one, 'a')
      const outcomes = await parallel(pair, 12, (engine) => engine.bulk.begin(request('add'), NOW))
      assert.equal(outcomes.filter(({ outcome }) => outcome === 'begun').length, 1)
    },

    async 'of many replaces exactly one begins'(pair) {
      await newFixa(pair.one, 'a')
      const outcomes = await parallel(pair, 12, (engine, i) =>
        engine.bulk.begin(request('replace', `r${i}`), NOW),
      )
      assert.equal(outcomes.filter(({ outcome }) => outcome === 'begun').length, 1)
    },

    async 'imports of the same customers count each once'(pair) {
      await newFixa(pair.one, 'a')
      const added = await parallel(pair, 6, async (engine, i) => {
        const into = await begin(engine, 'add', `i${i}`)
        let sum = 0
        for (let from = 0; from < 200; from += 50) {
          const outcome = await add(engine, into, sorted(customers(from, from + 80)))
          assert.ok(outcome.outcome === 'stored')
          sum += outcome.added
        }
        return sum
      })
      assert.equal(
        added.reduce((a, b) => a + b),
        230,
      )
      await exactly(pair.two, customers(0, 230))
    },

    async 'counts stay exact when a replace, adds and removals run together'(pair) {
      await filled(pair.one, 0, 200)
      const into = await begin(pair.one, 'replace')
      const all = sorted(customers(100, 300))
      async function* piecemeal(): AsyncGenerator<SortedCustomers> {
        for (let i = 0; i < all.count; i += 10) {
          yield { ...all, count: 10, start: (j) => all.start(i + j), end: (j) => all.end(i + j) }
        }
      }
      await Promise.all([
        pair.one.bulk.replace(into, piecemeal(), replaced(7), () => NOW),
        ...Array.from({ length: 120 }, (_, i) =>
          i % 2 === 0
            ? pair.two.members.add('a', customer(i * 3), {}, NOW)
            : pair.two.members.remove('a', customer(i * 3), NOW),
        ),
      ])
      await finish(pair.one, into)
      const members = await allMembers(pair.two, 'a', 1000)
      assert.equal(new Set(members).size, members.length)
      assert.equal(await countOf(pair.two, 'a'), members.length)
      await sweepAll(pair.two)
      assert.deepEqual(await allMembers(pair.one, 'a', 1000), members)
      for (const id of members) assert.equal(await holds(pair.two, 'a', id), true)
    },
  },
)
