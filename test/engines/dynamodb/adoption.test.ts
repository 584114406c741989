import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { allMembers, customer, customers, fixa, NOW, sweepAll } from '../../../src/conformance/support.js'
import { ManualClock } from '../../../src/core/clock.js'
import type { Item } from '../../../src/engines/dynamodb/client/attributes.js'
import { Checker } from '../../../src/guards/allowlist/checker.js'
import { shardOf } from '../../../src/guards/allowlist/shard.js'
import { placeBy } from '../../../src/guards/allowlist/wave/hash.js'
import { makeTables, type Tables } from '../../support/dynamodb-engine.js'
import { EMULATORS, startDynamo } from '../../support/dynamodb-server.js'

const CREATED = '2025-01-01T00:00:00Z'

const meta = (id: string, type: string, rest: Item): Item => ({
  PK: { S: `ALLOWLIST#${id}` },
  SK: { S: 'META' },
  name: { S: `Name of ${id}` },
  type: { S: type },
  createdAt: { S: CREATED },
  updatedAt: { S: '2025-01-15T10:00:00Z' },
  ...rest,
})

const member = (listId: string, id: string, partition = `ALLOWLIST#${listId}`, rest: Item = {}): Item => ({
  PK: { S: partition },
  SK: { S: `CUSTOMER#${id}` },
  GSI1PK: { S: `CUSTOMER#${id}` },
  GSI1SK: { S: `ALLOWLIST#${listId}` },
  addedAt: { S: '2024-12-01T10:30:00Z' },
  addedBy: { S: 'admin@company.com' },
  ...rest,
})

/** What the source's own code would have left in its tables. */
async function writeSource({ put }: Tables): Promise<void> {
  await put(meta('123', 'FIXA', { customerCount: { N: '5' }, version: { N: '1' }, owner: { S: 'crm' } }))
  for (const id of customers(0, 4)) await put(member('123', id))
  const expiresAt = { N: String(NOW / 1000 + 60) }
  const metadata = { M: { plan: { S: 'gold' } } }
  await put(member('123', 'expires', undefined, { expiresAt, metadata }))
  await put({
    PK: { S: 'ALLOWLIST#123' },
    SK: { S: 'BLOOM_FILTER#v1678901234' },
    buffer: { B: Uint8Array.of(1, 2, 3) },
    version: { N: '1678901234' },
  })
  const window = { startTime: { N: String(NOW - 1000) }, endTime: { N: String(NOW + 1000) } }
  const percentage = { M: { strategy: { S: 'PERCENTAGE' }, percentage: { N: '0.3' }, ...window } }
  await put(meta('456', 'ONDA', { config: percentage }))
  const explicit = { M: { strategy: { S: 'EXPLICIT_LIST' }, customerIds: { L: [{ S: customer(1) }] } } }
  await put(meta('789', 'ONDA', { config: explicit }))
  await put(meta('ruleless', 'ONDA', {}))
  await put(meta('wide', 'FIXA', { customerCount: { N: '20' }, shardCount: { N: '10' } }))
  await put(
    meta('999', 'FIXA', {
      shardCount: { N: '100' },
      storage: { S: 'GIANT_TABLE' },
      customerCount: { N: '20' },
    }),
  )
  for (const id of customers(0, 20)) {
    await put(member('wide', id, `ALLOWLIST#wide#SHARD_${shardOf(id, 10)}`))
    await put(member('999', id, `ALLOWLIST#999#SHARD_${shardOf(id, 100)}`), 'giant')
  }
}

