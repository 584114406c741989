import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { customer } from '../../../src/conformance/support.js'
import { encodeDifferences } from '../../../src/engines/dynamodb/allowlist/differences.js'
import { customerSort, listPartition, metaKey } from '../../../src/engines/dynamodb/allowlist/items.js'
import { keyOf } from '../../../src/engines/dynamodb/keys.js'
import type { ListRef } from '../../../src/guards/allowlist/changes/port.js'
import { writeCustomerKey } from '../../../src/guards/allowlist/customer-key.js'
import { BEGINNING, type FeedScene, openFeed, wordsOf } from '../../support/dynamodb-feed.js'
import { startDynamo } from '../../support/dynamodb-server.js'

const NOW = Date.UTC(2026, 0, 15, 12)
const SALT = '00112233445566778899aabbccddeeff'

async function newList({ core }: FeedScene, id: string): Promise<ListRef> {
  const made = await core.lists.create({ id, name: id, type: 'FIXA', precision: 'exact', salt: SALT }, NOW)
  return made.outcome === 'created' ? made.list : assert.fail(made.outcome)
}

describe('what the sequencer tells of generations', async () => {
  const server = await startDynamo('dynoxide')
  const scene = await openFeed(server)
  after(() => scene.close())
  let lists = 0

  it('says nothing of a generation that is being built, and tells a switch once', async () => {
    const id = `list-${lists++}`
    const { core, log, sequencer, store, tables, messages } = scene
    const list = await newList(scene, id)
    await core.members.add(id, customer(1), {}, NOW)
    await scene.drain()
    const put = (i: number, more: object) =>
      store.client.putItem('test', {
        TableName: tables.allowlists,
        Item: { ...keyOf(listPartition(id), customerSort(customer(i))), ...more },
      })
    await put(1, { addedAt: { S: '2026-01-15T12:00:00.000Z' }, untilGen: { N: '1' } })
    await put(2, { addedAt: { S: '2026-01-15T12:00:00.000Z' }, fromGen: { N: '1' } })
    await scene.drain()
    assert.deepEqual((await wordsOf(log, list, BEGINNING)).slice(1), [])
    const before = (await log.position(list))!
    await switchTo(scene, id, 1)
    const records = await scene.records()
    await sequencer.process(records)
    await sequencer.process(records)
    assert.deepEqual(await wordsOf(log, list, before), [['reset']])
    assert.ok(messages.some(({ type }) => type === 'ALLOWLIST_REPLACED'))
  })

  it('tells a small replace by its differences, as they now are', async () => {
    const id = `list-${lists++}`
    const { core, log, store, tables } = scene
    const list = await newList(scene, id)
    for (const i of [1, 2]) await core.members.add(id, customer(i), {}, NOW)
    await scene.drain()
    const before = (await log.position(list))!
    const key = keyOf(listPartition(id), customerSort(customer(1)))
    const old = (await store.client.getItem('test', { TableName: tables.allowlists, Key: key }))!
    const packed = Buffer.alloc(100)
    let end = 0
    for (const i of [1, 3]) {
      const next = writeCustomerKey(customer(i), packed, end + 1)
      packed[end] = next - end - 2
      end = next
    }
    const differences = encodeDifferences(id, 1, 0, packed.subarray(0, end))
    for (const Item of [differences, { ...old, untilGen: { N: '1' } }]) {
      await store.client.putItem('test', { TableName: tables.allowlists, Item })
    }
    await switchTo(scene, id, 1)
    await scene.drain()
    const told = await wordsOf(log, list, before)
    assert.deepEqual(told.at(-1), [`-${customer(1)}`, `-${customer(3)}`])
    assert.ok(!told.flat().includes('reset'))
    await switchTo(scene, id, 2)
    await scene.drain()
    assert.deepEqual((await wordsOf(log, list, before)).at(-1), ['reset'], 'nothing said what differs')
  })
})

function switchTo({ store, tables }: FeedScene, id: string, generation: number): Promise<unknown> {
  return store.client.updateItem(
    'test',
    {
      TableName: tables.allowlists,
      Key: metaKey(id),
      UpdateExpression: 'SET generation = :g',
      ExpressionAttributeValues: { ':g': { N: String(generation) } },
    },
    { repeatable: true },
  )
}
