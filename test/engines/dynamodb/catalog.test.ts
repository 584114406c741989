import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { customer, customers, fixa, NOW, newFixa } from '../../../src/conformance/support.js'
import { isPromise } from '../../../src/core/maybe-promise.js'
import { Catalog } from '../../../src/engines/dynamodb/allowlist/catalog.js'
import { DueTasks } from '../../../src/engines/dynamodb/allowlist/due.js'
import { registryKey } from '../../../src/engines/dynamodb/allowlist/items.js'
import { MemberWrites } from '../../../src/engines/dynamodb/allowlist/member-writes.js'
import { encodeRow, newChangeId, written } from '../../../src/engines/dynamodb/allowlist/rows.js'
import { DEFAULT_STORE_SETTINGS, type Store } from '../../../src/engines/dynamodb/allowlist/store.js'
import { CapacityCounts } from '../../../src/engines/dynamodb/client/capacity.js'
import { newWindowedRow } from '../../../src/guards/allowlist/generation-window.js'
import { until } from '../../server/support.js'
import { makeTables } from '../../support/dynamodb-engine.js'
import { startDynamo } from '../../support/dynamodb-server.js'

const server = await startDynamo('dynoxide')
const tables = await makeTables(server)
const engine = await tables.open()
const { lists, members, upkeep } = engine.allowlists
const counter = new CapacityCounts()
const client = server.client({ counter })
const settings = { ...DEFAULT_STORE_SETTINGS, maxCachedLists: 3 }

let nowMs = 0
let catalog: Catalog
let id: string
let made = 0
const reads = () => counter.of('allowlist.meta')

beforeEach(async () => {
  nowMs += 1_000_000
  catalog = new Catalog(client, tables.names.allowlists, settings, () => nowMs)
  ;({ id } = await newFixa(engine.allowlists, `list-${made++}`))
  counter.reset()
})

describe('what checks know of lists', () => {
  it('is read once, consistently, and then known without waiting', async () => {
    const first = catalog.known(id)
    assert.ok(isPromise(first))
    assert.equal(catalog.known(id), first)
    const list = await first
    assert.equal(list?.name, `List ${id}`)
    nowMs += 999
    assert.equal(catalog.known(id), list)
    assert.deepEqual([reads().calls, reads().readUnits], [1, 1])
    assert.deepEqual(catalog.figures(), { size: 1, hits: 1, misses: 2 })
  })

  it('is read again in the background, for half a unit, and stays the same object as long as it says the same', async () => {
    const list = await catalog.known(id)
    await members.add(id, customer(1), {}, NOW)
    nowMs += 1500
    assert.equal(catalog.known(id), list)
    await until('it is read again', () => reads().calls === 2)
    assert.equal(reads().readUnits, 1.5)
    assert.equal(catalog.known(id), list)
    await lists.update(id, { name: 'New' }, NOW)
    nowMs += 1500
    assert.equal(catalog.known(id), list)
    await until('the new name is known', async () => (await catalog.known(id))?.name === 'New')
  })

  it('does not answer when it is stale', async () => {
    await catalog.known(id)
    await lists.update(id, { name: 'New' }, NOW)
    nowMs += 3001
    const again = catalog.known(id)
    assert.ok(isPromise(again))
    assert.equal((await again)?.name, 'New')
  })

  it('remembers for a second that there is no such list', async () => {
    assert.equal(await catalog.known('none'), undefined)
    assert.equal(catalog.known('none'), undefined)
    nowMs += 1001
    assert.ok(isPromise(catalog.known('none')))
  })

  it('has room for so many lists', async () => {
    for (const one of ['a', 'b', 'c', 'd', 'e']) await catalog.known(one)
    assert.equal(catalog.figures().size, 3)
  })

  it('is enough for a write that was made in that state, and not for a later one', async () => {
    const { incarnation } = (await catalog.known(id))!
    assert.ok(!isPromise(catalog.knownSince(id, { incarnation, generation: 0, layout: 0 })))
    assert.ok(isPromise(catalog.knownSince(id, { incarnation, generation: 1, layout: 0 })))
    assert.ok(isPromise(catalog.knownSince(id, { incarnation, generation: 0, layout: 1 })))
    assert.ok(isPromise(catalog.knownSince(id, { incarnation: incarnation + 1, generation: 0, layout: 0 })))
  })

  it('is asked for anew once somebody said that it changed, also if an answer was on its way', async () => {
    const list = await catalog.known(id)
    nowMs += 3001
    const onItsWay = catalog.known(id)
    nowMs++
    catalog.forget(id)
    await onItsWay
    assert.ok(isPromise(catalog.known(id)))
    assert.equal(await catalog.known(id), list)
  })
})