for (const emulator of EMULATORS) {
  describe(`tables of another program on ${emulator}`, async () => {
    const tables = await makeTables(await startDynamo(emulator))
    await writeSource(tables)
    const engine = await tables.open()
    after(() => engine.close())

    it('show their lists as they are', async () => {
      const lists = await engine.allowlists.lists.page(undefined, 100)
      assert.deepEqual(
        lists.map(({ id }) => id),
        ['123', '456', '789', '999', 'ruleless', 'wide'],
      )
      const { incarnation, ...list } = lists[0]!
      assert.ok(Number.isSafeInteger(incarnation) && incarnation > 0)
      assert.deepEqual(list, {
        id: '123',
        name: 'Name of 123',
        // Who is the owner of a list is a label of ours too.
        owner: 'crm',
        type: 'FIXA',
        precision: 'exact',
        salt: '',
        customerCount: 5,
        version: 1,
        shardCount: 1,
        createdAt: Date.parse(CREATED),
        updatedAt: Date.parse('2025-01-15T10:00:00Z'),
      })
      assert.equal((await engine.health()).adoption, 'complete')
    })

    it('show their members, wherever they are', async () => {
      const { members } = engine.allowlists
      assert.deepEqual(
        (await allMembers(engine.allowlists, '123')).toSorted(),
        [...customers(0, 4), 'expires'].toSorted(),
      )
      for (const id of ['wide', '999']) {
        assert.deepEqual((await allMembers(engine.allowlists, id)).toSorted(), customers(0, 20).toSorted())
      }
      assert.deepEqual(await members.get('123', 'expires'), {
        customerId: 'expires',
        addedAt: Date.parse('2024-12-01T10:30:00Z'),
        addedBy: 'admin@company.com',
        metadata: { plan: 'gold' },
        expiresAt: NOW + 60_000,
      })
      const found = await members.listsOf(customer(1), undefined, 10)
      assert.deepEqual(
        found.map(({ list }) => list.id),
        ['123', '999', 'wide'],
      )
    })

    it('are checked: members, places in waves without salt, windows, explicit lists', async () => {
      const clock = new ManualClock(NOW)
      const checker = new Checker(engine.allowlists.checks, clock)
      const reasons = async (id: string, ...lists: string[]) =>
        (await checker.check(id, lists, undefined)).results.map(({ reason }) => reason)
      assert.deepEqual(await reasons(customer(1), '123', 'wide', '999', '789', 'ruleless'), [
        'MEMBER',
        'MEMBER',
        'MEMBER',
        'IN_WAVE',
        'OUT_OF_WAVE',
      ])
      assert.deepEqual(await reasons('nobody', '123', 'wide', '999', '789'), [
        'NOT_MEMBER',
        'NOT_MEMBER',
        'NOT_MEMBER',
        'OUT_OF_WAVE',
      ])
      for (const id of customers(0, 40)) {
        const expected = placeBy('')(id) < 0.3 ? 'IN_WAVE' : 'OUT_OF_WAVE'
        assert.deepEqual(await reasons(id, '456'), [expected], id)
      }
      clock.advance(60_000)
      assert.deepEqual(await reasons('expires', '123', '456'), ['MEMBER_EXPIRED', 'OUTSIDE_WINDOW'])
    })

    it('are changed with their counts, and keep what is not ours', async () => {
      const { members, lists } = engine.allowlists
      const added = await members.add('123', 'new', {}, NOW)
      assert.deepEqual([added.outcome, (added as { customerCount: number }).customerCount], ['added', 6])
      const again = await members.add('123', customer(1), { addedBy: 'y' }, NOW)
      assert.deepEqual([again.outcome, (again as { customerCount: number }).customerCount], ['replaced', 6])
      assert.equal((await members.get('123', customer(1)))?.addedAt, Date.parse('2024-12-01T10:30:00Z'))
      const removed = await members.remove('123', customer(2), NOW)
      assert.deepEqual(
        [removed.outcome, (removed as { customerCount: number }).customerCount],
        ['removed', 5],
      )
      const view = await engine.allowlists.checks.view({ atLeast: (removed as { token: string }).token })
      assert.equal(await view.member((await view.list('123'))!, customer(2)), undefined)
      await lists.update('456', { config: { strategy: 'PERCENTAGE', percentage: 0.5 } }, NOW)
      const wave = await tables.item('ALLOWLIST#456', 'META')
      assert.deepEqual([wave?.salt, wave?.version, wave?.incarnation], [undefined, { N: '2' }, undefined])
      const list = await tables.item('ALLOWLIST#123', 'META')
      assert.deepEqual([list?.owner, list?.customerCount], [{ S: 'crm' }, { N: '5' }])
    })

    it('let an expired member in again, without counting it twice', async () => {
      const outcome = await engine.allowlists.members.add('123', 'expires', {}, NOW + 60_000)
      assert.equal(outcome.outcome, 'added')
      assert.equal((await engine.allowlists.lists.get('123'))?.customerCount, 5)
    })

    it('tell of lists that the other program makes later, when they are used or looked for', async () => {
      const ids = async () => (await engine.allowlists.lists.page(undefined, 100)).map(({ id }) => id)
      await tables.put(meta('later', 'FIXA', {}))
      await tables.put(meta('never-used', 'FIXA', {}))
      assert.equal((await engine.allowlists.lists.get('later'))?.name, 'Name of later')
      for (let i = 0; !(await ids()).includes('later'); i++) assert.ok(i < 1000, 'it is entered soon')
      assert.ok(!(await ids()).includes('never-used'))
      await engine.adopt()
      assert.ok((await ids()).includes('never-used'))
    })

    it('are deleted as a whole, and their id begins anew', async () => {
      const { lists, members } = engine.allowlists
      for (const id of ['123', 'wide', '999']) {
        assert.equal(await lists.delete(id, NOW), true)
        assert.deepEqual(await lists.create(fixa(id), NOW), { outcome: 'being-deleted' })
      }
      await sweepAll(engine.allowlists)
      for (const table of ['allowlists', 'giant'] as const) {
        const { items } = await tables.client.scan('test', {
          TableName: tables.names[table],
          FilterExpression: 'begins_with(PK, :a) OR begins_with(PK, :b) OR begins_with(PK, :c)',
          ExpressionAttributeValues: {
            ':a': { S: 'ALLOWLIST#123' },
            ':b': { S: 'ALLOWLIST#wide' },
            ':c': { S: 'ALLOWLIST#999' },
          },
          ConsistentRead: true,
        })
        assert.deepEqual(items, [])
      }
      await lists.create(fixa('123'), NOW)
      assert.deepEqual(await members.page('123', undefined, 10), { members: [] })
      assert.match((await lists.get('123'))!.salt, /^[0-9a-f]{32}$/)
    })
  })
}
