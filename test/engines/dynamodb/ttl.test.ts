import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { customer } from '../../../src/conformance/support.js'
import { NO_SINK } from '../../../src/engines/dynamodb/feed/messages.js'
import { Relay } from '../../../src/engines/dynamodb/feed/relay.js'
import { BEGINNING, openFeed, wordsOf } from '../../support/dynamodb-feed.js'
import { CREDENTIALS, REGION, startDynamo } from '../../support/dynamodb-server.js'

const SALT = '00112233445566778899aabbccddeeff'
const LONGEST_MS = 300_000

/** extenddb looks for expired items once a minute, so this takes as long. */
describe('members that the table itself deletes', () => {
  it('are told as removals, and lower the count once, with two relays at it', async () => {
    const server = await startDynamo('extenddb')
    const scene = await openFeed(server)
    const { core, log, store, tables } = scene
    const streams = { region: REGION, endpoint: server.endpoint, credentials: CREDENTIALS }
    const parts = { client: store.client, streams, tables, sink: NO_SINK, leaseMs: 5000, pollMs: 500 }
    const relays = [new Relay(parts), new Relay(parts)]
    for (const relay of relays) await relay.start()
    const made = await core.lists.create(
      { id: 'a', name: 'a', type: 'FIXA', precision: 'exact', salt: SALT },
      Date.now(),
    )
    assert.ok(made.outcome === 'created')
    const expiresAt = Date.now() + 2000
    for (let i = 0; i < 12; i++)
      await core.members.add('a', customer(i), i < 9 ? { expiresAt } : {}, Date.now())
    const gone = Array.from({ length: 9 }, (_, i) => `-${customer(i)}`).toSorted()
    const told = async () =>
      // A relay that stood still for longer than its lease may tell once more what the other has told.
      new Set((await wordsOf(log, made.list, BEGINNING)).flat().filter((word) => word[0] === '-'))
    for (const endsAt = Date.now() + LONGEST_MS; (await told()).size < 9; ) {
      assert.ok(Date.now() < endsAt, 'the table deletes them in time')
      await sleep(1000)
    }
    await Promise.all(relays.map((relay) => relay.stop()))
    assert.deepEqual([...(await told())].toSorted(), gone)
    assert.equal((await core.lists.get('a'))!.customerCount, 3)
    scene.close()
  })
})
