import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { customers, NOW, newFixa, sweepAll } from '../../../src/conformance/support.js'
import { ManualClock } from '../../../src/core/clock.js'
import {
  type BulkEngine,
  type Death,
  dies,
  holdsExactly,
  importIds,
  isKilled,
  LEASE_MS,
  openWithoutFeed,
  plainTables,
} from '../../support/dynamodb-bulk.js'
import { startDynamo } from '../../support/dynamodb-server.js'

const LATER = NOW + LEASE_MS
const LATE = new ManualClock(LATER)
/** Three batches in two runs. */
const ALL = customers(0, 450)
const listId = 'a'

const server = await startDynamo('dynoxide')

async function opened(): Promise<BulkEngine & { url: Awaited<ReturnType<typeof plainTables>> }> {
  const url = await plainTables(server)
  const engine = await openWithoutFeed(url)
  await newFixa(engine, listId)
  return { ...engine, url }
}

const IMPORT_DEATHS: Death[] = [
  { call: 'updateItem allowlist.import', nth: 2, when: 'after' },
  { call: 'insertItems allowlist.import', nth: 9, when: 'before' },
  { call: 'insertItems allowlist.import', nth: 10, when: 'after' },
  { call: 'transactWrite allowlist.import', nth: 3, when: 'before' },
  { call: 'transactWrite allowlist.import', nth: 3, when: 'after' },
]

describe('an import that is killed', () => {
  for (const death of IMPORT_DEATHS) {
    it(`${death.when} ${death.call} no. ${death.nth} goes on with exact counts`, async () => {
      const engine = await opened()
      await engine.members.add(listId, ALL[5]!, {}, NOW)
      await dies({ url: engine.url, listId, job: { mode: 'add', importId: 'i', ids: ALL }, death })
      const result = await importIds(engine, listId, ALL, { mode: 'add', importId: 'i', clock: LATE })
      assert.deepEqual(
        [result.added, result.unchanged, result.customerCount],
        [ALL.length - 1, 1, ALL.length],
      )
      await holdsExactly(engine, listId, ALL)
    })
  }

  it('and whose members are changed by hand before it goes on', async () => {
    const engine = await opened()
    const death: Death = { call: 'transactWrite allowlist.import', nth: 2, when: 'before' }
    await dies({ url: engine.url, listId, job: { mode: 'add', importId: 'i', ids: ALL }, death })
    const stored = (await engine.members.page(listId, undefined, 1000))!.members.map((one) => one.customerId)
    assert.ok(stored.length >= 100, 'rows of the open batch are there')
    await engine.members.remove(listId, stored[0]!, NOW)
    await engine.members.remove(listId, stored[1]!, NOW)
    await engine.members.add(listId, stored[2]!, { addedBy: 'hand' }, NOW)
    // It was away and has come back: counted by hand, no longer by the batch.
    await engine.members.add(listId, stored[1]!, {}, NOW)
    await importIds(engine, listId, ALL, { mode: 'add', importId: 'i', clock: LATE })
    await holdsExactly(engine, listId, ALL)
    assert.equal((await engine.members.get(listId, stored[2]!))?.addedBy, 'hand')
  })

  it('and never goes on is counted by the sweep', async () => {
    const engine = await opened()
    const death: Death = { call: 'insertItems allowlist.import', nth: 9, when: 'after' }
    await dies({ url: engine.url, listId, job: { mode: 'add', importId: 'i', ids: ALL }, death })
    const stored = (await engine.members.page(listId, undefined, 1000))!.members.map((one) => one.customerId)
    // Of counted batches and of the open one.
    const removed = stored.filter((_, i) => i % 20 === 0)
    for (const customerId of removed) await engine.members.remove(listId, customerId, NOW)
    await sweepAll(engine, LATER)
    await holdsExactly(
      engine,
      listId,
      stored.filter((id) => !removed.includes(id)),
    )
  })
})

const OLD = customers(0, 200)
const NEW = customers(100, 300)

describe('a replace that is killed', () => {
  const deaths: Death[] = [
    { call: 'insertItems allowlist.import', nth: 3, when: 'after' },
    { call: 'putItem allowlist.import', nth: 40, when: 'after' },
    { call: 'transactWrite allowlist.import', nth: 2, when: 'before' },
  ]
  for (const death of deaths) {
    it(`${death.when} ${death.call} no. ${death.nth} has changed nothing, and can be done again`, async () => {
      const engine = await opened()
      await importIds(engine, listId, OLD, { mode: 'add', importId: 'fill' })
      await dies({ url: engine.url, listId, job: { mode: 'replace', importId: 'r', ids: NEW }, death })
      await holdsExactly(engine, listId, OLD)
      await engine.members.add(listId, 'by-hand', {}, NOW)
      await sweepAll(engine, LATER)
      await holdsExactly(engine, listId, [...OLD, 'by-hand'])
      const again = await importIds(engine, listId, NEW, { mode: 'replace', importId: 'r', clock: LATE })
      assert.deepEqual([again.added, again.unchanged, again.removed], [100, 100, 101])
      await holdsExactly(engine, listId, NEW)
      await sweepAll(engine, LATER + LEASE_MS)
      await holdsExactly(engine, listId, NEW)
    })
  }

  it('right behind its switch is done, and the same import says so', async () => {
    const engine = await opened()
    await importIds(engine, listId, OLD, { mode: 'add', importId: 'fill' })
    const death: Death = { call: 'transactWrite allowlist.import', nth: 2, when: 'after' }
    await isKilled({ url: engine.url, listId, job: { mode: 'replace', importId: 'r', ids: NEW }, death })
    await holdsExactly(engine, listId, NEW)
    const again = await importIds(engine, listId, NEW, { mode: 'replace', importId: 'r', clock: LATE })
    assert.deepEqual([again.added, again.unchanged, again.removed], [100, 100, 100])
    await sweepAll(engine, LATER + LEASE_MS)
    await holdsExactly(engine, listId, NEW)
  })
})
