import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  claimBy,
  claimed,
  found,
  JSON_ANSWER,
  LEASE_MS,
  noise,
  owner,
} from '../../../src/conformance/idempotency/support.js'
import { NOW } from '../../../src/conformance/support.js'
import type { RecordKey } from '../../../src/guards/idempotency/types.js'
import { makeRecords } from '../../support/dynamodb-idempotency.js'
import { startDynamo } from '../../support/dynamodb-server.js'

const server = await startDynamo('dynoxide')
const records = await makeRecords(server)
const engine = await records.open()
const store = engine.idempotency

let made = 0
const newKey = (operation: string): RecordKey => ({ operation, key: `key-${made++}` })
const by = (i: number, key: RecordKey) => claimBy(i, { key })

describe('what it costs', () => {
  const unitsOf = async (verb: string, call: () => Promise<unknown>) => {
    engine.capacity.reset()
    await call()
    return engine.capacity.of(`idempotency.${verb}`)
  }
  const one = { calls: 1, readUnits: 0, writeUnits: 1 }

  it('is one write unit for each verb', async () => {
    const key = newKey('COST')
    assert.deepEqual(await unitsOf('claim', () => claimed(store, by(1, key))), one)
    assert.deepEqual(await unitsOf('extend', () => store.extend(key, owner(1), LEASE_MS, NOW)), one)
    assert.deepEqual(await unitsOf('fail', () => store.fail(key, owner(1), 'x', NOW)), one)
    assert.deepEqual(await unitsOf('claim', () => claimed(store, by(2, key))), one)
    assert.deepEqual(await unitsOf('claim', () => claimed(store, by(3, key), NOW + LEASE_MS)), one)
    assert.deepEqual(await unitsOf('complete', () => store.complete(key, owner(3), JSON_ANSWER, NOW)), one)
    const gone = newKey('COST')
    await claimed(store, by(1, gone))
    assert.deepEqual(await unitsOf('release', () => store.release(gone, owner(1), NOW)), one)
  })

  it('is one refused write for a replay', async () => {
    const key = newKey('COST')
    await claimed(store, by(1, key))
    await store.complete(key, owner(1), JSON_ANSWER, NOW)
    engine.capacity.reset()
    await found(store, by(2, key))
    assert.deepEqual(engine.capacity.rows(), [])
    const [retry] = engine.capacity.retries()
    assert.deepEqual([retry!.verb, retry!.refused], ['idempotency.claim', 1])
  })

  it('is half a read unit for a replay that is read first', async () => {
    const reading = await records.open({ idempotencyReadFirst: 'always' })
    const key = newKey('COST')
    await claimed(reading.idempotency, by(1, key))
    await reading.idempotency.complete(key, owner(1), JSON_ANSWER, NOW)
    reading.capacity.reset()
    assert.deepEqual((await found(reading.idempotency, by(2, key))).response, JSON_ANSWER.response)
    assert.deepEqual(reading.capacity.of('idempotency.replay'), { calls: 1, readUnits: 0.5, writeUnits: 0 })
    assert.deepEqual(reading.capacity.retries(), [])
    await reading.close()
  })

  it('is read first by itself where large records are found again and again, and only for that operation', async () => {
    const learning = await records.open()
    const { idempotency: own, capacity } = learning
    const key = { operation: 'LARGE', key: 'x' }
    await claimed(own, by(1, key))
    const bytes = noise(30_000)
    await own.complete(key, owner(1), { response: { encoding: 'gzip', bytes } }, NOW)
    capacity.reset()
    for (let i = 0; i < 5; i++) await found(own, by(2, key))
    assert.equal(capacity.retries()[0]!.refused, 1)
    assert.deepEqual(capacity.of('idempotency.replay'), { calls: 4, readUnits: 16, writeUnits: 0 })
    capacity.reset()
    await claimed(own, by(1, { operation: 'SMALL', key: 'y' }))
    assert.equal(capacity.of('idempotency.replay').calls, 0)
    // What is new costs the read, so it is given up when nothing is found for a while.
    for (let i = 0; i < 100; i++) await claimed(own, by(1, { operation: 'LARGE', key: `new-${i}` }))
    capacity.reset()
    await claimed(own, by(1, { operation: 'LARGE', key: 'last' }))
    assert.equal(capacity.of('idempotency.replay').calls, 0)
    await learning.close()
  })
})

describe('the clock of records', () => {
  it('is that of DynamoDB, where a process is a minute off', async () => {
    const offsets = [-60_000, 0, 60_000]
    for (const offsetMs of offsets) {
      const now = () => Date.now() + offsetMs
      const skewed = await records.open({ now })
      const key = newKey('SKEWED')
      const { leaseUntil } = await claimed(skewed.idempotency, by(1, key), now())
      assert.ok(
        Math.abs(leaseUntil - Date.now() - LEASE_MS) < 2000,
        `${offsetMs}: ${leaseUntil - Date.now()}`,
      )
      for (const otherMs of offsets) {
        const otherNow = () => Date.now() + otherMs
        const other = await records.open({ now: otherNow })
        const answer = await other.idempotency.claim(by(2, key), otherNow())
        assert.ok(
          answer.outcome === 'found' && answer.record.status === 'IN_PROGRESS',
          `${offsetMs} ${otherMs}`,
        )
        await other.close()
      }
      await skewed.close()
    }
  })
})
