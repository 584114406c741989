import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { describe, it } from 'node:test'
import {
  claimBy,
  claimed,
  found,
  HASH,
  JSON_ANSWER,
  LEASE_MS,
  LIFE_MS,
  noise,
  OTHER_HASH,
  owner,
  sameBytes,
} from '../../../src/conformance/idempotency/support.js'
import { NOW } from '../../../src/conformance/support.js'
import { ManualClock } from '../../../src/core/clock.js'
import type { Item } from '../../../src/engines/dynamodb/client/attributes.js'
import { Idempotency } from '../../../src/guards/idempotency/index.js'
import { DEFAULT_IDEMPOTENCY } from '../../../src/guards/idempotency/options.js'
import type { RecordKey } from '../../../src/guards/idempotency/types.js'
import { makeRecords } from '../../support/dynamodb-idempotency.js'
import { startDynamo } from '../../support/dynamodb-server.js'
import { failure } from '../../support/failure.js'

const server = await startDynamo('dynoxide')
const records = await makeRecords(server)
const engine = await records.open()
const store = engine.idempotency

let made = 0
const newKey = (): RecordKey => ({ operation: 'PRODUCE', key: `key-${made++}` })
const by = (i: number, key: RecordKey) => claimBy(i, { key })
const iso = (ms: number): string => new Date(ms).toISOString()

describe('the item of a record', () => {
  it('has the attributes of the source, with its types, and ours beside them', async () => {
    const key = newKey()
    await claimed(store, by(1, key))
    const common: Item = {
      pk: { S: `PRODUCE#${key.key}` },
      operationType: { S: 'PRODUCE' },
      idempotencyKey: { S: key.key },
      requestHash: { S: HASH },
      createdAt: { S: iso(NOW) },
      expiresAt: { S: iso(NOW + LIFE_MS) },
      ttl: { N: String(Math.ceil((NOW + LIFE_MS) / 1000)) },
      attempt: { N: '1' },
      owner: { S: owner(1) },
    }
    assert.deepEqual(await records.item(key), {
      ...common,
      status: { S: 'IN_PROGRESS' },
      updatedAt: { S: iso(NOW) },
      leaseUntil: { S: iso(NOW + LEASE_MS) },
    })
    await store.complete(key, owner(1), JSON_ANSWER, NOW + 10)
    assert.deepEqual(await records.item(key), {
      ...common,
      status: { S: 'COMPLETED' },
      updatedAt: { S: iso(NOW + 10) },
      responsePayload: { S: JSON_ANSWER.response.text },
    })
  })

  it('is the same when a failed or an expired one was claimed again', async () => {
    const key = newKey()
    await claimed(store, by(1, key))
    await store.fail(key, owner(1), 'down', NOW)
    const failed = (await records.item(key))!
    assert.deepEqual(
      [failed.status, failed.error, failed.leaseUntil],
      [{ S: 'FAILED' }, { S: 'down' }, undefined],
    )
    await claimed(store, by(2, key), NOW + 5)
    const again = (await records.item(key))!
    assert.deepEqual([again.attempt, again.error, again.createdAt], [{ N: '2' }, undefined, { S: iso(NOW) }])
    const late = NOW + LIFE_MS
    await claimed(store, by(3, key), late)
    const fresh = (await records.item(key))!
    assert.deepEqual([fresh.attempt, fresh.createdAt], [{ N: '1' }, { S: iso(late) }])
    assert.deepEqual(
      [fresh.expiresAt, fresh.ttl],
      [{ S: iso(late + LIFE_MS) }, { N: String((late + LIFE_MS) / 1000) }],
    )
  })

  it('is not deleted before it has expired', async () => {
    const key = newKey()
    await claimed(store, claimBy(1, { key, lifeMs: 90_001 }))
    const { ttl, expiresAt } = (await records.item(key))!
    assert.ok(Number(ttl!.N) * 1000 >= Date.parse(expiresAt!.S!))
  })

  it('has compressed bytes as such, and moves them out above 32 KiB', async () => {
    const [small, large] = [newKey(), newKey()]
    for (const [key, bytes] of [
      [small, noise(32 * 1024)],
      [large, noise(32 * 1024 + 1)],
    ] as const) {
      await claimed(store, by(1, key))
      await store.complete(key, owner(1), { response: { encoding: 'gzip', bytes } }, NOW)
      const { response } = await found(store, by(2, key))
      assert.ok(response?.encoding === 'gzip')
      sameBytes(response.bytes, bytes)
    }
    const inside = (await records.item(small))!
    assert.deepEqual([inside.responseBytes!.B!.length, inside.responseEncoding], [32 * 1024, { S: 'gzip' }])
    const outside = (await records.item(large))!
    assert.deepEqual([outside.responseBytes, outside.responsePartCount], [undefined, { N: '1' }])
  })

  it('encodes `:` in the operation', async () => {
    await claimed(store, claimBy(1, { key: { operation: 'a:b', key: 'c:d' } }))
    assert.equal((await records.item({ operation: 'a%3Ab', key: 'c:d' }))!.operationType!.S, 'a:b')
  })
})

