import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { inspect } from 'node:util'
import type { OpenOptions } from '../../../src/app/open-catraca.js'
import { ManualClock } from '../../../src/core/clock.js'
import { rateLimitHeaders } from '../../../src/guards/rate-limit/headers.js'
import type { Admitted, Denied, RateLimits } from '../../../src/index.js'
import { openPatiently } from '../../support/patient.js'

const NOW = Date.UTC(2030, 0, 1)
const perMinute = (capacity: number) => ({ capacity, refillAmount: capacity, refillPeriodSeconds: 60 })

async function open(t: TestContext, options: OpenOptions = {}) {
  const clock = new ManualClock(NOW)
  const catraca = await openPatiently({ store: 'memory:', clock, sweepIntervalMs: 0, ...options })
  t.after(() => catraca.close())
  return { clock, limits: catraca.limits, catraca }
}

const system = (limits: RateLimits, config: object, resource = 'gpt-4') =>
  limits.setConfig({ level: 'system', resource }, config as never)

async function admitted(answer: Promise<Admitted | Denied>): Promise<Admitted> {
  const result = await answer
  assert.equal(result.allowed, true)
  return result as Admitted
}

async function denied(answer: Promise<Admitted | Denied>): Promise<Denied> {
  const result = await answer
  assert.equal(result.allowed, false)
  return result as Denied
}

const subject = { entity: 'user-1', resource: 'gpt-4' }

