import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { customer, fixa, NOW, newFixa, SALT, sweepAll } from '../../../src/conformance/support.js'
import type { Item } from '../../../src/engines/dynamodb/client/attributes.js'
import { shardOf } from '../../../src/guards/allowlist/shard.js'
import { makeTables } from '../../support/dynamodb-engine.js'
import { EMULATORS, startDynamo } from '../../support/dynamodb-server.js'

const ISO = new Date(NOW).toISOString()
const UUID = '550e8400-e29b-4d4e-a164-426655440000'

/** Without the attributes that are random; they must be there. */
function without(item: Item | undefined, ...names: string[]): Item {
  const rest = { ...item! }
  for (const name of names) {
    assert.ok(rest[name] !== undefined, `there is a ${name}`)
    delete rest[name]
  }
  return rest
}

for (const emulator of EMULATORS) {
  describe(`items on ${emulator}`, async () => {
    const tables = await makeTables(await startDynamo(emulator))
    const engine = await tables.open()
    after(() => engine.close())

    it('of a list are as the source has them', async () => {
      const { lists } = engine.allowlists
      await lists.create({ ...fixa('123'), name: 'VIP Clients' }, NOW)
      assert.deepEqual(without(await tables.item('ALLOWLIST#123', 'META'), 'incarnation'), {
        PK: { S: 'ALLOWLIST#123' },
        SK: { S: 'META' },
        name: { S: 'VIP Clients' },
        type: { S: 'FIXA' },
        createdAt: { S: ISO },
        updatedAt: { S: ISO },
        customerCount: { N: '0' },
        version: { N: '1' },
        precision: { S: 'exact' },
        salt: { S: SALT },
      })
      const config = { strategy: 'PERCENTAGE', percentage: 0.3, startTime: 1704067200000 } as const
      await lists.create({ ...fixa('456'), type: 'ONDA', config }, NOW)
      assert.deepEqual((await tables.item('ALLOWLIST#456', 'META'))?.config, {
        M: {
          strategy: { S: 'PERCENTAGE' },
          percentage: { N: '0.3' },
          startTime: { N: '1704067200000' },
        },
      })
    })

    it('of a member are as the source has them, and the count with them', async () => {
      const { members } = engine.allowlists
      await newFixa(engine.allowlists, 'vip')
      await members.add(
        'vip',
        UUID,
        { addedBy: 'admin@company.com', metadata: { plan: 'gold', n: 1.5 } },
        NOW,
      )
      assert.deepEqual(without(await tables.item('ALLOWLIST#vip', `CUSTOMER#${UUID}`), 'changeId'), {
        PK: { S: 'ALLOWLIST#vip' },
        SK: { S: `CUSTOMER#${UUID}` },
        GSI1PK: { S: `CUSTOMER#${UUID}` },
        GSI1SK: { S: 'ALLOWLIST#vip' },
        addedAt: { S: ISO },
        addedBy: { S: 'admin@company.com' },
        metadata: { M: { plan: { S: 'gold' }, n: { N: '1.5' } } },
      })
      assert.deepEqual((await tables.item('ALLOWLIST#vip', 'META'))?.customerCount, { N: '1' })
      await members.remove('vip', UUID, NOW)
      assert.equal(await tables.item('ALLOWLIST#vip', `CUSTOMER#${UUID}`), undefined)
      assert.deepEqual((await tables.item('ALLOWLIST#vip', 'META'))?.customerCount, { N: '0' })
    })

    it('that expire do so by whole seconds, never early, and keep the exact moment', async () => {
      const { members } = engine.allowlists
      await newFixa(engine.allowlists, 'short')
      await members.add('short', 'whole', { expiresAt: NOW + 5000 }, NOW)
      await members.add('short', 'broken', { expiresAt: NOW + 5001 }, NOW)
      const whole = await tables.item('ALLOWLIST#short', 'CUSTOMER#whole')
      const broken = await tables.item('ALLOWLIST#short', 'CUSTOMER#broken')
      assert.deepEqual([whole?.expiresAt, whole?.expiresAtMs], [{ N: `${NOW / 1000 + 5}` }, undefined])
      assert.deepEqual(
        [broken?.expiresAt, broken?.expiresAtMs],
        [{ N: `${NOW / 1000 + 6}` }, { N: `${NOW + 5001}` }],
      )
      assert.equal((await members.get('short', 'broken'))?.expiresAt, NOW + 5001)
    })

    it('of a list with shards are where its rule puts them, also in the giant table', async () => {
      for (const [id, table] of [
        ['wide', 'allowlists'],
        ['giant', 'giant'],
      ] as const) {
        await tables.put({
          PK: { S: `ALLOWLIST#${id}` },
          SK: { S: 'META' },
          name: { S: id },
          type: { S: 'FIXA' },
          createdAt: { S: ISO },
          customerCount: { N: '0' },
          version: { N: '1' },
          shardCount: { N: '10' },
          ...(table === 'giant' && { storage: { S: 'GIANT_TABLE' } }),
        })
        const ids = [1, 2, 3, 4, 5].map(customer)
        for (const one of ids) await engine.allowlists.members.add(id, one, {}, NOW)
        for (const one of ids) {
          const partition = `ALLOWLIST#${id}#SHARD_${shardOf(one, 10)}`
          assert.ok(await tables.item(partition, `CUSTOMER#${one}`, table), `${one} in ${partition}`)
        }
        const page = await engine.allowlists.members.page(id, undefined, 100)
        assert.deepEqual(page?.members.map(({ customerId }) => customerId).toSorted(), ids.toSorted())
        const found = await engine.allowlists.members.listsOf(ids[0]!, undefined, 10)
        assert.ok(found.some(({ list }) => list.id === id))
      }
    })

    it('of a list that is being moved are changed in both places, the count once', async () => {
      await newFixa(engine.allowlists, 'moving')
      const item = await tables.item('ALLOWLIST#moving', 'META')
      const moving = { layout: { N: '1' }, shardCount: { N: '10' }, giant: { BOOL: true } }
      await tables.put({ ...item, moving: { M: moving } })
      const id = customer(4)
      const there = `ALLOWLIST#moving#SHARD_${shardOf(id, 10)}`
      const rows = async (): Promise<(Item | undefined)[]> => [
        await tables.item('ALLOWLIST#moving', `CUSTOMER#${id}`),
        await tables.item(there, `CUSTOMER#${id}`, 'giant'),
      ]
      // What the engine knows of the list is from before the move.
      await engine.allowlists.members.add('moving', id, { addedBy: 'x' }, NOW)
      assert.ok((await rows()).every((row) => row?.addedBy?.S === 'x'))
      await engine.allowlists.members.add('moving', id, { addedBy: 'y' }, NOW)
      const [one, two] = await rows()
      assert.deepEqual(one?.addedBy, { S: 'y' })
      assert.deepEqual(without(two, 'PK'), without(one, 'PK'))
      assert.equal((await engine.allowlists.lists.get('moving'))?.customerCount, 1)
      await engine.allowlists.members.remove('moving', id, NOW)
      assert.deepEqual(await rows(), [undefined, undefined])
      assert.equal((await engine.allowlists.lists.get('moving'))?.customerCount, 0)
      await engine.allowlists.members.add('moving', id, {}, NOW)
      await engine.allowlists.lists.delete('moving', NOW)
      await sweepAll(engine.allowlists)
      assert.deepEqual(await rows(), [undefined, undefined])
    })
  })
}

