import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { parseStoreUrl } from '../../../src/config/store-url.js'
import type { DynamodbUrl } from '../../../src/config/store-url-dynamodb.js'
import { ManualClock } from '../../../src/core/clock.js'
import { CapacityCounts } from '../../../src/engines/dynamodb/client/capacity.js'
import type { DynamoClient } from '../../../src/engines/dynamodb/client/client.js'
import { openDynamodb } from '../../../src/engines/dynamodb/index.js'
import { lockItemKey } from '../../../src/engines/dynamodb/lock/items.js'
import { DynamodbLocks } from '../../../src/engines/dynamodb/lock/store.js'
import { createTables } from '../../../src/engines/dynamodb/tables/create-tables.js'
import { TABLE_ROLES } from '../../../src/engines/dynamodb/tables/tables.js'
import { Locks } from '../../../src/guards/lock/index.js'
import { CREDENTIALS, startDynamo } from '../../support/dynamodb-server.js'
import { ManualTiming } from '../../support/manual-timing.js'

const NOW = Date.UTC(2030, 0, 1)
const TTL_MS = 30_000
const DAY_MS = 86_400_000
const attempt = (name: string, owner: string) => ({ name, owner, ttlMs: TTL_MS, waits: false })

describe('locks in DynamoDB', async () => {
  const server = await startDynamo()
  const counts = new CapacityCounts()
  const { guards: TableName, ...others } = server.names()
  let client: DynamoClient
  before(async () => {
    client = server.client({ counter: counts })
    await createTables(client.sdk, { guards: TableName, ...others }, ['guards'])
  })
  const item = (name: string) =>
    client.getItem('test', { TableName, Key: lockItemKey(name), ConsistentRead: true })

  it('cost one write unit to take and one to give back', async () => {
    const locks = new DynamodbLocks(client, TableName)
    const name = 'n'.repeat(256)
    for (let i = 0; i < 3; i++) {
      await locks.acquire(attempt(name, `owner-${i}`), NOW + i)
      await locks.release(name, `owner-${i}`, NOW + i)
    }
    assert.deepEqual(counts.of('lock.acquire'), { calls: 3, readUnits: 0, writeUnits: 3 })
    assert.deepEqual(counts.of('lock.release'), { calls: 3, readUnits: 0, writeUnits: 3 })
    assert.equal(counts.of('lock.read').calls, 0)
  })

  it('cost those who wait a read each time, not a write', async () => {
    const [holder, waiter] = [new DynamodbLocks(client, TableName), new DynamodbLocks(client, TableName)]
    await holder.acquire(attempt('busy', 'ann'), NOW)
    await waiter.acquire(attempt('busy', 'bob'), NOW)
    counts.reset()
    for (let i = 0; i < 4; i++)
      assert.equal((await waiter.acquire(attempt('busy', 'bob'), NOW)).outcome, 'held')
    assert.deepEqual(counts.of('lock.read'), { calls: 4, readUnits: 4, writeUnits: 0 })
    assert.equal(counts.of('lock.acquire').calls, 0)
    assert.deepEqual(counts.retries(), [])
  })

  it('are taken over only when they were seen unchanged for their whole lease, whatever clocks say', async () => {
    let ms = 0
    const holder = new DynamodbLocks(client, TableName)
    const observer = new DynamodbLocks(client, TableName, () => ms)
    await holder.acquire(attempt('dead', 'ann'), NOW)
    const farAhead = NOW + 100 * TTL_MS
    assert.deepEqual(await observer.acquire(attempt('dead', 'bob'), farAhead), {
      outcome: 'held',
      retryAfterMs: TTL_MS,
    })
    ms += TTL_MS - 1
    assert.equal((await observer.acquire(attempt('dead', 'bob'), farAhead)).outcome, 'held')
    await holder.extend('dead', 'ann', TTL_MS, NOW)
    ms += 1
    assert.equal((await observer.acquire(attempt('dead', 'bob'), farAhead)).outcome, 'held')
    ms += TTL_MS - 1
    assert.equal((await observer.acquire(attempt('dead', 'bob'), farAhead)).outcome, 'held')
    ms += 1
    assert.equal((await observer.acquire(attempt('dead', 'bob'), farAhead)).outcome, 'acquired')
    assert.equal(await holder.extend('dead', 'ann', TTL_MS, NOW), 'lost')
  })

  it('of a holder that died are had by one who waits as long as is usual', async () => {
    const timing = new ManualTiming()
    const open = () =>
      new Locks({
        store: new DynamodbLocks(client, TableName, () => timing.monotonicMs()),
        clock: new ManualClock(NOW),
        timing,
        options: { timeoutMs: 20_000 },
        report: () => {},
      })
    const [dead, waiter] = [open(), open()]
    assert.ok((await dead.acquire('left')).acquired)
    let isOver = false
    const work = waiter
      .withLock('left', {}, async ({ fence }) => fence)
      .finally(() => {
        isOver = true
      })
    while (!isOver) {
      await timing.advance(50)
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    assert.ok((await work) > NOW * 1000)
    assert.ok(timing.monotonicMs() >= TTL_MS)
  })

  it('have fences by the time of the server, and are not deleted early, when a clock is days behind', async () => {
    const names = server.names()
    await createTables(client.sdk, names, TABLE_ROLES)
    const now = () => Date.now() - 3 * DAY_MS
    const url = parseStoreUrl(server.url(names)) as DynamodbUrl
    const { locks, close } = await openDynamodb(url, { credentials: CREDENTIALS, now })
    const keptMs = async () => {
      const input = { TableName: names.guards, Key: lockItemKey('behind'), ConsistentRead: true }
      return Number((await client.getItem('test', input))!.ttl!.N) * 1000 - Date.now()
    }
    try {
      const answer = await locks.acquire(attempt('behind', 'ann'), now())
      assert.ok(answer.outcome === 'acquired' && answer.fence! > (Date.now() - 60_000) * 1000)
      assert.ok((await keptMs()) > DAY_MS - 60_000)
      await locks.release('behind', 'ann', now())
      assert.ok((await keptMs()) > DAY_MS - 60_000)
    } finally {
      await close()
    }
  })

  it('lie in the table for guards, and vanish a day after their use', async () => {
    const locks = new DynamodbLocks(client, TableName)
    await locks.acquire(attempt('claim:1', 'ann'), NOW)
    const held = (await item('claim:1'))!
    assert.deepEqual(
      [held.PK, held.SK, held.lockOwner, held.leaseMs, held.expiresAt, held.fence],
      [
        { S: 'LOCK#claim:1' },
        { S: 'LOCK' },
        { S: 'ann' },
        { N: '30000' },
        { N: String(NOW + TTL_MS) },
        { N: String(NOW * 1000) },
      ],
    )
    assert.deepEqual(held.ttl, { N: String((NOW + TTL_MS) / 1000 + 86_400) })
    await locks.release('claim:1', 'ann', NOW + 1000)
    const free = (await item('claim:1'))!
    assert.deepEqual(Object.keys(free).sort(), ['PK', 'SK', 'fence', 'ttl'])
    assert.deepEqual(free.ttl, { N: String(NOW / 1000 + 1 + 86_400) })
  })
})