describe('acquire', () => {
  it('takes 1 of each limit, or what is named, and says what is left', async (t) => {
    const { limits, clock } = await open(t)
    await system(limits, { limits: { rpm: perMinute(10), tpm: perMinute(1000) } })
    const first = await admitted(limits.acquire(subject))
    assert.deepEqual(first.limits, {
      rpm: { limit: 10, remaining: 9, resetMs: 6000 },
      tpm: { limit: 1000, remaining: 999, resetMs: 60 },
    })
    const second = await admitted(limits.acquire({ ...subject, consume: { tpm: 500 } }))
    assert.deepEqual([second.limits.rpm!.remaining, second.limits.tpm!.remaining], [9, 499])
    const over = await denied(limits.acquire({ ...subject, consume: { rpm: 1, tpm: 500 } }))
    assert.deepEqual(over.violations, [{ entity: 'user-1', limit: 'tpm', retryAfterMs: 60 }])
    assert.equal(over.retryAfterMs, 60)
    assert.deepEqual((await limits.status('user-1', 'gpt-4')).limits.rpm!.remaining, 9)
    clock.advance(60)
    assert.equal((await limits.acquire({ ...subject, consume: { rpm: 1, tpm: 500 } })).allowed, true)
  })

  it('tells in headers the pace that keeps to the limit', async (t) => {
    const { limits } = await open(t)
    await system(limits, {
      limits: {
        slow: { capacity: 100, refillAmount: 10, refillPeriodSeconds: 1 },
        burst: { capacity: 10, burst: 25, refillPeriodSeconds: 60 },
        window: { ...perMinute(5), algorithm: 'sliding-window' },
        slots: { ...perMinute(3), algorithm: 'concurrency' },
      },
    })
    const headers = rateLimitHeaders(await limits.acquire(subject))
    assert.equal(
      headers['ratelimit-policy'],
      '"slow";q=100;w=10, "burst";q=25;w=150, "window";q=5;w=60, "slots";q=3;qu="concurrent-requests"',
    )
    assert.equal(headers.ratelimit, '"slow";r=99;t=1, "burst";r=24;t=6, "window";r=4;t=60, "slots";r=2;t=60')
  })

  it('refuses what cannot be meant', async (t) => {
    const { limits } = await open(t)
    await system(limits, { limits: { rpm: perMinute(10) } })
    const refused = (request: object) =>
      assert.rejects(limits.acquire({ ...subject, ...request }), { code: 'INVALID_INPUT' })
    await refused({ consume: { tpm: 1 } })
    await refused({ consume: { rpm: 11 } })
    await refused({ consume: { rpm: -1 } })
    await refused({ consume: { rpm: 0.5 } })
    await refused({ consume: { rpm: Number.NaN } })
    await refused({ consume: { toString: 1 } })
    await refused({ entity: 'a/b' })
    await refused({ resource: 'a:b' })
    await refused({ limits: { rpm: { capacity: 0 } } })
    await assert.rejects(limits.acquire({ ...subject, resource: 'other' }), { code: 'LIMIT_NOT_CONFIGURED' })
  })

  it('lets limits of the call win, field by field', async (t) => {
    const { limits } = await open(t)
    await system(limits, { limits: { rpm: perMinute(10), tpm: perMinute(5) } })
    const given = { rpm: { capacity: 100 }, extra: perMinute(1) }
    const answer = await admitted(limits.acquire({ ...subject, limits: given }))
    assert.deepEqual(
      Object.values(answer.limits)
        .map(({ limit }) => limit)
        .sort(),
      [1, 100, 5],
    )
    const alone = await admitted(
      limits.acquire({ entity: 'a', resource: 'none', limits: { x: perMinute(2) } }),
    )
    assert.equal(alone.limits.x!.remaining, 1)
  })

  it('only watches with a limit in shadow mode', async (t) => {
    const { limits } = await open(t)
    await system(limits, { limits: { rpm: perMinute(10), tpm: { ...perMinute(2), mode: 'shadow' } } })
    await admitted(limits.acquire({ ...subject, consume: { rpm: 1, tpm: 2 } }))
    const second = await admitted(limits.acquire({ ...subject, consume: { rpm: 1, tpm: 2 } }))
    assert.deepEqual(second.shadowViolations, [{ entity: 'user-1', limit: 'tpm', retryAfterMs: 60_000 }])
    const huge = await admitted(limits.acquire({ ...subject, consume: { rpm: 1, tpm: 500 } }))
    assert.equal(huge.shadowViolations?.length, 1)
    assert.equal(limits.stats().shadowDenied, 2)
    await limits.giveBack(second.leaseId)
    assert.deepEqual((await limits.status('user-1', 'gpt-4')).limits.tpm!.remaining, 0)
  })

  it('counts in concurrency slots until they are given back or run out', async (t) => {
    const { limits, clock } = await open(t)
    await system(limits, { limits: { jobs: { ...perMinute(2), algorithm: 'concurrency' } } })
    const [first] = [await admitted(limits.acquire(subject)), await admitted(limits.acquire(subject))]
    await denied(limits.acquire(subject))
    await limits.giveBack(first.leaseId)
    await admitted(limits.acquire(subject))
    await denied(limits.acquire(subject))
    clock.advance(60_000)
    await admitted(limits.acquire(subject))
  })
})

describe('a parent', () => {
  it('is taken from too, both or neither', async (t) => {
    const { limits } = await open(t)
    await system(limits, { limits: { rpm: perMinute(10) } })
    await limits.setConfig(
      { level: 'entity', identifier: 'org', resource: 'gpt-4' },
      { limits: { rpm: { capacity: 12 } } },
    )
    for (const id of ['user-1', 'user-2']) await limits.setEntity(id, { parent: 'org' })
    const answer = await admitted(limits.acquire({ ...subject, consume: { rpm: 10 } }))
    assert.deepEqual([answer.parent!.entity, answer.parent!.limits.rpm!.remaining], ['org', 2])
    const other = { entity: 'user-2', resource: 'gpt-4' }
    const over = await denied(limits.acquire({ ...other, consume: { rpm: 3 } }))
    assert.deepEqual(
      over.violations.map(({ entity, limit }) => [entity, limit]),
      [['org', 'rpm']],
    )
    assert.equal((await limits.status('user-2', 'gpt-4')).limits.rpm!.remaining, 10)
    assert.equal((await limits.acquire({ ...other, consume: { rpm: 3 }, cascade: false })).allowed, true)
    await limits.giveBack(answer.leaseId)
    assert.equal((await limits.status('org', 'gpt-4')).limits.rpm!.remaining, 12)
    await assert.rejects(limits.setEntity('x', { parent: 'x' }), { code: 'INVALID_INPUT' })
  })
})

