import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { UpdateTableCommand } from '@aws-sdk/client-dynamodb'
import { customer } from '../../../src/conformance/support.js'
import { customerSort, metaKey, placeOf } from '../../../src/engines/dynamodb/allowlist/items.js'
import { decodeMeta, type StoredList } from '../../../src/engines/dynamodb/allowlist/meta.js'
import { NO_SINK } from '../../../src/engines/dynamodb/feed/messages.js'
import { Relay } from '../../../src/engines/dynamodb/feed/relay.js'
import { keyOf } from '../../../src/engines/dynamodb/keys.js'
import type { ListRef, Position } from '../../../src/guards/allowlist/changes/port.js'
import { shardOf } from '../../../src/guards/allowlist/shard.js'
import { BEGINNING, openFeed, wordsOf } from '../../support/dynamodb-feed.js'
import { CREDENTIALS, REGION, startDynamo } from '../../support/dynamodb-server.js'
import { startSplitProxy } from '../../support/dynamodb-split.js'

const SALT = '00112233445566778899aabbccddeeff'
const ROW = { addedAt: { S: '2026-01-15T12:00:00.000Z' } }

describe('layouts and shards', async () => {
  const server = await startDynamo('dynoxide')
  const scene = await openFeed(server)
  const { core, log, store, tables } = scene
  after(() => scene.close())
  const newList = async (id: string): Promise<ListRef> => {
    const list = { id, name: id, type: 'FIXA', precision: 'exact', salt: SALT } as const
    const made = await core.lists.create(list, Date.now())
    return made.outcome === 'created' ? made.list : assert.fail(made.outcome)
  }
  /** As the move of a list ends. */
  const setLayout = async (
    id: string,
    shardCount: number,
    giant: boolean,
    layout: number,
  ): Promise<StoredList> => {
    const key = { TableName: tables.allowlists, Key: metaKey(id) }
    const storage = giant ? { storage: { S: 'GIANT_TABLE' } } : {}
    const meta = (await store.client.getItem('test', { ...key, ConsistentRead: true }))!
    const Item = { ...meta, ...storage, shardCount: { N: `${shardCount}` }, layout: { N: `${layout}` } }
    await store.client.putItem('test', { TableName: tables.allowlists, Item })
    return decodeMeta(Item)
  }
  const put = (list: StoredList, layout: { shardCount: number; giant: boolean }, i: number) => {
    const { table, partition } = placeOf(list.id, layout, customer(i))
    const Item = { ...keyOf(partition, customerSort(customer(i))), ...ROW, changeId: { S: `c${i}` } }
    return store.client.putItem('test', { TableName: tables[table], Item })
  }
  const beginning = (logs: number, mark: number): Position =>
    Array.from({ length: logs }, () => ({ sequence: 0, mark }))

  it('a list of several shards has a log for each, in either table', async () => {
    for (const giant of [false, true]) {
      const id = `sharded-${giant}`
      const ref = await newList(id)
      const list = await setLayout(id, 4, giant, 1)
      for (let i = 0; i < 20; i++) await put(list, list, i)
      await scene.drain()
      const position = (await log.position(ref))!
      assert.deepEqual(
        position.map(({ mark }) => mark),
        Array(4).fill(giant ? 3 : 2),
      )
      const part = await log.read(ref, beginning(4, giant ? 3 : 2))
      assert.ok(part !== 'gap')
      assert.deepEqual(new Set(part.entries.map((entry) => entry.log)), new Set([0, 1, 2, 3]))
      const told = (await wordsOf(log, ref, beginning(4, giant ? 3 : 2))).flat()
      assert.deepEqual(told.toSorted(), Array.from({ length: 20 }, (_, i) => `+${customer(i)}`).toSorted())
    }
  })

  it('copies are nobody’s business before a list has moved, and its old logs end with the move', async () => {
    const ref = await newList('moved')
    for (let i = 0; i < 6; i++) await core.members.add('moved', customer(i), {}, Date.now())
    await scene.drain()
    const end = (await log.position(ref))!
    const next = { shardCount: 4, giant: false }
    const before = decodeMeta(
      (await store.client.getItem('test', { TableName: tables.allowlists, Key: metaKey('moved') }))!,
    )
    for (let i = 0; i < 6; i++) await put(before, next, i)
    await scene.drain()
    assert.deepEqual(await log.position(ref), end)
    await setLayout('moved', 4, false, 1)
    await scene.drain()
    assert.equal(await log.read(ref, end), 'gap')
    assert.deepEqual(await log.position(ref), beginning(4, 2))
    await core.members.remove('moved', customer(3), Date.now())
    await scene.drain()
    const shard = shardOf(customer(3), 4)
    assert.equal((await log.position(ref))![shard]!.sequence, 1)
    assert.deepEqual((await wordsOf(log, ref, beginning(4, 2))).flat(), [`-${customer(3)}`])
  })

  it('a copy that DynamoDB deletes counts once', async () => {
    const id = 'expiring'
    await newList(id)
    await core.members.add(id, customer(1), { expiresAt: Date.now() + 3_600_000 }, Date.now())
    await scene.drain()
    const TableName = tables.allowlists
    const at = (partition: string) => keyOf(partition, customerSort(customer(1)))
    const row = (await store.client.getItem('test', { TableName, Key: at(`ALLOWLIST#${id}`) }))!
    const copy = { ...row, ...at(placeOf(id, { shardCount: 4, giant: false }, customer(1)).partition) }
    await store.client.putItem('test', { TableName, Item: copy })
    await store.client.deleteItem('test', { TableName, Key: at(`ALLOWLIST#${id}`) })
    const expire = async (): Promise<void> => {
      const records = await scene.records()
      await scene.sequencer.process(records.map((one) => ({ ...one, isExpiry: one.action === 'REMOVE' })))
    }
    await expire()
    assert.equal((await core.lists.get(id))!.customerCount, 0)
    await setLayout(id, 4, false, 1)
    await store.client.deleteItem('test', { TableName, Key: { PK: copy.PK!, SK: copy.SK! } })
    await expire()
    assert.equal((await core.lists.get(id))!.customerCount, 0)
  })

  it('a stream shard that is split is read to its end before its children', async () => {
    const split = await openFeed(server)
    const proxy = await startSplitProxy(server.endpoint)
    const streams = { region: REGION, endpoint: proxy.endpoint, credentials: CREDENTIALS }
    const { client } = split.store
    const start = async (): Promise<Relay> => {
      const relay = new Relay({
        client,
        streams,
        tables: split.tables,
        sink: NO_SINK,
        leaseMs: 600,
        pollMs: 10,
      })
      await relay.start()
      return relay
    }
    const first = await start()
    const lists = await Promise.all(
      ['a', 'b', 'c'].map(async (id) => {
        const list = { id, name: id, type: 'FIXA', precision: 'exact', salt: SALT } as const
        const made = await split.core.lists.create(list, Date.now())
        return made.outcome === 'created' ? made.list : assert.fail(made.outcome)
      }),
    )
    const told = async (i: number): Promise<void> => {
      for (const { id } of lists) await split.core.members.add(id, customer(i), {}, Date.now())
      for (const list of lists) {
        for (
          let n = 0;
          !(await wordsOf(split.log, list, BEGINNING)).flat().includes(`+${customer(i)}`);
          n++
        ) {
          assert.ok(n < 400, `customer ${i} is told of`)
          await sleep(20)
        }
      }
    }
    await told(1)
    await first.stop()
    proxy.split()
    const relay = await start()
    await told(2)
    await told(3)
    // The table that nothing was written to is split too, whenever its turn comes.
    for (let n = 0; relay.shardCount !== 4; n++) {
      assert.ok(n < 400, 'all children are read')
      await sleep(20)
    }
    await relay.stop()
    const children = [...proxy.asked.entries()].filter(([, asked]) =>
      /^iterator .*-(left|right)$/.test(asked),
    )
    assert.equal(children.length, 4)
    for (const [at, asked] of children) {
      const parent = asked.replace(/^iterator (.*)-(left|right)$/, 'end $1')
      assert.ok(proxy.asked.indexOf(parent) < at && proxy.asked.includes(parent), `${asked} after its parent`)
    }
    split.close()
  })

  it('a stream that was off for a while has missed changes: everybody starts anew', async () => {
    const broken = await openFeed(server)
    const { client } = broken.store
    const made = await broken.core.lists.create(
      { id: 'a', name: 'a', type: 'FIXA', precision: 'exact', salt: SALT },
      Date.now() - 1000,
    )
    assert.ok(made.outcome === 'created')
    const relayOnce = async (done: () => Promise<boolean>): Promise<void> => {
      const streams = { region: REGION, endpoint: server.endpoint, credentials: CREDENTIALS }
      const relay = new Relay({
        client,
        streams,
        tables: broken.tables,
        sink: NO_SINK,
        leaseMs: 600,
        pollMs: 10,
      })
      await relay.start()
      for (let n = 0; !(await done()); n++) {
        assert.ok(n < 400, 'it is told in time')
        await sleep(20)
      }
      await relay.stop()
    }
    const told = () => wordsOf(broken.log, made.list, BEGINNING)
    await broken.core.members.add('a', customer(1), {}, Date.now())
    await relayOnce(async () => (await told()).length === 1)
    const TableName = broken.tables.allowlists
    const turn = (StreamSpecification: { StreamEnabled: boolean; StreamViewType?: 'NEW_AND_OLD_IMAGES' }) =>
      client.sdk.send(new UpdateTableCommand({ TableName, StreamSpecification }))
    await turn({ StreamEnabled: false })
    await broken.core.members.add('a', customer(2), {}, Date.now())
    await turn({ StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' })
    await relayOnce(async () => (await told()).length >= 2)
    // What the emulator has in both streams is told again, behind it.
    assert.deepEqual((await told()).slice(0, 2), [[`+${customer(1)}`], ['reset']])
    broken.close()
  })
})
