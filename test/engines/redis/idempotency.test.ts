import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import {
  claimBy,
  claimed,
  HASH,
  JSON_ANSWER,
  KEY,
  LIFE_MS,
  owner,
} from '../../../src/conformance/idempotency/support.js'
import { failure } from '../../support/failure.js'
import { until } from '../../support/redis/index.js'
import { oneServer } from '../../support/redis-engines.js'

const redis = oneServer()
const MAIN = `bridge:idempotency:PRODUCE:${KEY.key}`
const STATE = `{${MAIN}}:state`

const FIELDS = [
  'status',
  'updatedAt',
  'leaseUntil',
  'expiresAt',
  'createdAt',
  'attempt',
  'owner',
  'requestHash',
]
/** As the README tells others to read it: words, of which all behind the eighth say how it ended. */
async function stateOf(key = STATE): Promise<Record<string, string>> {
  const words = String(await redis.raw('GET', key)).split(/ +/)
  const state = Object.fromEntries(FIELDS.map((field, i) => [field, words[i]!]))
  return words.length > FIELDS.length ? { ...state, rest: words.slice(FIELDS.length).join(' ') } : state
}
const keys = async (): Promise<string[]> => ((await redis.raw('KEYS', '*idempotency*')) as string[]).sort()

describe('the keys of a record', () => {
  it('are a state until it is completed, and then the response as other programs read it', async () => {
    const { idempotency } = await redis.open()
    const { expiresAt, leaseUntil } = await claimed(idempotency, claimBy(1), 0)
    assert.deepEqual(await keys(), [STATE])
    const { createdAt, updatedAt, ...state } = await stateOf()
    assert.deepEqual(state, {
      ...{ status: 'IN_PROGRESS', requestHash: HASH, attempt: '1', owner: owner(1) },
      ...{ leaseUntil: String(leaseUntil), expiresAt: String(expiresAt) },
    })
    assert.equal(createdAt, updatedAt)
    assert.equal(Number(createdAt) + LIFE_MS, expiresAt)
    await idempotency.complete(KEY, owner(1), JSON_ANSWER, 0)
    assert.equal(await redis.raw('GET', MAIN), JSON_ANSWER.response.text)
    const completed = await stateOf()
    const ended = ['status', 'owner', 'requestHash', 'createdAt', 'rest'].map((field) => completed[field])
    assert.deepEqual(ended, ['COMPLETED', owner(1), HASH, createdAt, undefined])
    assert.equal((await idempotency.read(KEY, 0))!.leaseUntil, undefined)
    assert.deepEqual(await keys(), [MAIN, STATE])
  })

  it('expire together, at the end of the record', async () => {
    const { idempotency } = await redis.open()
    const { expiresAt } = await claimed(idempotency, claimBy(1), 0)
    await idempotency.complete(KEY, owner(1), JSON_ANSWER, 0)
    for (const key of [MAIN, STATE]) assert.equal(await redis.raw('PEXPIRETIME', key), expiresAt, key)
  })

  it('live on when the lease outlives the record', async () => {
    const { idempotency } = await redis.open()
    await claimed(idempotency, claimBy(1, { lifeMs: 60_000 }), 0)
    await idempotency.extend(KEY, owner(1), 120_000, 0)
    const { leaseUntil, expiresAt } = await stateOf()
    assert.equal(leaseUntil, expiresAt)
    assert.equal(String(await redis.raw('PEXPIRETIME', STATE)), expiresAt)
  })

  it('hold gzip as bytes, and nothing where there is no response', async () => {
    const { idempotency } = await redis.open()
    const bytes = gzipSync('{"a":1}')
    await claimed(idempotency, claimBy(1), 0)
    await idempotency.complete(KEY, owner(1), { response: { encoding: 'gzip', bytes } }, 0)
    assert.equal(Number(await redis.raw('STRLEN', MAIN)), bytes.length)
    assert.equal((await stateOf()).rest, 'gzip')
    const none = { operation: 'PRODUCE', key: 'none' }
    await claimed(idempotency, claimBy(2, { key: none }), 0)
    await idempotency.complete(none, owner(2), { omittedBytes: 7 }, 0)
    assert.equal(await redis.raw('EXISTS', 'bridge:idempotency:PRODUCE:none'), 0)
    assert.equal((await stateOf('{bridge:idempotency:PRODUCE:none}:state')).rest, 'none 7')
  })

  it('say why it failed, and forget it with the next claim', async () => {
    const { idempotency } = await redis.open()
    await claimed(idempotency, claimBy(1), 0)
    const why = 'Error: não deu, nem  daria'
    await idempotency.fail(KEY, owner(1), why, 0)
    const failed = await stateOf()
    assert.deepEqual([failed.status, failed.attempt, failed.owner], ['FAILED', '1', owner(1)])
    assert.equal((await idempotency.read(KEY, 0))!.error, why)
    await claimed(idempotency, claimBy(2), 0)
    const again = await stateOf()
    assert.deepEqual([again.status, again.attempt, again.rest], ['IN_PROGRESS', '2', undefined])
    assert.equal(again.createdAt, failed.createdAt)
  })

  it('encode `:` in the operation, so that no name forges another', async () => {
    const { idempotency } = await redis.open()
    await claimed(idempotency, claimBy(1, { key: { operation: 'a:b', key: 'c' } }), 0)
    await claimed(idempotency, claimBy(2, { key: { operation: 'a', key: 'b:c' } }), 0)
    assert.deepEqual(await keys(), ['{bridge:idempotency:a%3Ab:c}:state', '{bridge:idempotency:a:b:c}:state'])
  })

  it('have no operation where the names are bare', async () => {
    const { idempotency } = await redis.open({ idempotencyNaming: 'bare' })
    const key = { operation: 'CreateClaim', key: 'req-20251025-100000-abc123' }
    await claimed(idempotency, claimBy(1, { key }), 0)
    await idempotency.complete(key, owner(1), JSON_ANSWER, 0)
    const main = 'bridge:idempotency:req-20251025-100000-abc123'
    assert.deepEqual(await keys(), [main, `{${main}}:state`])
    assert.equal(await redis.raw('GET', main), JSON_ANSWER.response.text)
  })
})