describe('upkeep', () => {
  const task = { at: NOW, parts: ['x'] }
  const due = new DueTasks(client, tables.names.allowlists)

  it('leaves work that it does not know for later, and does the rest', async () => {
    await due.note([{ ...task, kind: 'FROM_THE_FUTURE' }])
    await members.add(id, 'short', { expiresAt: NOW + 1 }, NOW)
    assert.equal((await upkeep.sweep(NOW + 1)).more, false)
    assert.equal((await lists.get(id))?.customerCount, 0)
    const { tasks } = await due.due(NOW + 3_600_001, 50)
    assert.ok(tasks.some(({ kind, at }) => kind === 'FROM_THE_FUTURE' && at === NOW + 3_600_001))
    await due.done(tasks)
  })

  it('finds the expired among all members of a list, and nobody else', async () => {
    for (const one of customers(0, 30)) await members.add(id, one, { expiresAt: NOW + 5000 }, NOW)
    for (const one of customers(30, 40)) await members.add(id, one, { expiresAt: NOW + 9000 }, NOW)
    for (const one of customers(40, 45)) await members.add(id, one, {}, NOW)
    await due.done((await due.due(NOW + 10_000, 50)).tasks)
    await due.note([{ kind: 'EXPIRE_ALL', at: NOW + 5000, parts: [id] }])
    while ((await upkeep.sweep(NOW + 5000)).more);
    assert.equal((await lists.get(id))?.customerCount, 15)
    assert.equal((await members.page(id, undefined, 100))?.members.length, 15)
  })

  it('goes on when one piece of work fails', async () => {
    const broken = { PK: { S: 'ALLOWLIST#broken' }, SK: { S: 'META' }, type: { S: 'WRONG' } }
    await tables.put(broken)
    await due.note([{ kind: 'DELETE', at: NOW, parts: ['broken'] }])
    await lists.delete(id, NOW)
    await assert.rejects(() => upkeep.sweep(NOW), /neither FIXA nor ONDA/)
    assert.equal((await lists.create(fixa(id), NOW)).outcome, 'created')
  })
})

describe('a change of a member', () => {
  const store = {
    client,
    reader: client,
    tables: tables.names,
    catalog: new Catalog(client, tables.names.allowlists, settings),
    settings,
  }
  const writes = new MemberWrites(store as unknown as Store)

  it('is decided again when the row is not what it was taken for', async () => {
    await members.add(id, 'a', { addedBy: 'first' }, NOW)
    const item = await tables.item(`ALLOWLIST#${id}`, 'CUSTOMER#a')
    await members.remove(id, 'a', NOW)
    await members.add(id, 'a', { addedBy: 'second' }, NOW + 5)
    const seen: (string | undefined)[] = []
    const changed = await writes.change('test', {
      listId: id,
      customerId: 'a',
      assume: { item },
      decide: (_, before) => {
        seen.push(before?.addedBy)
        return { ...before!, addedBy: 'third', changeId: newChangeId() }
      },
    })
    assert.deepEqual(seen, ['first', 'second'])
    assert.equal(changed?.before?.addedAt, NOW + 5)
    const { addedAt, addedBy } = (await members.get(id, 'a'))!
    assert.deepEqual([addedAt, addedBy], [NOW + 5, 'third'])
  })

  it('that waits for another of the same customer sees it', async () => {
    const results = await Promise.all([
      members.add(id, 'a', {}, NOW),
      members.remove(id, 'a', NOW),
      members.add(id, 'a', {}, NOW),
      members.add(id, 'a', {}, NOW),
      members.add(id, 'b', {}, NOW),
    ])
    assert.deepEqual(
      results.map(({ outcome }) => outcome),
      ['added', 'removed', 'added', 'replaced', 'added'],
    )
    assert.equal((await lists.get(id))?.customerCount, 2)
  })

  it('of a row that an import put and has not counted yet is noted with its batch', async () => {
    const row = await tables.item(`ALLOWLIST#${id}`, 'META')
    const open = { name: 'n-0-b', importId: 'i', first: 'a', last: 'z' }
    const mark = Object.fromEntries(Object.entries(open).map(([name, S]) => [name, { S }]))
    await tables.put({ ...row, 'importing-n': { M: { ...mark, taken: { N: '0' } } } })
    for (const one of ['a', 'b']) {
      const item = encodeRow(
        { listId: id, partition: `ALLOWLIST#${id}`, customerId: one },
        { ...written(newWindowedRow({}, NOW)), batch: open.name },
      )
      await tables.put(item)
    }
    await members.add(id, 'a', { addedBy: 'x' }, NOW)
    await members.remove(id, 'b', NOW)
    const meta = await tables.item(`ALLOWLIST#${id}`, 'META')
    assert.deepEqual([meta?.customerCount, meta?.['importing-n']?.M?.taken], [{ N: '-1' }, { N: '1' }])
    assert.deepEqual((await tables.item(`ALLOWLIST#${id}`, 'CUSTOMER#a'))?.batch, { S: open.name })
  })
})

describe('names of lists', () => {
  it('that are gone do not show', async () => {
    await tables.put(registryKey('gone'))
    const shown = await lists.page('g', 100)
    assert.ok(!shown.some((list) => list.id === 'gone'))
  })
})
