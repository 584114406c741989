import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { addAll, allMembers, customers, NOW, newFixa, sweepAll } from '../../../src/conformance/support.js'
import type { Layout } from '../../../src/engines/dynamodb/allowlist/items.js'
import {
  type BulkEngine,
  type Death,
  dies,
  holdsExactly,
  isKilled,
  openWithoutFeed,
  plainTables,
} from '../../support/dynamodb-bulk.js'
import { startTraffic } from '../../support/dynamodb-reshard.js'
import { type DynamoServer, EMULATORS, startDynamo } from '../../support/dynamodb-server.js'

const listId = 'a'
const HOUR_MS = 3_600_000
/** Traffic goes on all the time, and leaves the processor to the move. */
const PAUSE_MS = 50
const TEN: Layout = { shardCount: 10, giant: false }
const TWENTY: Layout = { shardCount: 20, giant: false }
const GIANT: Layout = { shardCount: 7, giant: true }
const ONE: Layout = { shardCount: 1, giant: false }

async function opened(server: DynamoServer, ids: readonly string[]) {
  const url = await plainTables(server)
  const [one, two] = [await openWithoutFeed(url), await openWithoutFeed(url)]
  await newFixa(one, listId)
  await addAll(one, listId, ids)
  return { url, one, two }
}

/** Customers by partition, as they stand in both tables. */
async function stored({ store }: BulkEngine): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  for (const table of ['allowlists', 'giant'] as const) {
    let start: object | undefined
    do {
      const page = await store.client.scan('test', {
        TableName: store.tables[table],
        ...(start !== undefined && { ExclusiveStartKey: start as never }),
      })
      for (const { PK, SK } of page.items) {
        if (!SK!.S!.startsWith('CUSTOMER#')) continue
        const name = `${table} ${PK!.S!}`
        counts.set(name, (counts.get(name) ?? 0) + 1)
      }
      start = page.next
    } while (start !== undefined)
  }
  return counts
}

const sum = (counts: Map<string, number>): number => [...counts.values()].reduce((a, b) => a + b, 0)
/** Past every lease, and then past the grace that it begins. */
async function sweepEverything(engine: BulkEngine): Promise<void> {
  for (const hours of [1, 2]) await sweepAll(engine, Date.now() + hours * HOUR_MS)
}

const main = await startDynamo('dynoxide')

