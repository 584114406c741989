import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import {
  claimBy,
  claimed,
  found,
  JSON_ANSWER,
  LEASE_MS,
  LIFE_MS,
  noise,
  owner,
  sameBytes,
} from '../../../src/conformance/idempotency/support.js'
import { NOW } from '../../../src/conformance/support.js'
import { CatracaError } from '../../../src/core/errors.js'
import { openDynamodb } from '../../../src/engines/dynamodb/index.js'
import type { IdempotencyStore } from '../../../src/guards/idempotency/port.js'
import type { RecordKey } from '../../../src/guards/idempotency/types.js'
import { atEnd } from '../../support/at-end.js'
import { startFaultProxy } from '../../support/dynamodb-faults.js'
import { makeRecords } from '../../support/dynamodb-idempotency.js'
import { CREDENTIALS, startDynamo } from '../../support/dynamodb-server.js'
import { failure } from '../../support/failure.js'
import { inTime } from '../../support/in-time.js'

const TIMEOUT_MS = 400
const server = await startDynamo('dynoxide')
const proxy = await startFaultProxy(server.endpoint)
const records = await makeRecords(server)
const direct = await records.open()
const throughProxy = (options = {}) =>
  openDynamodb(
    { ...records.tables.url, endpoint: proxy.endpoint },
    { credentials: CREDENTIALS, probeIntervalMs: 0, checkTables: false, requestTimeoutMs: 1500, ...options },
  )
const faulty = await throughProxy()
const store = faulty.idempotency
const brief = await throughProxy({ readTimeoutMs: TIMEOUT_MS, writeTimeoutMs: TIMEOUT_MS })
atEnd(async () => {
  for (const engine of [direct, faulty, brief]) await engine.close()
})
beforeEach(() => proxy.clear())

let made = 0
const newKey = (): RecordKey => ({ operation: 'CONSUME', key: `key-${made++}` })
const by = (i: number, key: RecordKey) => claimBy(i, { key })
const large = { response: { encoding: 'gzip', bytes: noise(500_000) } } as const
const lose = (operation: string) => proxy.inject({ kind: 'reset', when: 'after' }, { operation, times: 1 })

describe('an answer that is lost', () => {
  it('of a claim is asked for again, and says that it was claimed', async () => {
    const key = newKey()
    lose('UpdateItem')
    assert.equal((await claimed(store, by(1, key))).attempt, 1)
    await direct.idempotency.fail(key, owner(1), undefined, NOW)
    lose('UpdateItem')
    assert.equal((await claimed(store, by(2, key))).attempt, 2)
    lose('UpdateItem')
    assert.equal((await claimed(store, by(3, key), NOW + LEASE_MS)).attempt, 3)
    lose('PutItem')
    assert.equal((await claimed(store, by(4, key), NOW + LIFE_MS)).attempt, 1)
    assert.equal((await found(direct.idempotency, by(5, key), NOW + LIFE_MS)).attempt, 1)
  })

  it('of what an owner does is done', async () => {
    const key = newKey()
    await claimed(store, by(1, key))
    lose('UpdateItem')
    assert.equal(await store.extend(key, owner(1), LEASE_MS, NOW), 'done')
    lose('UpdateItem')
    assert.equal(await store.fail(key, owner(1), 'x', NOW), 'done')
    await claimed(store, by(2, key))
    lose('UpdateItem')
    assert.equal(await store.release(key, owner(2), NOW), 'done')
    await claimed(store, by(3, key))
    lose('UpdateItem')
    assert.equal(await store.complete(key, owner(3), JSON_ANSWER, NOW), 'done')
    lose('DeleteItem')
    assert.equal(await store.remove(key), true)
    await claimed(store, by(4, key))
    lose('DeleteItem')
    assert.equal(await store.release(key, owner(4), NOW), 'done')
    assert.equal(await records.item(key), undefined)
  })

  it('of a response in parts is done, and the parts stay', async () => {
    const key = newKey()
    await claimed(store, by(1, key))
    lose('BatchWriteItem')
    lose('UpdateItem')
    assert.equal(await store.complete(key, owner(1), large, NOW), 'done')
    const { response } = await found(direct.idempotency, by(2, key))
    assert.ok(response?.encoding === 'gzip')
    sameBytes(response.bytes, large.response.bytes)
  })

  it('for good is an unknown outcome, which the same owner settles by asking again', async () => {
    const key = newKey()
    proxy.inject({ kind: 'reset', when: 'after' }, { operation: 'UpdateItem' })
    await failure(brief.idempotency.claim(by(1, key), NOW), 'UNKNOWN_OUTCOME')
    proxy.clear()
    assert.equal((await claimed(store, by(1, key))).attempt, 1)
    proxy.inject({ kind: 'reset', when: 'after' }, { operation: 'UpdateItem' })
    await failure(brief.idempotency.complete(key, owner(1), JSON_ANSWER, NOW), 'UNKNOWN_OUTCOME')
    proxy.clear()
    assert.equal(await store.complete(key, owner(1), JSON_ANSWER, NOW), 'done')
  })
})