describe('a lease', () => {
  it('is adjusted, given back once, and cannot be made up or altered', async (t) => {
    const { limits, clock } = await open(t)
    await system(limits, { limits: { tpm: perMinute(1000) } })
    const { leaseId } = await admitted(limits.acquire({ ...subject, consume: { tpm: 500 } }))
    const left = async () => (await limits.status('user-1', 'gpt-4')).limits.tpm!.remaining
    assert.deepEqual(await limits.adjust(leaseId, { tpm: -120 }), { applied: true })
    assert.equal(await left(), 620)
    assert.deepEqual(await limits.giveBack(leaseId), { applied: true })
    assert.deepEqual(await limits.giveBack(leaseId), { applied: false })
    assert.deepEqual(await limits.adjust(leaseId, { tpm: 5 }), { applied: false })
    assert.equal(await left(), 1000)
    const middle = Math.floor(leaseId.length / 2)
    const altered =
      leaseId.slice(0, middle) + (leaseId[middle] === 'A' ? 'B' : 'A') + leaseId.slice(middle + 1)
    for (const wrong of ['', 'x', altered, `${leaseId}A`, `${leaseId}=`]) {
      await assert.rejects(limits.giveBack(wrong), { code: 'LEASE_NOT_FOUND' }, wrong)
    }
    await assert.rejects(limits.adjust(leaseId, { rpm: 1 }), { code: 'INVALID_INPUT' })
    assert.doesNotMatch(Buffer.from(leaseId, 'base64url').toString('latin1'), /user-1/)
    clock.advance(3_600_000)
    await assert.rejects(limits.giveBack(leaseId), { code: 'LEASE_NOT_FOUND' })
  })

  it('can be given back however much it took of', async (t) => {
    const { limits } = await open(t)
    const named = (prefix: string) => prefix.padEnd(256, 'x')
    const many = (prefix: string) =>
      Object.fromEntries(Array.from({ length: 32 }, (_, i) => [named(`${prefix}${i}-`), perMinute(5)]))
    const resource = named('r')
    await system(limits, { limits: many('system') }, resource)
    await limits.setConfig({ level: 'resource', resource }, { limits: many('resource') })
    await limits.setConfig({ level: 'entity', identifier: 'user-1', resource }, { limits: many('entity') })
    await limits.setEntity('user-1', { parent: named('parent') })
    const answer = await admitted(limits.acquire({ entity: 'user-1', resource, limits: many('call') }))
    assert.equal(Object.keys(answer.limits).length, 128)
    assert.deepEqual(await limits.giveBack(answer.leaseId), { applied: true })
    const { limits: left } = await limits.status('user-1', resource)
    assert.ok(Object.values(left).every(({ remaining }) => remaining === 5))
  })

  it('is valid in other processes on the store, and in no other store', async (t) => {
    const { catraca } = await open(t)
    const other = await openPatiently({ store: 'memory:', clock: new ManualClock(NOW), sweepIntervalMs: 0 })
    t.after(() => other.close())
    await system(catraca.limits, { limits: { tpm: perMinute(10) } })
    const { leaseId } = await admitted(catraca.limits.acquire(subject))
    await assert.rejects(other.limits.giveBack(leaseId), { code: 'LEASE_NOT_FOUND' })
  })

  it('is given back when the work throws, and when it is cancelled', async (t) => {
    const { limits } = await open(t)
    await system(limits, { limits: { rpm: perMinute(10) } })
    const left = async () => (await limits.status('user-1', 'gpt-4')).limits.rpm!.remaining
    const done = await limits.withLease(subject, async ({ adjust }) => {
      await adjust({ rpm: 2 })
      return 'done'
    })
    assert.deepEqual(done, { allowed: true, result: 'done' })
    assert.equal(await left(), 7)
    await assert.rejects(
      limits.withLease(subject, () => Promise.reject(new Error('failed'))),
      /failed/,
    )
    assert.equal(await left(), 7)
    const controller = new AbortController()
    const work = limits.withLease({ ...subject, signal: controller.signal }, async () => {
      controller.abort()
      await new Promise((resolve) => setImmediate(resolve))
    })
    await work
    assert.equal(await left(), 7)
    await assert.rejects(limits.acquire({ ...subject, signal: controller.signal }), { code: 'ABORTED' })
    const late = new AbortController()
    const asked = limits.acquire({ ...subject, signal: late.signal })
    late.abort()
    await assert.rejects(asked, { code: 'ABORTED' })
    assert.equal(await left(), 7)
  })
})