describe('a list is moved to other shards', () => {
  it('one by one through all layouts, and back, while it serves', async () => {
    const staying = customers(0, 200)
    const changing = customers(200, 240)
    const { one, two } = await opened(main, [...staying, ...changing])
    const traffic = startTraffic([one, two], listId, {
      ...{ staying, changing, writers: 2, checkers: 2, pauseMs: PAUSE_MS },
    })
    for (const to of [TEN, TWENTY, GIANT, ONE]) {
      const phases = new Set<string>()
      const result = await one.work.mover.move(listId, to, {
        onProgress: ({ phase }) => phases.add(phase),
      })
      assert.equal(result.outcome, 'moved')
      assert.deepEqual([...phases], ['copy', 'check', 'clean', 'drop'])
      assert.equal((await two.lists.get(listId))!.shardCount, to.shardCount)
      // The old places still hold everybody; some partitions are of both layouts.
      const seen = (await allMembers(two, listId, 1000)).filter((id) => !changing.includes(id))
      assert.deepEqual(seen.toSorted(), staying.toSorted())
      await sweepEverything(two)
    }
    await traffic.stop()
    assert.ok(traffic.writes > 20 && traffic.checks > 60, `${traffic.writes} ${traffic.checks}`)
    await holdsExactly(two, listId, [...staying, ...traffic.members])
    const counts = await stored(one)
    assert.deepEqual([...counts.keys()], ['allowlists ALLOWLIST#a'], 'nothing is left elsewhere')
    assert.equal(sum(counts), staying.length + traffic.members.size)
  })

  it('with members changed between the moment they are read and the moment they are copied', async () => {
    const ids = customers(0, 60)
    const { two, url } = await opened(main, ids)
    const change = async (): Promise<void> => {
      await two.members.remove(listId, ids[0]!, NOW)
      await two.members.add(listId, ids[1]!, { addedBy: 'hand' }, NOW)
      await two.members.remove(listId, ids[2]!, NOW)
      await two.members.add(listId, ids[2]!, { addedBy: 'again' }, NOW)
    }
    let changed: Promise<void> | undefined
    const one = await openWithoutFeed(url, async (call, run) => {
      if (call === 'insertItems allowlist.move') await (changed ??= change())
      return run()
    })
    const moved = await one.work.mover.move(listId, TEN)
    assert.ok(moved.outcome === 'moved' && moved.state.repaired === 1, 'the copy that came late was found')
    await holdsExactly(two, listId, ids.slice(1))
    assert.equal((await two.members.get(listId, ids[1]!))?.addedBy, 'hand')
    assert.equal((await two.members.get(listId, ids[2]!))?.addedBy, 'again')
  })

  it('with a member that another program puts where the copy has passed', async () => {
    const { two, url } = await opened(main, customers(0, 60))
    const Item = { PK: { S: 'ALLOWLIST#a' }, SK: { S: 'CUSTOMER#foreign' } }
    const one = await openWithoutFeed(url, async (call, run) => {
      const { client, tables } = two.store
      if (call === 'insertItems allowlist.move') {
        await client.putItem('test', { TableName: tables.allowlists, Item })
      }
      return run()
    })
    const moved = await one.work.mover.move(listId, TEN)
    assert.ok(moved.outcome === 'moved' && moved.state.repaired === 1, 'it was found')
    assert.ok(await two.members.get(listId, 'foreign'))
  })

  it('while an import and expiries go on', async () => {
    const { one, two } = await opened(main, customers(0, 300))
    await one.members.add(listId, 'short-lived', { expiresAt: NOW + 10 }, NOW)
    const moving = one.work.mover.move(listId, TEN, { now: () => NOW })
    await addAll(two, listId, customers(200, 500))
    await sweepAll(two, NOW + 11)
    assert.equal((await moving).outcome, 'moved')
    await holdsExactly(two, listId, customers(0, 500))
    await sweepAll(one, NOW + HOUR_MS)
    await holdsExactly(one, listId, customers(0, 500))
    assert.equal(sum(await stored(one)), 500)
  })

  it('and not while a replace runs, nor to where it is', async () => {
    const { one, two } = await opened(main, customers(0, 5))
    assert.equal((await one.work.mover.move(listId, ONE)).outcome, 'already-there')
    assert.equal((await one.work.mover.move('none', TEN)).outcome, 'list-not-found')
    const request = { listId, importId: 'r', mode: 'replace', owner: 'o', leaseMs: 60_000 } as const
    const begun = await two.bulk.begin(request, NOW)
    assert.equal((await one.work.mover.move(listId, TEN)).outcome, 'replace-running')
    assert.ok('session' in begun)
    const nothing = { added: 0, unchanged: 0, removed: 0, rejected: 0 }
    const checkpoint = { ...nothing, rowsAcknowledged: 0, inputDigest: '', firstErrors: [] }
    await two.bulk.finish(begun.session, checkpoint, 'failed', undefined, NOW)
    assert.equal((await one.work.mover.move(listId, TEN)).outcome, 'moved')
    await holdsExactly(two, listId, customers(0, 5))
  })

  it('as everybody asks for it: by the number of shards', async () => {
    const { one, two } = await opened(main, customers(0, 30))
    const { resharding } = one.work
    const told: object[] = []
    const outcome = await resharding.reshard(listId, 10, { onProgress: (progress) => told.push(progress) })
    assert.deepEqual(outcome, { outcome: 'resharded', shards: 10, customerCount: 30 })
    assert.deepEqual(told[0], { phase: 'copying', copied: 0, total: 30 })
    assert.equal((await resharding.reshard(listId, 10)).outcome, 'unchanged')
    assert.equal((await resharding.reshard(listId, 20)).outcome, 'reshard-running')
    await sweepEverything(one)
    const stop = AbortSignal.abort(new Error('enough'))
    await assert.rejects(resharding.reshard(listId, 100, { signal: stop }), /enough/)
    assert.equal((await two.work.resharding.progress(listId))?.shards, 100)
    assert.equal((await two.work.resharding.reshard(listId, 100)).outcome, 'resharded')
    assert.equal((await two.store.catalog.read(listId))?.giant, true)
    await holdsExactly(two, listId, customers(0, 30))
  })

  it('by upkeep, when an import has made it too large', async () => {
    const { one, url } = await opened(main, [])
    const sizes = [
      { upTo: 50, ...ONE },
      { upTo: 100, ...TEN },
      { upTo: Number.POSITIVE_INFINITY, ...GIANT },
    ]
    const small = await openWithoutFeed(url, undefined, { sizes })
    await addAll(small, listId, customers(0, 60))
    for (const hours of [1, 2]) await sweepAll(small, NOW + hours * HOUR_MS)
    assert.equal((await one.lists.get(listId))!.shardCount, 10)
    await holdsExactly(one, listId, customers(0, 60))
  })

  const deaths: Death[] = [
    { call: 'transactWrite allowlist.move', nth: 1, when: 'after' },
    { call: 'insertItems allowlist.move', nth: 4, when: 'after' },
    { call: 'putItem allowlist.move', nth: 3, when: 'after' },
    { call: 'batchGetItem allowlist.move', nth: 2, when: 'before' },
    { call: 'batchGetItem allowlist.move', nth: 6, when: 'after' },
    { call: 'transactWrite allowlist.move', nth: 2, when: 'before' },
    { call: 'transactWrite allowlist.move', nth: 2, when: 'after' },
  ]
  for (const [i, death] of deaths.entries()) {
    const dieAt = i === 0 ? isKilled : dies
    it(`by somebody who dies ${death.when} ${death.call} no. ${death.nth}`, async () => {
      const ids = customers(0, 550)
      const { one, two, url } = await opened(main, ids)
      await dieAt({ url, listId, job: { to: TEN }, death })
      await two.members.add(listId, 'since', {}, NOW)
      await two.members.remove(listId, ids[3]!, NOW)
      const expected = [...ids.filter((id) => id !== ids[3]), 'since']
      await holdsExactly(two, listId, expected)
      // Upkeep goes on where it stopped.
      await sweepEverything(one)
      assert.equal((await two.lists.get(listId))!.shardCount, 10)
      await holdsExactly(two, listId, expected)
      assert.equal(sum(await stored(one)), expected.length)
    })
  }
})

for (const emulator of EMULATORS.filter((name) => name !== 'dynoxide')) {
  const server = await startDynamo(emulator)
  it(`${emulator}: a list is moved while it serves`, async () => {
    const staying = customers(0, 60)
    const changing = customers(60, 80)
    const { one, two } = await opened(server, [...staying, ...changing])
    const traffic = startTraffic([one, two], listId, {
      ...{ staying, changing, writers: 1, checkers: 1, pauseMs: PAUSE_MS },
    })
    for (const to of [TEN, GIANT]) {
      assert.equal((await two.work.mover.move(listId, to)).outcome, 'moved')
      await sweepEverything(one)
    }
    await traffic.stop()
    await holdsExactly(two, listId, [...staying, ...traffic.members])
    assert.equal(sum(await stored(one)), staying.length + traffic.members.size)
  })
}
