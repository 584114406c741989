import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { type Catraca, type ManualTime, manualClock } from '../../src/index.js'
import { inTime } from '../support/in-time.js'
import { openPatiently, PATIENCE_MS } from '../support/patient.js'
import { until } from '../support/redis/process.js'

const START = '2030-01-01T12:00:00.000Z'
const MINUTE_MS = 60_000

describe('with a manual clock', () => {
  let catraca: Catraca
  let clock: ManualTime
  before(async () => {
    clock = manualClock(START)
    catraca = await openPatiently({ store: 'memory:', clock })
  })
  after(() => catraca.close())
  const isoIn = (ms: number) => new Date(clock.now() + ms).toISOString()

  it('members of allowlists expire, with and without an index', async () => {
    const { allowlists } = catraca
    await allowlists.create({ id: 'beta', name: 'Beta', type: 'FIXA' })
    for (const id of ['ann', 'bob']) await allowlists.add('beta', id, { expiresAt: isoIn(MINUTE_MS) })
    const reasonOf = async (id: string) => (await allowlists.check(id, ['beta'])).results[0]!.reason
    assert.equal(await reasonOf('ann'), 'MEMBER')
    await allowlists.rebuild('beta')
    assert.deepEqual([await reasonOf('ann'), await reasonOf('bob')], ['MEMBER', 'MEMBER'])
    clock.advance(MINUTE_MS)
    assert.deepEqual([await reasonOf('ann'), await reasonOf('bob')], ['MEMBER_EXPIRED', 'MEMBER_EXPIRED'])
  })

  it('waves open and close', async () => {
    const { allowlists } = catraca
    const now = clock.now()
    const config = {
      strategy: 'PERCENTAGE',
      percentage: 1,
      startTime: now + 1000,
      endTime: now + 1500,
    } as const
    await allowlists.create({ id: 'wave', name: 'Wave', type: 'ONDA', config })
    const reasons: string[] = []
    for (let i = 0; i < 3; i++) {
      reasons.push((await allowlists.check('ann', ['wave'])).results[0]!.reason)
      clock.advance(1000)
    }
    assert.deepEqual(reasons, ['OUTSIDE_WINDOW', 'IN_WAVE', 'OUTSIDE_WINDOW'])
  })

  it('every kind of limit refills', async () => {
    for (const algorithm of [
      ...(['token-bucket', 'sliding-window', 'sliding-window-counter'] as const),
      ...(['fixed-window', 'concurrency'] as const),
    ]) {
      const request = {
        ...{ entity: 'ann', resource: algorithm },
        limits: { rpm: { capacity: 1, refillPeriodSeconds: 60, algorithm } },
      }
      const allowed = async () => (await catraca.limits.acquire(request)).allowed
      assert.deepEqual([await allowed(), await allowed()], [true, false], algorithm)
      // The estimate of two windows needs both to pass.
      clock.advance(2 * MINUTE_MS)
      assert.equal(await allowed(), true, algorithm)
    }
  })

  it('idempotency records expire, and claims are renewed, taken over, or waited for', async () => {
    const { idempotency } = catraca
    const request = { operation: 'PAY', key: 'k1', leaseMs: 30_000, expirySeconds: 600 }
    let finish: ((value: string) => void) | undefined
    const work = () => new Promise<string>((resolve) => (finish = resolve))
    const running = idempotency.run(request, work)
    await until('it is at work', () => finish !== undefined)
    await clock.pass(5 * MINUTE_MS)
    // Whoever runs renews its claim, so it is still held after ten leases.
    assert.equal((await idempotency.run(request, () => 'other')).outcome, 'refused')
    const waiting = idempotency.run({ ...request, waitMs: MINUTE_MS }, () => 'other')
    await clock.pass(MINUTE_MS)
    assert.equal((await inTime(waiting, PATIENCE_MS, 'the wait ends by the clock')).outcome, 'refused')
    finish!('done')
    assert.equal((await running).outcome, 'executed')
    assert.equal((await idempotency.run(request, () => 'other')).outcome, 'replayed')
    clock.advance(10 * MINUTE_MS)
    assert.deepEqual((await idempotency.run(request, () => 'again')).outcome, 'executed')

    let signal: AbortSignal | undefined
    const lost = idempotency.run({ ...request, key: 'k2' }, (context) => {
      signal = context.signal
      return work()
    })
    await until('it is at work', () => signal !== undefined)
    clock.advance(30_000)
    assert.equal(signal!.aborted, true)
    assert.equal((await idempotency.run({ ...request, key: 'k2' }, () => 'other')).outcome, 'executed')
    finish!('too late')
    await assert.rejects(lost, { code: 'IDEMPOTENCY_CLAIM_LOST' })
  })

  it('locks expire, are renewed, and are waited for', async () => {
    const { locks } = catraca
    const first = await locks.acquire('job', { ttlMs: 10_000 })
    assert.ok(first.acquired)
    const refused = locks.acquire('job', { ttlMs: 10_000, waitMs: 5000 })
    await clock.pass(5000)
    assert.equal((await inTime(refused, PATIENCE_MS, 'the wait ends by the clock')).acquired, false)
    const waiting = locks.acquire('job', { ttlMs: 10_000, waitMs: 10_000 })
    await clock.pass(5001)
    const second = await inTime(waiting, PATIENCE_MS, 'the lock expires by the clock')
    assert.ok(second.acquired)
    const third = locks.acquire('job', { ttlMs: 10_000, waitMs: 10_000 })
    await locks.release('job', second.token)
    // A release needs no time to pass.
    assert.ok((await inTime(third, PATIENCE_MS, 'it is told of the release')).acquired)

    await locks.forceRelease('job')
    await using held = await locks.hold('job', { ttlMs: 10_000 })
    const before = clock.now()
    await clock.pass(10 * MINUTE_MS)
    // Thirds of a TTL must not add up to parts of a millisecond, which no other clock has.
    assert.equal(clock.now(), before + 10 * MINUTE_MS)
    assert.equal(held.isHeld(), true)
    assert.equal((await locks.status('job')).held, true)
    clock.advance(10_000)
    assert.deepEqual([held.isHeld(), held.signal.aborted], [false, true])
  })

  it('cached values become stale and are loaded anew', async () => {
    let loads = 0
    const space = catraca.cache.space<number>({ name: 'entries', ttlMs: MINUTE_MS, beta: 0, jitter: 0 })
    const load = async () => ++loads
    assert.deepEqual([await space.getOrLoad('a', load), await space.getOrLoad('a', load)], [1, 1])
    clock.advance(MINUTE_MS - 1)
    assert.equal(await space.getOrLoad('a', load), 1)
    clock.advance(1)
    assert.equal(await space.getOrLoad('a', load), 2)
  })

  it('codes expire, and can be asked for again', async () => {
    const { codes } = catraca
    const address = { channel: 'email', address: 'ann@example.com' } as const
    const issued = await codes.issue(address)
    assert.ok(issued.issued)
    assert.equal((await codes.issue(address)).issued, false)
    clock.advance(MINUTE_MS)
    const again = await codes.issue(address)
    assert.ok(again.issued)
    clock.advance(24 * 60 * MINUTE_MS)
    assert.deepEqual(await codes.verify({ ...address, code: again.code }), {
      valid: false,
      reason: 'INVALID',
    })
  })

  it('revoked tokens are forgotten when they expire', async () => {
    const { tokens } = catraca
    await tokens.revoke({ jti: 't1', expiresAt: isoIn(MINUTE_MS) })
    assert.equal(await tokens.isRevoked({ jti: 't1' }), true)
    clock.advance(MINUTE_MS + 1)
    assert.equal(await tokens.isRevoked({ jti: 't1' }), false)
  })
})