describe('what another program recorded', () => {
  it('is completed, fits every request, and ends when its key does', async () => {
    const { idempotency } = await redis.open()
    await redis.raw('SETEX', MAIN, '86400', '{"status":"SUCCESS"}')
    const record = await idempotency.claim(claimBy(1), 0)
    assert.ok(record.outcome === 'found')
    const { status, requestHash, response, expiresAt } = record.record
    assert.deepEqual([status, requestHash], ['COMPLETED', undefined])
    assert.deepEqual(response, { encoding: 'json', text: '{"status":"SUCCESS"}' })
    assert.ok(Math.abs(expiresAt - record.at - LIFE_MS) < 2000)
    assert.deepEqual((await idempotency.read(KEY, 0))!.response, response)
    assert.equal(await idempotency.remove(KEY), true)
    assert.deepEqual(await keys(), [])
  })

  it('is known as gzip by its first bytes, and may never expire', async () => {
    const { idempotency } = await redis.open()
    // The server writes it, because a command of text cannot hold these bytes.
    const script = "return redis.call('SET', KEYS[1], string.char(31, 139, 8, 0))"
    await redis.raw('EVAL', script, '1', MAIN)
    const { response, expiresAt } = (await idempotency.read(KEY, 0))!
    assert.ok(response?.encoding === 'gzip')
    assert.deepEqual([...response.bytes], [31, 139, 8, 0])
    assert.equal(new Date(expiresAt).toISOString(), '9999-12-31T23:59:59.999Z')
  })

  it('while somebody works on it here stays, and the work is lost', async () => {
    const { idempotency } = await redis.open()
    await claimed(idempotency, claimBy(1), 0)
    await redis.raw('SETEX', MAIN, '100', '"theirs"')
    const other = await idempotency.claim(claimBy(2), 0)
    assert.ok(other.outcome === 'found' && other.record.status === 'COMPLETED')
    assert.equal(await idempotency.extend(KEY, owner(1), 1000, 0), 'lost')
    assert.equal(await idempotency.fail(KEY, owner(1), 'x', 0), 'lost')
    assert.equal(await idempotency.complete(KEY, owner(1), JSON_ANSWER, 0), 'lost')
    assert.equal(await idempotency.complete(KEY, owner(1), {}, 0), 'lost')
    assert.equal(await redis.raw('GET', MAIN), '"theirs"')
  })

  it('in another form is refused, and never overwritten', async () => {
    const { idempotency } = await redis.open()
    await redis.raw('SADD', MAIN, 'x')
    await failure(idempotency.claim(claimBy(1), 0), 'STORE_CORRUPT')
    assert.equal(await redis.raw('TYPE', MAIN), 'set')
  })

  it('under the name of a state is refused too', async () => {
    const { idempotency } = await redis.open()
    for (const write of [
      ['SET', STATE, 'something'],
      ['HSET', STATE, 'status', 'COMPLETED'],
    ]) {
      await redis.raw('DEL', STATE)
      await redis.raw(...(write as [string, ...string[]]))
      await failure(idempotency.claim(claimBy(1), 0), 'STORE_CORRUPT')
      await failure(idempotency.read(KEY, 0), 'STORE_CORRUPT')
    }
  })
})

describe('a response that is gone', () => {
  it('is an error, and never a reason to do it again', async () => {
    const { idempotency } = await redis.open()
    await claimed(idempotency, claimBy(1), 0)
    await idempotency.complete(KEY, owner(1), JSON_ANSWER, 0)
    await redis.raw('DEL', MAIN)
    await failure(idempotency.claim(claimBy(2), 0), 'STORE_CORRUPT')
    await failure(idempotency.read(KEY, 0), 'STORE_CORRUPT')
    assert.equal(await idempotency.remove(KEY), true)
    await claimed(idempotency, claimBy(2), 0)
  })
})

describe('the clock of records', () => {
  it('is that of the server, whatever a process believes', async () => {
    const [one, two] = [await redis.open(), await redis.open()]
    const hour = 3_600_000
    const { leaseUntil } = await claimed(one.idempotency, claimBy(1), Date.now() - hour)
    assert.ok(Math.abs(leaseUntil - Date.now() - 30_000) < 2000)
    const ahead = await two.idempotency.claim(claimBy(2), Date.now() + hour)
    assert.ok(ahead.outcome === 'found' && ahead.record.status === 'IN_PROGRESS')
    assert.ok(Math.abs(ahead.at - Date.now()) < 2000)
  })

  it('ends a record by itself', async () => {
    const { idempotency } = await redis.open()
    await claimed(idempotency, claimBy(1, { lifeMs: 30, leaseMs: 30 }), 0)
    await until('its key is gone', async () => (await keys()).length === 0)
    assert.equal((await claimed(idempotency, claimBy(2), 0)).attempt, 1)
  })
})