describe('a response in parts that was not finished', () => {
  it('leaves the record in progress, for the same owner or the next', async () => {
    const key = newKey()
    await claimed(store, by(1, key))
    proxy.inject({ kind: 'reset', when: 'before' }, { operation: 'UpdateItem' })
    await assert.rejects(brief.idempotency.complete(key, owner(1), large, NOW), CatracaError)
    proxy.clear()
    assert.equal((await direct.idempotency.read(key, NOW))!.status, 'IN_PROGRESS')
    await claimed(store, by(2, key), NOW + LEASE_MS)
    const mine = { response: { encoding: 'gzip', bytes: noise(600_000) } } as const
    assert.equal(await store.complete(key, owner(2), mine, NOW + LEASE_MS), 'done')
    const { response } = await found(direct.idempotency, by(3, key), NOW + LEASE_MS)
    assert.ok(response?.encoding === 'gzip')
    sameBytes(response.bytes, mine.response.bytes)
  })
})

describe('throttling', () => {
  it('is waited for', async () => {
    const key = newKey()
    for (const operation of ['UpdateItem', 'BatchWriteItem', 'BatchGetItem']) {
      proxy.inject({ kind: 'throttled' }, { operation, times: 2 })
    }
    await claimed(store, by(1, key))
    assert.equal(await store.complete(key, owner(1), large, NOW), 'done')
    assert.equal((await found(store, by(2, key))).response?.encoding, 'gzip')
  })
})

describe('without DynamoDB', () => {
  const verbs: Record<string, (own: IdempotencyStore, key: RecordKey) => Promise<unknown>> = {
    claim: (own, key) => own.claim(by(1, key), NOW),
    complete: (own, key) => own.complete(key, owner(1), JSON_ANSWER, NOW),
    'complete in parts': (own, key) => own.complete(key, owner(1), large, NOW),
    fail: (own, key) => own.fail(key, owner(1), 'x', NOW),
    release: (own, key) => own.release(key, owner(1), NOW),
    extend: (own, key) => own.extend(key, owner(1), LEASE_MS, NOW),
    read: (own, key) => own.read(key, NOW),
    remove: (own, key) => own.remove(key),
  }
  for (const [name, verb] of Object.entries(verbs)) {
    it(`${name} fails within the timeout, and works behind it`, async () => {
      const key = newKey()
      await claimed(store, by(1, key))
      for (const fault of [{ kind: 'server-error' }, { kind: 'delay', ms: 60_000 }] as const) {
        proxy.inject(fault)
        const asked = inTime(verb(brief.idempotency, key), 2 * TIMEOUT_MS + 2000, fault.kind)
        await assert.rejects(asked, CatracaError)
        proxy.clear()
      }
      await verb(store, key)
    })
  }
})
