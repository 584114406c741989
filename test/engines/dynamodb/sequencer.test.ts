import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { customer } from '../../../src/conformance/support.js'
import { customerSort, listPartition, metaKey } from '../../../src/engines/dynamodb/allowlist/items.js'
import { FEED_HEAD_KEY } from '../../../src/engines/dynamodb/feed/feed-items.js'
import { NO_SINK } from '../../../src/engines/dynamodb/feed/messages.js'
import { Sequencer } from '../../../src/engines/dynamodb/feed/sequencer.js'
import type { StreamRecord } from '../../../src/engines/dynamodb/feed/stream-records.js'
import { keyOf } from '../../../src/engines/dynamodb/keys.js'
import type { ListRef } from '../../../src/guards/allowlist/changes/port.js'
import { BEGINNING, type FeedScene, openFeed, wordsOf } from '../../support/dynamodb-feed.js'
import { EMULATORS, startDynamo } from '../../support/dynamodb-server.js'

const NOW = Date.UTC(2026, 0, 15, 12)
const SALT = '00112233445566778899aabbccddeeff'
const ROUNDS = 10

async function newList({ core }: FeedScene, id: string): Promise<ListRef> {
  const made = await core.lists.create({ id, name: id, type: 'FIXA', precision: 'exact', salt: SALT }, NOW)
  assert.equal(made.outcome, 'created')
  return made.outcome === 'created' ? made.list : assert.fail()
}

/** What DynamoDB itself deletes when the time of an item is up. */
const expired = (record: StreamRecord): StreamRecord => ({ ...record, isExpiry: true })

