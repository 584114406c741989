import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { customer } from '../../src/conformance/support.js'
import { BEGINNING, openFeed, wordsOf } from '../support/dynamodb-feed.js'
import { CREDENTIALS_ENV, startDynamo } from '../support/dynamodb-server.js'
import { catraca, start } from './run.js'

const server = await startDynamo('dynoxide')
const env = CREDENTIALS_ENV

describe('catraca relay', () => {
  it('writes the logs until it is told to stop', async () => {
    const scene = await openFeed(server)
    const { core, log, tables } = scene
    const relay = start(['relay', '--store', server.url(tables)], { env })
    await relay.said(/relays the changes of dynamodb:\/\/us-east-1\/Allowlists\S* \(2 shards at the moment\)/)
    const salt = '00112233445566778899aabbccddeeff'
    const list = { id: 'a', name: 'a', type: 'FIXA', precision: 'exact', salt } as const
    const made = await core.lists.create(list, Date.now())
    assert.ok(made.outcome === 'created')
    await core.members.add('a', customer(1), {}, Date.now())
    for (let i = 0; (await wordsOf(log, made.list, BEGINNING)).length === 0; i++) {
      assert.ok(i < 500, 'told in time')
      await sleep(20)
    }
    relay.child.kill('SIGTERM')
    const { code, stdout } = await relay.ended
    assert.deepEqual([code, stdout], [0, ''])
    scene.close()
  })

  it('refuses other stores, and tables that are missing', async () => {
    const memory = await catraca(['relay', '--store', 'memory:'], { env })
    assert.equal(memory.code, 2)
    assert.match(memory.stderr, /dynamodb:\/\//)
    const missing = await catraca(['relay', '--store', server.url(server.names())], { env })
    assert.equal(missing.code, 1)
    assert.match(missing.stderr, /catraca dynamodb create/)
  })
})