const guard = (naming: 'operation' | 'bare' = 'operation') => {
  const options = { ...DEFAULT_IDEMPOTENCY, naming }
  return new Idempotency({ store, options, clock: new ManualClock(NOW), report: () => {} })
}

describe('records that are named by their key alone', () => {
  it('keep the operation, and are another request for any other', async () => {
    const idempotency = guard('bare')
    const { key } = newKey()
    const claim = { operation: 'CreateClaim', key, payload: 1 }
    const begun = await idempotency.begin(claim)
    assert.ok(begun.outcome === 'claimed')
    await idempotency.complete(claim, begun.token, 'claim')
    assert.deepEqual(await idempotency.begin(claim), { outcome: 'replayed', value: 'claim' })
    const other = { ...claim, operation: 'CreateEntry' }
    assert.deepEqual(await idempotency.begin(other), { outcome: 'refused', reason: 'other-request' })
    assert.equal((await idempotency.get(other))!.operationType, 'CreateClaim')
    assert.equal((await records.item({ operation: 'REQUEST', key }))!.status!.S, 'COMPLETED')
  })
})

/** As the source has it, without anything of ours. */
async function foreign(changes: Item): Promise<RecordKey> {
  const key = newKey()
  await records.put({
    pk: { S: `PRODUCE#${key.key}` },
    operationType: { S: 'PRODUCE' },
    idempotencyKey: { S: key.key },
    status: { S: 'IN_PROGRESS' },
    requestHash: { S: HASH },
    createdAt: { S: iso(NOW).replace('.000Z', 'Z') },
    updatedAt: { S: iso(NOW).replace('.000Z', 'Z') },
    expiresAt: { S: iso(NOW + LIFE_MS).replace('.000Z', 'Z') },
    ttl: { N: String((NOW + LIFE_MS) / 1000) },
    ...changes,
  })
  return key
}

describe('what another program wrote', () => {
  it('is replayed when it is completed', async () => {
    const key = await foreign({
      status: { S: 'COMPLETED' },
      responsePayload: { S: '{"processedMessages":100}' },
    })
    const record = await found(store, by(1, key), NOW + 1)
    assert.deepEqual(record, {
      ...{ key, status: 'COMPLETED', requestHash: HASH, attempt: 1, createdAt: NOW, updatedAt: NOW },
      ...{ expiresAt: NOW + LIFE_MS, leaseUntil: undefined, response: JSON_ANSWER.response },
      ...{ omittedBytes: undefined, error: undefined, takesOver: true, isForeign: true },
    })
  })

  it('is of this request where its hash is of the payload as it came, and the caller shows that', async () => {
    const idempotency = guard()
    const raw = '{"b": 1, "a": 2}'
    const completed = { status: { S: 'COMPLETED' }, responsePayload: { S: '7' } }
    const key = await foreign({ ...completed, requestHash: { S: hash('sha256', raw).toUpperCase() } })
    const request = { ...key, payload: JSON.parse(raw) }
    assert.deepEqual(await idempotency.begin({ ...request, rawPayload: raw }), {
      ...{ outcome: 'replayed', value: 7 },
    })
    const refused = { outcome: 'refused', reason: 'other-request' }
    assert.deepEqual(await idempotency.begin(request), refused)
    assert.deepEqual(await idempotency.begin({ ...request, rawPayload: `${raw} ` }), refused)
    const own = newKey()
    await idempotency.begin({ ...own, requestHash: hash('sha256', raw) })
    assert.deepEqual(await idempotency.begin({ ...own, payload: 5, rawPayload: raw }), refused)
  })

  it('is in progress as long as it lives, because it has no lease', async () => {
    const key = await foreign({})
    const record = await found(store, by(1, key), NOW + LIFE_MS - 1)
    assert.deepEqual([record.status, record.leaseUntil], ['IN_PROGRESS', NOW + LIFE_MS])
    assert.equal((await found(store, claimBy(1, { key, requestHash: OTHER_HASH }))).requestHash, HASH)
    assert.equal(await store.complete(key, owner(1), JSON_ANSWER, NOW), 'lost')
    assert.equal((await claimed(store, by(1, key), NOW + LIFE_MS)).attempt, 1)
  })

  it('is claimed again when it failed, unless it is another request', async () => {
    const key = await foreign({ status: { S: 'FAILED' } })
    assert.equal((await found(store, claimBy(1, { key, requestHash: OTHER_HASH }))).status, 'FAILED')
    const again = await claimed(store, by(1, key), NOW + 1)
    assert.deepEqual([again.attempt, again.expiresAt], [2, NOW + LIFE_MS])
    assert.equal(await store.complete(key, owner(1), JSON_ANSWER, NOW + 2), 'done')
  })

  it('counts by the moment that it means, however that is spelled', async () => {
    const ends = NOW + LIFE_MS
    // Three hours behind, as text it is over long before it is.
    const local = `${iso(ends - 3 * 3_600_000).slice(0, 19)}-03:00`
    for (const spelled of [local, `${iso(ends).slice(0, 23)}456Z`]) {
      const key = await foreign({ expiresAt: { S: spelled } })
      assert.equal((await found(store, by(1, key), ends - 1)).status, 'IN_PROGRESS', spelled)
      assert.equal((await claimed(store, by(1, key), ends + 1)).attempt, 1, spelled)
    }
  })

  it('without an expiry lives until its ttl, or for good', async () => {
    const { expiresAt: _, ttl: __, ...bare } = (await records.item(await foreign({})))!
    for (const [ttl, ends] of [
      [NOW / 1000 + 60, NOW + 60_000],
      [undefined, Date.parse('9999-12-31T23:59:59.999Z')],
    ]) {
      const key = newKey()
      await records.put({
        ...bare,
        pk: { S: `PRODUCE#${key.key}` },
        ...(ttl !== undefined && { ttl: { N: String(ttl) } }),
      })
      assert.equal((await found(store, by(1, key))).expiresAt, ends)
    }
  })

  it('with a status that is none is an error', async () => {
    await failure(store.claim(by(1, await foreign({ status: { S: 'DONE' } })), NOW), 'STORE_CORRUPT')
  })
})