for (const emulator of EMULATORS) {
  describe(`the sequencer on ${emulator}`, async () => {
    const server = await startDynamo(emulator)
    const shared = await openFeed(server)
    after(() => shared.close())
    let lists = 0
    /** Tables take a while to make, so the cases share them, each with a list of its own. */
    const open = (): { scene: FeedScene; id: string } => {
      shared.messages.length = 0
      return { scene: shared, id: `list-${lists++}` }
    }

    it('tells adds, changes and removals, and says so to the pods', async () => {
      const { scene, id } = open()
      const { core, log, messages } = scene
      const list = await newList(scene, id)
      await scene.drain()
      await core.members.add(id, customer(1), {}, NOW)
      await scene.drain()
      await core.members.add(id, customer(1), { addedBy: 'x' }, NOW + 1)
      await scene.drain()
      await core.members.remove(id, customer(1), NOW)
      await scene.drain()
      assert.deepEqual(await wordsOf(log, list, BEGINNING), [
        [`+${customer(1)}`],
        [`+${customer(1)}`],
        [`-${customer(1)}`],
      ])
      assert.deepEqual(await log.position(list), [{ sequence: 3, mark: 0 }])
      const told = { allowlistId: id, shard: 0, customerId: customer(1) }
      assert.deepEqual(messages, [
        { type: 'ALLOWLIST_CHANGED', allowlistId: id },
        { type: 'CUSTOMER_CHANGED', ...told, sequence: 1, action: 'INSERT' },
        { type: 'CUSTOMER_CHANGED', ...told, sequence: 2, action: 'MODIFY' },
        { type: 'CUSTOMER_CHANGED', ...told, sequence: 3, action: 'REMOVE' },
      ])
    })

    it('proves writes by their change ids', async () => {
      const { scene, id } = open()
      const { core, log, store } = scene
      const list = await newList(scene, id)
      const added = await core.members.add(id, customer(1), {}, NOW)
      const removed = await core.members.remove(id, customer(1), NOW)
      assert.ok('token' in added && 'token' in removed)
      await scene.drain()
      const end = (await log.position(list))!
      const isIn = (token: string, at = end): boolean => store.tokens.read(token).isIn(at)
      assert.equal(isIn(added.token), false, 'nothing was read yet')
      await wordsOf(log, list, BEGINNING)
      assert.deepEqual([isIn(added.token), isIn(removed.token)], [true, true])
      assert.deepEqual([isIn(added.token, BEGINNING), isIn(removed.token, BEGINNING)], [false, false])
    })

    it('told twice, late, in disorder or by two at once, never tells of an older state', async () => {
      const { scene, id } = open()
      const { core, log, sequencer } = scene
      const list = await newList(scene, id)
      await core.members.add(id, customer(1), {}, NOW)
      await core.members.add(id, customer(2), {}, NOW)
      await core.members.remove(id, customer(1), NOW)
      const all = await scene.records()
      const [first] = all.filter(({ keys }) => keys.SK?.S === customerSort(customer(1)))
      for (const records of [all, all, [...all].reverse(), [first!]]) {
        assert.deepEqual(await sequencer.process(records), [])
      }
      await Promise.all([1, 2, 3].map(() => sequencer.process(all)))
      for (const entry of await wordsOf(log, list, BEGINNING)) {
        assert.ok(!entry.includes(`+${customer(1)}`), 'told of a customer who had gone before')
        assert.ok(!entry.includes(`-${customer(2)}`), 'denied a member')
      }
    })

    it('of two that work at once, the one that was late reads again', async () => {
      const { scene, id } = open()
      const { core, log, sequencer, store, tables } = scene
      const other = new Sequencer({ client: store.client, tables, sink: NO_SINK, now: Date.now })
      const list = await newList(scene, id)
      await scene.drain()
      for (let round = 0; round < ROUNDS; round++) {
        await core.members.add(id, customer(round), {}, NOW)
        const added = await scene.records()
        const told = sequencer.process(added)
        await core.members.remove(id, customer(round), NOW)
        await Promise.all([told, other.process(await scene.records())])
      }
      const last = new Map(
        (await wordsOf(log, list, BEGINNING)).flat().map((word) => [word.slice(1), word[0]]),
      )
      assert.deepEqual([...last.values()], Array(ROUNDS).fill('-'))
    })

    it('lowers the count for each deletion by DynamoDB once', async () => {
      const { scene, id } = open()
      const { core, log, sequencer, store, tables } = scene
      const list = await newList(scene, id)
      const table = tables.allowlists
      const keys = Array.from({ length: 250 }, (_, i) => keyOf(listPartition(id), customerSort(customer(i))))
      const row = { addedAt: { S: '2026-01-15T12:00:00.000Z' }, expiresAt: { N: '1768478405' } }
      const puts = keys.map((key, i) => ({ table, put: { ...key, ...row, changeId: { S: `c${i}` } } }))
      await store.client.batchWrite('test', puts)
      const counted = { UpdateExpression: 'SET customerCount = :n', Key: metaKey(id), TableName: table }
      const ExpressionAttributeValues = { ':n': { N: '250' } }
      await store.client.updateItem('test', { ...counted, ExpressionAttributeValues }, { repeatable: true })
      await scene.drain()
      const count = async () => (await core.lists.get(id))!.customerCount
      await store.client.batchWrite(
        'test',
        keys.slice(0, 210).map((key) => ({ table, delete: key })),
      )
      const records = await scene.records()
      assert.deepEqual(await sequencer.process(records), [])
      assert.equal(await count(), 250, 'deleted by others, who count for themselves')
      const deletions = records.map(expired)
      await Promise.all([sequencer.process(deletions.slice(0, 150)), sequencer.process(deletions)])
      await sequencer.process(deletions.slice(100))
      assert.equal(await count(), 40)
      const told = (await wordsOf(log, list, BEGINNING)).flat()
      assert.ok(told.includes(`-${customer(209)}`))
    })

    it('closes the logs of a list that is gone, and opens others for the next one of its id', async () => {
      const { scene, id } = open()
      const { core, log, messages } = scene
      const list = await newList(scene, id)
      await core.members.add(id, customer(1), {}, NOW)
      await scene.drain()
      const end = (await log.position(list))!
      assert.deepEqual(await log.read(list, end), { entries: [], more: false, ageMs: 0 })
      await core.lists.delete(id, NOW)
      assert.equal(await log.position(list), undefined)
      await scene.drain()
      assert.equal(await log.read(list, end), 'gap')
      assert.ok(messages.some(({ type }) => type === 'ALLOWLIST_DELETED'))
    })

    it('leaves a list that cannot be processed behind, and goes on with the others', async () => {
      const { scene } = open()
      const { core, log, sequencer, store, tables } = scene
      const list = await newList(scene, 'good')
      await newList(scene, 'poison')
      await core.members.add('poison', customer(1), {}, NOW)
      await store.client.putItem('test', {
        TableName: tables.allowlists,
        Item: { ...metaKey('poison'), type: { S: 'NEITHER' } },
      })
      await core.members.add('good', customer(1), {}, NOW)
      const failures = await sequencer.process(await scene.records())
      assert.deepEqual(
        failures.map(({ listId }) => listId),
        ['poison'],
      )
      assert.match(String(failures[0]!.error), /type is neither FIXA nor ONDA/)
      assert.deepEqual(await wordsOf(log, list, BEGINNING), [[`+${customer(1)}`]])
      await store.client.deleteItem('test', { TableName: tables.allowlists, Key: metaKey('poison') })
      await scene.records()
    })

    it('follows rows of other programs, and takes no notice of what nobody can ask for', async () => {
      const { scene } = open()
      const { log, store, tables, core } = scene
      const TableName = tables.allowlists
      const put = (Item: object) => store.client.putItem('test', { TableName, Item: Item as never })
      const meta = { name: { S: 'VIP' }, type: { S: 'FIXA' }, createdAt: { S: '2025-01-01T00:00:00Z' } }
      await put({ ...metaKey('123'), ...meta })
      await put({ ...keyOf(listPartition('123'), customerSort('alice')), addedAt: { S: 'long ago' } })
      await put({ ...keyOf(listPartition('123'), 'CUSTOMER#josé') })
      await put({ ...keyOf(`${listPartition('123')}#SHARD_1`, customerSort('bob')) })
      await scene.drain()
      const list = (await core.lists.get('123'))!
      assert.deepEqual(await wordsOf(log, list, BEGINNING), [['+alice']])
    })

    it('resets old lists when nothing came through for so long that changes may be lost', async () => {
      let now = Date.now()
      const scene = await openFeed(server, { now: () => now })
      const { log, sequencer, core } = scene
      const list = await newList(scene, 'a')
      const probe = (at: number): StreamRecord => ({
        table: 'allowlists',
        sequence: '1',
        action: 'MODIFY',
        keys: keyOf('FEED', 'PROBE'),
        after: { at: { N: String(at) } },
        isExpiry: false,
      })
      await core.members.add('a', customer(1), {}, NOW)
      await scene.drain()
      now = NOW + 3_600_000
      await sequencer.process([probe(now)])
      now += 3_600_000
      await sequencer.process([probe(now)])
      assert.deepEqual(await wordsOf(log, list, BEGINNING), [[`+${customer(1)}`]], 'the list is young')
      now += 25 * 3_600_000
      await sequencer.process([probe(now)])
      await sequencer.process([probe(now)])
      assert.deepEqual((await wordsOf(log, list, BEGINNING)).slice(1), [['reset']])
      const head = await scene.store.client.getItem('test', {
        TableName: scene.tables.allowlists,
        Key: FEED_HEAD_KEY,
      })
      assert.equal(head?.processedUntil?.N, String(now))
      scene.close()
    })
  })
}
