import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { DeniedTop } from '../../../src/guards/rate-limit/denied-top.js'
import { Exhausted } from '../../../src/guards/rate-limit/exhausted.js'
import { openFaulty, subject } from './faulty.js'

const system = { level: 'system', resource: 'gpt-4' } as const
const perHour = (capacity: number) => ({ limits: { rpm: { capacity, refillPeriodSeconds: 3600 } } })

/** All is used, and one who is denied has not heard of it yet. */
async function deniedLate(t: TestContext) {
  const { limits, fault } = await openFaulty(t)
  const first = await limits.acquire({ ...subject, consume: { rpm: 10 } })
  assert.ok(first.allowed)
  let tell = () => {}
  const decided = new Promise<void>((isDecided) => {
    fault.answer = () =>
      new Promise<void>((resolve) => {
        tell = resolve
        isDecided()
      })
  })
  const denied = limits.acquire(subject)
  await decided
  delete fault.answer
  const hear = () => {
    tell()
    return denied
  }
  return { limits, lease: first.leaseId, hear }
}

describe('a denial that comes after what it was about is freed is not remembered', () => {
  it('by a reset', async (t) => {
    const { limits, hear } = await deniedLate(t)
    await limits.reset('user-1', 'gpt-4')
    assert.equal((await hear()).allowed, false)
    assert.equal((await limits.acquire(subject)).allowed, true)
  })

  it('by a give-back', async (t) => {
    const { limits, lease, hear } = await deniedLate(t)
    await limits.giveBack(lease)
    assert.equal((await hear()).allowed, false)
    assert.equal((await limits.acquire(subject)).allowed, true)
  })

  it('by another configuration', async (t) => {
    const { limits, hear } = await deniedLate(t)
    await limits.setConfig(system, perHour(20))
    assert.equal((await hear()).allowed, false)
    assert.equal((await limits.acquire(subject)).allowed, true)
  })

  it('but is, whatever was freed of others', () => {
    const exhausted = new Exhausted({ watch: () => () => {} }, 60_000, new DeniedTop(0))
    const version = exhausted.since()
    for (let i = 0; i < 10; i++) exhausted.forget({ entity: `other-${i}`, resource: 'gpt-4' })
    const limits = [{ name: 'rpm', cost: 1, retryAfterMs: 1000 }]
    const statuses = { rpm: { limit: 10, remaining: 0, resetMs: 1000 } }
    exhausted.note({ ...subject, limits, statuses, policies: {} }, 0, version)
    for (let i = 0; i < 1000; i++) exhausted.forget({ entity: `other-${i}`, resource: 'gpt-4' })
    assert.equal(exhausted.find('user-1', 'gpt-4', undefined, 1)?.allowed, false)
    exhausted.forget(subject)
    assert.equal(exhausted.find('user-1', 'gpt-4', undefined, 1), undefined)
  })
})

describe('who goes away', () => {
  it('has taken nothing, at whichever moment', async (t) => {
    const { limits, fault } = await openFaulty(t)
    await limits.warmUp()
    for (let ticks = 0; ticks < 40; ticks++) {
      const abort = new AbortController()
      fault.answer = async () => {
        let left = ticks
        const tick = () => (left-- > 0 ? queueMicrotask(tick) : abort.abort(new Error('gone')))
        tick()
      }
      const work = () => new Promise<void>((resolve) => setImmediate(resolve))
      await limits.withLease({ ...subject, signal: abort.signal }, work).catch(() => {})
      delete fault.answer
      const { remaining } = (await limits.status('user-1', 'gpt-4')).limits.rpm!
      assert.equal(remaining, 10, `aborted ${ticks} ticks after the answer`)
    }
  })

  it('is told so, also when what was taken cannot be given back', async (t) => {
    const { limits, fault } = await openFaulty(t, { defaults: { onUnavailable: 'allow' } })
    await limits.warmUp()
    const abort = new AbortController()
    fault.answer = async () => abort.abort(new Error('gone'))
    await assert.rejects(limits.acquire({ ...subject, signal: abort.signal }), { code: 'ABORTED' })
  })
})

describe('mistakes', () => {
  it('are rejections, never thrown at once', async (t) => {
    const { limits } = await openFaulty(t, { localLease: { tokens: 5, ms: 60_000 } })
    const unknown = { entity: 'a', resource: 'unknown' }
    for (let i = 0; i < 2; i++) {
      const asked = limits.acquire(unknown)
      await assert.rejects(asked, { code: 'LIMIT_NOT_CONFIGURED' })
    }
    for (let i = 0; i < 2; i++) {
      const asked = limits.acquire({ ...subject, consume: null as never })
      await assert.rejects(asked, { code: 'INVALID_INPUT', message: /^consume / })
      await limits.acquire({ ...subject, consume: { rpm: 10 } })
      await limits.acquire(subject)
    }
  })

  it('are named as far as somebody may read them', async (t) => {
    const { limits } = await openFaulty(t)
    const consume = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`made-up-${i}`, 1]))
    await assert.rejects(limits.acquire({ ...subject, consume }), (error: { errors: unknown[] }) => {
      assert.equal(error.errors.length, 32)
      return true
    })
  })
})