describe('units', async () => {
  const tables = await makeTables(await startDynamo('dynoxide'))

  it('of checks, adds and removals are as few as they can be', async () => {
    const engine = await tables.open()
    const { members, checks } = engine.allowlists
    await newFixa(engine.allowlists, 'a')
    await members.add('a', customer(0), {}, NOW)
    const view = await checks.view(undefined)
    const strong = await checks.view('strong')
    const list = (await view.list('a'))!
    engine.capacity.reset()
    for (let i = 0; i < 10; i++) await view.member(list, customer(i))
    assert.equal(engine.capacity.of('allowlist.check').readUnits, 5)
    await strong.member(list, customer(0))
    assert.equal(engine.capacity.of('allowlist.check').readUnits, 6)
    // Two items, twice each because together, and the index.
    await members.add('a', customer(1), {}, NOW)
    assert.equal(engine.capacity.of('allowlist.add').writeUnits, 5)
    await members.remove('a', customer(1), NOW)
    const { readUnits, writeUnits } = engine.capacity.of('allowlist.remove')
    assert.deepEqual([readUnits, writeUnits], [1, 5])
    engine.capacity.reset()
    await Promise.all(Array.from({ length: 40 }, (_, i) => members.add('a', customer(100 + i), {}, NOW)))
    // META is written once for all that wait.
    assert.equal(engine.capacity.of('allowlist.add').writeUnits, 40 * 3 + 2)
    await engine.close()
  })
})