describe('what is used up', () => {
  it('is denied here until it is there again, for as much and more, and asks no engine', async (t) => {
    const { limits, clock } = await open(t)
    await system(limits, { limits: { rpm: perMinute(10) } })
    await admitted(limits.acquire({ ...subject, consume: { rpm: 8 } }))
    await denied(limits.acquire({ ...subject, consume: { rpm: 4 } }))
    assert.equal(limits.stats().deniedHere, 0)
    clock.advance(1000)
    const here = await denied(limits.acquire({ ...subject, consume: { rpm: 5 } }))
    assert.equal(limits.stats().deniedHere, 1)
    assert.deepEqual([here.retryAfterMs, here.limits.rpm!.resetMs], [11_000, 47_000])
    await admitted(limits.acquire({ ...subject, consume: { rpm: 2 } }))
    clock.advance(22_999)
    await denied(limits.acquire({ ...subject, consume: { rpm: 4 } }))
    clock.advance(1)
    await admitted(limits.acquire({ ...subject, consume: { rpm: 4 } }))
  })

  it('is forgotten by a reset, a give-back and a change of configuration', async (t) => {
    const { limits } = await open(t)
    await system(limits, { limits: { rpm: perMinute(2) } })
    const lease = await admitted(limits.acquire({ ...subject, consume: { rpm: 2 } }))
    await denied(limits.acquire(subject))
    await limits.giveBack(lease.leaseId)
    await admitted(limits.acquire({ ...subject, consume: { rpm: 2 } }))
    await denied(limits.acquire(subject))
    await limits.reset('user-1', 'gpt-4')
    await admitted(limits.acquire({ ...subject, consume: { rpm: 2 } }))
    await denied(limits.acquire(subject))
    await system(limits, { limits: { rpm: perMinute(3) } })
    await admitted(limits.acquire(subject))
  })
})

describe('an answer', () => {
  it('has its lease as a property, for those who copy, log or send it', async (t) => {
    const { limits } = await open(t)
    await system(limits, { limits: { rpm: perMinute(9) } })
    const answer = await admitted(limits.acquire(subject))
    // Read by nobody yet, so sealed by nobody.
    const { get, enumerable } = Object.getOwnPropertyDescriptor(answer, 'leaseId')!
    assert.deepEqual([typeof get, enumerable], ['function', true])
    const copy = { ...answer }
    assert.equal(copy.leaseId, answer.leaseId)
    assert.ok(inspect(answer).includes(answer.leaseId))
    assert.equal(JSON.parse(JSON.stringify(answer)).leaseId, answer.leaseId)
    assert.equal(structuredClone(copy).leaseId, answer.leaseId)
    assert.deepEqual(await limits.giveBack(copy.leaseId), { applied: true })
  })
})

describe('status', () => {
  it('tells of limits of the call, as an acquire would', async (t) => {
    const { limits } = await open(t)
    await system(limits, { limits: { rpm: perMinute(9) } })
    await limits.acquire(subject)
    const own = { rpm: perMinute(20) }
    assert.equal((await limits.status('user-1', 'gpt-4', { limits: own })).limits.rpm!.limit, 20)
    assert.equal((await limits.status('user-1', 'made-up', { limits: own })).limits.rpm!.remaining, 20)
  })
})