describe('a response in parts', () => {
  const large = { response: { encoding: 'gzip', bytes: noise(800_000) } } as const

  it('lies in items that no record can be, which outlive the record and go with it', async () => {
    const key = newKey()
    await claimed(store, by(1, key))
    await store.complete(key, owner(1), large, NOW)
    const parts = (await records.all(`PRODUCE#${key.key}#PART#`)).sort((a, b) =>
      a.pk!.S! < b.pk!.S! ? -1 : 1,
    )
    assert.deepEqual(
      parts.map(({ pk }) => pk!.S!.at(-1)),
      ['0', '1', '2'],
    )
    sameBytes(Buffer.concat(parts.map(({ part }) => part!.B!)), large.response.bytes)
    for (const { ttl } of parts) assert.ok(Number(ttl!.N) * 1000 > NOW + LIFE_MS)
    assert.equal(await store.remove(key), true)
    assert.deepEqual(await records.all(`PRODUCE#${key.key}`), [])
  })

  it('that is not whole is an error, and never a reason to do it again', async () => {
    const key = newKey()
    await claimed(store, by(1, key))
    await store.complete(key, owner(1), large, NOW)
    await records.remove((await records.all(`PRODUCE#${key.key}#PART#`))[1]!)
    await failure(store.claim(by(2, key), NOW + LEASE_MS), 'STORE_CORRUPT')
    await failure(store.read(key, NOW), 'STORE_CORRUPT')
    assert.equal((await records.item(key))!.status!.S, 'COMPLETED')
  })

  it('of an owner who has lost the record is not even written', async () => {
    const key = newKey()
    await claimed(store, by(1, key))
    await claimed(store, by(2, key), NOW + LEASE_MS)
    assert.equal(await store.complete(key, owner(1), large, NOW + LEASE_MS), 'lost')
    assert.deepEqual(await records.all(`PRODUCE#${key.key}#PART#`), [])
  })

  it('of one owner who completes many times at once is kept once', async () => {
    const key = newKey()
    await claimed(store, by(1, key))
    const all = Array.from({ length: 5 }, () => store.complete(key, owner(1), large, NOW))
    assert.deepEqual(new Set(await Promise.all(all)), new Set(['done']))
    assert.equal((await records.all(`PRODUCE#${key.key}#PART#`)).length, 3)
    const { response } = await found(store, by(2, key))
    assert.ok(response?.encoding === 'gzip')
    sameBytes(response.bytes, large.response.bytes)
  })
})
