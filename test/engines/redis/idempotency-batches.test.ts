import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { claimBy, claimed, JSON_ANSWER, KEY, owner } from '../../../src/conformance/idempotency/support.js'
import type { ClaimOutcome } from '../../../src/guards/idempotency/port.js'
import { commandCounts } from '../../support/redis/index.js'
import { oneServer } from '../../support/redis-engines.js'

const redis = oneServer()

describe('calls of one turn', () => {
  it('travel together, 16 to 32 at a time', async () => {
    const { idempotency } = await redis.open()
    await claimed(idempotency, claimBy(0, { key: { operation: 'WARM', key: 'x' } }), 0)
    const before = await redis.callsOf('evalsha')
    const claims = Array.from({ length: 96 }, (_, i) =>
      claimBy(i, { key: { operation: 'PRODUCE', key: `k${i}` } }),
    )
    const answers = await Promise.all(claims.map((claim) => idempotency.claim(claim, 0)))
    assert.ok(answers.every(({ outcome }) => outcome === 'claimed'))
    const calls = (await redis.callsOf('evalsha')) - before
    assert.ok(calls >= 3 && calls <= 6, `${calls} calls`)
  })

  it('are answered each in its place, whatever becomes of the others', async () => {
    const { idempotency } = await redis.open()
    const at = (key: string) => ({ operation: 'PRODUCE', key })
    const main = (key: string) => `bridge:idempotency:PRODUCE:${key}`
    await redis.raw('SET', main('foreign'), '"theirs"')
    await redis.raw('SADD', main('broken'), 'x')
    await claimed(idempotency, claimBy(8, { key: at('failed') }), 0)
    await idempotency.fail(at('failed'), owner(8), 'x', 0)
    await claimed(idempotency, claimBy(9, { key: at('taken') }), 0)
    const asked = ['a', 'foreign', 'b', 'broken', 'c', 'failed', 'd', 'taken', 'e']
    const claims = asked.map((key, i) => claimBy(i, { key: at(key), ...(i > 4 && { leaseMs: 7000 }) }))
    const answers = await Promise.allSettled(claims.map((claim) => idempotency.claim(claim, 0)))
    const told = answers.map((answer) => {
      if (answer.status === 'rejected') return answer.reason.code
      const { value } = answer
      return value.outcome === 'claimed' ? value.attempt : value.record.status
    })
    assert.deepEqual(told, [1, 'COMPLETED', 1, 'STORE_CORRUPT', 1, 2, 1, 'IN_PROGRESS', 1])
    for (const [i, leaseMs] of [
      [0, 30_000],
      [2, 30_000],
      [6, 7000],
      [8, 7000],
    ] as const) {
      const answer = (answers[i] as PromiseFulfilledResult<ClaimOutcome>).value
      const { expiresAt, leaseUntil, createdAt } = (await idempotency.read(at(asked[i]!), 0))!
      assert.equal(leaseUntil! - createdAt, leaseMs)
      assert.deepEqual(answer, { outcome: 'claimed', attempt: 1, expiresAt, leaseUntil })
    }
    const owners = { a: 0, taken: 1, b: 2 }
    const ends = await Promise.all(
      Object.entries(owners).map(([key, i]) => idempotency.complete(at(key), owner(i), JSON_ANSWER, 0)),
    )
    assert.deepEqual(ends, ['done', 'lost', 'done'])
  })

  it('replay in one round trip, the response included', async () => {
    const { idempotency } = await redis.open()
    await claimed(idempotency, claimBy(1), 0)
    await idempotency.complete(KEY, owner(1), JSON_ANSWER, 0)
    await redis.raw('CONFIG', 'RESETSTAT')
    const answer = await idempotency.claim(claimBy(2), 0)
    assert.ok(answer.outcome === 'found')
    assert.deepEqual(answer.record.response, JSON_ANSWER.response)
    const counts = await commandCounts(redis.server())
    assert.equal(counts.get('evalsha'), 1)
    // What the script does within the server is counted too, so only what travels is looked at.
    for (const command of ['evalsha_ro', 'eval', 'script|load']) assert.equal(counts.get(command), undefined)
  })
})

describe('claims of many callers, by the clock of the server', () => {
  it('leave one owner for each key', async () => {
    const stores = [(await redis.open()).idempotency, (await redis.open()).idempotency]
    for (let round = 0; round < 20; round++) {
      const key = { operation: 'PRODUCE', key: `r${round}` }
      const answers = await Promise.all(
        Array.from({ length: 40 }, (_, i) => stores[i % 2]!.claim(claimBy(i, { key }), 0)),
      )
      assert.equal(answers.filter(({ outcome }) => outcome === 'claimed').length, 1)
    }
  })
})