describe('usage', () => {
  it('is cost admitted and denied, by hour and day', async (t) => {
    const { limits, clock } = await open(t)
    await system(limits, { limits: { rpm: perMinute(10) } })
    await limits.acquire({ ...subject, consume: { rpm: 7 } })
    await limits.acquire({ ...subject, consume: { rpm: 5 } })
    clock.advance(3_600_000)
    await limits.acquire({ ...subject, consume: { rpm: 1 } })
    const start = (ms: number) => new Date(ms).toISOString()
    assert.deepEqual((await limits.usage('user-1', 'gpt-4')).items, [
      { limit: 'rpm', start: start(NOW), admitted: 7, denied: 5 },
      { limit: 'rpm', start: start(NOW + 3_600_000), admitted: 1, denied: 0 },
    ])
    const days = await limits.usage('user-1', 'gpt-4', { step: 'day' })
    assert.deepEqual(days.items, [{ limit: 'rpm', start: start(NOW), admitted: 8, denied: 5 }])
    await assert.rejects(limits.usage('a', 'b', { from: 'yesterday' }), { code: 'INVALID_INPUT' })
    const week = { from: start(NOW - 40 * 24 * 3_600_000) }
    await assert.rejects(limits.usage('a', 'b', week), { code: 'INVALID_INPUT', message: /^from / })
  })

  it('has exact totals of a resource, and its heaviest entities only', async (t) => {
    const { limits, clock } = await open(t, { limits: { usageEntities: 2 } })
    await system(limits, { limits: { rpm: perMinute(1000) } })
    for (let i = 0; i < 30; i++) {
      await limits.acquire({ entity: `stranger-${i}`, resource: 'gpt-4' })
      await limits.acquire({ entity: 'heavy', resource: 'gpt-4', consume: { rpm: 20 } })
      await limits.acquire({ entity: 'second', resource: 'gpt-4', consume: { rpm: 3 } })
      if (i % 10 === 9) await limits.resourceUsage('gpt-4')
    }
    clock.advance(3_600_000)
    await limits.acquire({ entity: 'heavy', resource: 'gpt-4', consume: { rpm: 1 } })
    const { items, entities } = await limits.resourceUsage('gpt-4')
    assert.deepEqual(
      items.map(({ admitted }) => admitted),
      [30 * 24, 1],
    )
    assert.deepEqual(entities, [
      { entity: 'heavy', limit: 'rpm', admitted: 601, denied: 0 },
      { entity: 'second', limit: 'rpm', admitted: 90, denied: 0 },
    ])
    assert.deepEqual((await limits.resourceUsage('other')).items, [])
  })

  it('counts what callers make up under a bounded number of names', async (t) => {
    const { limits, clock } = await open(t)
    await limits.setConfig({ level: 'system', resource: '*' }, { limits: { rpm: perMinute(1000) } })
    const madeUp = async (from: number, to: number) => {
      const names = Array.from({ length: to - from }, (_, i) => `made-up-${from + i}`)
      await Promise.all(names.map((resource) => limits.acquire({ entity: 'user-1', resource })))
    }
    await madeUp(0, 1005)
    // A pair that has its own counts keeps them.
    await madeUp(999, 1003)
    const admitted = async (resource: string) =>
      (await limits.resourceUsage(resource)).items.map((item) => [item.limit, item.admitted])
    assert.deepEqual(await admitted('made-up-0'), [['rpm', 1]])
    assert.deepEqual(await admitted('made-up-999'), [['rpm', 2]])
    assert.deepEqual(await admitted('made-up-1000'), [])
    assert.deepEqual(await admitted('*'), [['*', 5 + 3]])
    clock.advance(3_600_000)
    await madeUp(1000, 1001)
    assert.deepEqual(await admitted('made-up-1000'), [['rpm', 1]])
  })

  it('can be off', async (t) => {
    const { limits } = await open(t, { limits: { usage: false } })
    await system(limits, { limits: { rpm: perMinute(1) } })
    await limits.acquire(subject)
    await limits.acquire(subject)
    await limits.acquire(subject)
    assert.deepEqual(await limits.resourceUsage('gpt-4'), { items: [], entities: [] })
  })
})
