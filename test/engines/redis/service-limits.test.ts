import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { Catraca, OpenOptions } from '../../../src/index.js'
import { openPatiently } from '../../support/patient.js'
import { inTime, oneEmptiedServer } from '../../support/redis/index.js'
import { until } from '../../support/redis/process.js'

const redis = await oneEmptiedServer()

const system = { level: 'system', resource: 'gpt-4' } as const
const subject = { entity: 'user-1', resource: 'gpt-4' }
const perHour = (capacity: number) => ({ rpm: { capacity, refillPeriodSeconds: 3600 } })

async function open(t: TestContext, options: Partial<OpenOptions> = {}): Promise<Catraca> {
  const catraca = await openPatiently({ store: redis.storeUrl, sweepIntervalMs: 0, ...options })
  t.after(() => catraca.close())
  return catraca
}

describe('limits over Redis', () => {
  it('have leases that run out by the clock of the server, whatever a process believes', async (t) => {
    for (const offMs of [7_200_000, -7_200_000]) {
      const { limits } = await open(t, { clock: { now: () => Date.now() + offMs } })
      await limits.setConfig(system, { limits: perHour(5) })
      const answer = await limits.acquire(subject)
      assert.ok(answer.allowed)
      assert.deepEqual(await limits.adjust(answer.leaseId, { rpm: 1 }), { applied: true })
      assert.deepEqual(await limits.giveBack(answer.leaseId), { applied: true })
    }
  })

  it('are shared by all processes, given back, and counted', async (t) => {
    const [one, two] = [await open(t), await open(t)]
    await one.limits.setConfig(system, { limits: perHour(3) })
    const first = await one.limits.acquire(subject)
    assert.ok(first.allowed)
    await two.limits.acquire({ ...subject, consume: { rpm: 2 } })
    assert.equal((await one.limits.acquire(subject)).allowed, false)
    // Another process opens the token: the secret is the store's.
    assert.deepEqual(await two.limits.giveBack(first.leaseId), { applied: true })
    await until('the denial is forgotten', async () => (await one.limits.acquire(subject)).allowed)
    const { items } = await one.limits.usage('user-1', 'gpt-4')
    assert.deepEqual(
      items.map(({ admitted }) => admitted),
      [2],
    )
  })

  it('follow a change of configuration in every process, in buckets that are in use', async (t) => {
    const [one, two] = [await open(t), await open(t)]
    await one.limits.setConfig(system, { limits: perHour(1) })
    await two.limits.acquire(subject)
    assert.equal((await two.limits.acquire(subject)).allowed, false)
    await one.limits.setConfig(
      { level: 'entity', identifier: 'user-1', resource: 'gpt-4' },
      { limits: perHour(5) },
    )
    await until('the new limit holds', async () => (await two.limits.acquire(subject)).allowed)
    assert.equal((await two.limits.status('user-1', 'gpt-4')).limits.rpm!.remaining, 3)
  })

  it('take from a parent', async (t) => {
    const { limits } = await open(t)
    await limits.setConfig(system, { limits: perHour(5) })
    await limits.setEntity('user-1', { parent: 'org-1', cascade: true })
    await limits.setConfig(
      { level: 'entity', identifier: 'org-1', resource: 'gpt-4' },
      { limits: perHour(2) },
    )
    const outcomes = [1, 2, 3].map(() => limits.acquire(subject))
    assert.deepEqual(
      (await Promise.all(outcomes)).map(({ allowed }) => allowed),
      [true, true, false],
    )
    assert.equal((await limits.status('user-1', 'gpt-4')).limits.rpm!.remaining, 3)
  })

  it('may lie elsewhere than the rest, or the rest elsewhere than limits', async (t) => {
    const { limits, health } = await open(t, { store: 'memory:', limits: { store: redis.storeUrl } })
    await limits.setConfig(system, { limits: perHour(3) })
    assert.equal((await limits.acquire(subject)).allowed, true)
    assert.deepEqual(await redis.servers[0]!.say('EXISTS', 'ratelimit:user-1:gpt-4'), 1)
    const { engines } = await health()
    assert.deepEqual(
      engines.map(({ name, status }) => [name, status]),
      [
        ['embedded', 'healthy'],
        ['redis', 'healthy'],
      ],
    )
    const same = await open(t, { limits: { store: redis.storeUrl } })
    assert.equal((await same.health()).engines.length, 1)
  })

  for (const skewMs of [-60_000, 60_000]) {
    it(`are decided in memory with tokens taken ahead, by a clock that is off by ${skewMs} ms`, async (t) => {
      const clock = { now: () => Date.now() + skewMs }
      const { limits } = await open(t, { clock, limits: { localLease: { tokens: 100, ms: 60_000 } } })
      await limits.setConfig(system, { limits: perHour(150) })
      await limits.warmUp()
      const stats = async () => String(await redis.servers[0]!.say('INFO', 'commandstats'))
      const calls = async () => Number(/cmdstat_evalsha:calls=(\d+)/.exec(await stats())?.[1] ?? 0)
      const before = await calls()
      const asked = Array.from({ length: 100 }, () => limits.acquire(subject))
      assert.ok((await Promise.all(asked)).every(({ allowed }) => allowed))
      assert.ok((await calls()) - before <= 2)
      // Nothing is admitted twice, and what is left in hand comes back.
      await limits.close()
      const { limits: other } = await open(t)
      assert.equal((await other.status('user-1', 'gpt-4')).limits.rpm!.remaining, 50)
    })
  }

  it('do not start on a store that is not there, and leave nothing open', async () => {
    const options = { store: 'memory:', limits: { store: 'redis://127.0.0.1:1/0' } }
    await assert.rejects(openPatiently({ ...options, redis: { connectTimeoutMs: 300 } }), {
      code: 'ENGINE_UNAVAILABLE',
    })
  })
})

