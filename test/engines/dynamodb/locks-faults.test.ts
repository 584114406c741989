import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { ManualClock } from '../../../src/core/clock.js'
import { isCatracaError } from '../../../src/core/errors.js'
import { lockItemKey } from '../../../src/engines/dynamodb/lock/items.js'
import { DynamodbLocks } from '../../../src/engines/dynamodb/lock/store.js'
import { createTables } from '../../../src/engines/dynamodb/tables/create-tables.js'
import { Locks } from '../../../src/guards/lock/index.js'
import { startFaultProxy } from '../../support/dynamodb-faults.js'
import { startDynamo } from '../../support/dynamodb-server.js'
import { inTime } from '../../support/in-time.js'

const NOW = Date.UTC(2030, 0, 1)
const TTL_MS = 30_000
const attempt = (name: string, owner: string) => ({ name, owner, ttlMs: TTL_MS, waits: false })

describe('locks in DynamoDB, on a bad way there', async () => {
  const server = await startDynamo()
  const proxy = await startFaultProxy(server.endpoint)
  const names = server.names()
  const direct = server.client()
  const faulty = server.client({ endpoint: proxy.endpoint })
  let ms = 0
  const locks = new DynamodbLocks(faulty, names.guards, () => ms)
  const others = new DynamodbLocks(direct, names.guards, () => ms)
  before(() => createTables(direct.sdk, names, ['guards']))
  beforeEach(() => proxy.clear())
  after(() => proxy.clear())
  const lose = () => proxy.inject({ kind: 'reset', when: 'after' }, { operation: 'UpdateItem', times: 1 })
  const item = async (name: string) =>
    (await direct.getItem('test', { TableName: names.guards, Key: lockItemKey(name) }))!

  it('are had although the answer was lost, with the fence that was stored', async () => {
    lose()
    const first = await locks.acquire(attempt('a', 'ann'), NOW)
    assert.ok(first.outcome === 'acquired')
    assert.equal((await item('a')).fence!.N, String(first.fence))
    lose()
    assert.equal(await locks.extend('a', 'ann', TTL_MS, NOW), 'done')
    lose()
    assert.equal(await locks.release('a', 'ann', NOW), 'done')
    assert.equal((await item('a')).lockOwner, undefined)
    assert.equal(await locks.release('a', 'ann', NOW), 'lost', 'nothing was lost this time')
  })

  it('are taken over once, although the answer was lost', async () => {
    await others.acquire(attempt('dead', 'ann'), NOW)
    assert.equal((await locks.acquire(attempt('dead', 'bob'), NOW)).outcome, 'held')
    ms += TTL_MS
    lose()
    const taken = await locks.acquire(attempt('dead', 'bob'), NOW)
    assert.ok(taken.outcome === 'acquired')
    assert.equal((await item('dead')).fence!.N, String(taken.fence))
    assert.equal((await others.acquire(attempt('dead', 'eve'), NOW)).outcome, 'held')
    assert.equal(await others.release('dead', 'ann', NOW), 'lost')
  })

  it('are refused in time by a table that throttles, and then left to nobody', async () => {
    const guard = new Locks({
      store: locks,
      clock: new ManualClock(NOW),
      options: { timeoutMs: 300 },
      report: () => {},
    })
    const verbs = {
      acquire: () => guard.acquire('busy'),
      extend: () => guard.extend('busy', 'x'),
      release: () => guard.release('busy', 'x'),
      status: () => guard.status('busy'),
      forceRelease: () => guard.forceRelease('busy'),
    }
    proxy.inject({ kind: 'throttled' })
    for (const [verb, call] of Object.entries(verbs)) {
      // An acquire is undone, and a status changes nothing: of the rest nobody knows whether it will be done.
      const isKnown = verb === 'acquire' || verb === 'status'
      const code = isKnown ? 'ENGINE_UNAVAILABLE' : 'UNKNOWN_OUTCOME'
      await assert.rejects(inTime<unknown>(call(), 5000, verb), (error) => isCatracaError(error, code), verb)
    }
    proxy.clear()
    while ((await others.read('busy'))?.isHeld) await new Promise((resolve) => setTimeout(resolve, 20))
    assert.equal((await others.acquire(attempt('busy', 'eve'), NOW)).outcome, 'acquired')
  })
})