describe('a Redis that is gone', () => {
  const quick = { limits: { timeoutMs: 300 } }

  it('stopped and continued: an adjustment of unknown outcome counts once when it is asked for again', async (t) => {
    const { limits } = await open(t, quick)
    await limits.setConfig(system, { limits: perHour(100) })
    const answer = await limits.acquire({ ...subject, consume: { rpm: 10 } })
    assert.ok(answer.allowed)
    const { leaseId } = answer
    const server = redis.servers[0]!
    server.pause()
    t.after(() => server.resume())
    const unknown = { code: 'UNKNOWN_OUTCOME', facts: { adjustmentId: 'chunk-1' } }
    const delta = { rpm: 20 }
    await assert.rejects(limits.adjust(leaseId, delta, { adjustmentId: 'chunk-1' }), unknown)
    await assert.rejects(limits.giveBack(leaseId), { code: 'UNKNOWN_OUTCOME' })
    server.resume()
    // Both were sent, so both are done by now or will be, in their order.
    await until('the lease is back', async () => !(await limits.giveBack(leaseId)).applied)
    const next = await limits.acquire({ ...subject, consume: { rpm: 10 } })
    assert.ok(next.allowed && next.limits.rpm!.remaining === 90)
    server.pause()
    await assert.rejects(limits.adjust(next.leaseId, delta, { adjustmentId: 'chunk-1' }), unknown)
    server.resume()
    const again = () => limits.adjust(next.leaseId, delta, { adjustmentId: 'chunk-1' }).catch(() => undefined)
    await until('it is answered', async () => (await again())?.applied === true)
    await again()
    assert.equal((await limits.status('user-1', 'gpt-4')).limits.rpm!.remaining, 70)
  })

  for (const [how, stop] of [
    ['killed', () => redis.servers[0]!.kill()],
    ['stuck', async () => redis.servers[0]!.pause()],
  ] as const) {
    it(`${how}: blocks or lets pass as each level says, in time, and goes on when it is back`, async (t) => {
      const [{ limits }, patient] = [await open(t, quick), await open(t)]
      await patient.limits.setConfig(system, { limits: perHour(5) })
      const fail = { level: 'entity', identifier: 'vip', resource: 'gpt-4' } as const
      await patient.limits.setConfig(fail, { limits: {}, onUnavailable: 'allow' })
      // It knows both levels by then.
      for (const entity of ['user-1', 'vip'])
        await until('an answer', async () => (await limits.acquire({ ...subject, entity })).allowed)
      const before = limits.stats()
      await stop()
      t.after(() => redis.servers[0]!.resume())
      await assert.rejects(inTime(limits.acquire(subject), 3000), { code: 'ENGINE_UNAVAILABLE' })
      const degraded = await inTime(limits.acquire({ ...subject, entity: 'vip' }), 3000)
      assert.ok(degraded.allowed && degraded.degraded)
      const { degradedAllowed, degradedBlocked } = limits.stats()
      assert.deepEqual(
        [degradedAllowed - before.degradedAllowed, degradedBlocked - before.degradedBlocked],
        [1, 1],
      )
      if (how === 'killed') await redis.servers[0]!.restart()
      else redis.servers[0]!.resume()
      await until(
        'it decides again',
        async () => (await limits.acquire({ ...subject, limits: perHour(9) })).allowed,
      )
    })
  }
})
