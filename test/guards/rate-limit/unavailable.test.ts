import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { until } from '../../../src/conformance/support.js'
import { CatracaError } from '../../../src/core/errors.js'
import { inTime } from '../../support/in-time.js'
import { openFaulty as open, subject } from './faulty.js'

const allow = { level: 'entity', identifier: 'user-1', resource: 'gpt-4' } as const

describe('an engine that does not answer', () => {
  it('blocks by default, with an error that is no denial', async (t) => {
    const { limits, fault, down } = await open(t)
    fault.take = down
    await assert.rejects(limits.acquire(subject), { code: 'ENGINE_UNAVAILABLE' })
    assert.deepEqual([limits.stats().degradedBlocked, limits.stats().denied], [1, 0])
  })

  it('lets pass where a level says so, and tells', async (t) => {
    const { limits, fault, down } = await open(t)
    await limits.setConfig(allow, { limits: {}, onUnavailable: 'allow' })
    fault.take = down
    const answer = await limits.acquire(subject)
    assert.deepEqual(answer, { allowed: true, degraded: true, leaseId: 'none', limits: {} })
    assert.equal(limits.stats().degradedAllowed, 1)
    assert.deepEqual(await limits.giveBack('none'), { applied: true })
    await assert.rejects(limits.acquire({ ...subject, entity: 'user-2' }), { code: 'ENGINE_UNAVAILABLE' })
    await assert.rejects(limits.acquire({ ...subject, consume: { rpm: 11 } }), { code: 'INVALID_INPUT' })
  })

  it('is not one that finds what another program has written: refused by name, whatever a level says', async (t) => {
    const { limits, fault, clock } = await open(t)
    await limits.setConfig(allow, { limits: {}, onUnavailable: 'allow' })
    await limits.acquire(subject)
    const foreign = () => Promise.reject(new CatracaError('STORE_CORRUPT', 'the key k holds a list'))
    const refused = { code: 'STORE_CORRUPT', message: /the key k/ }
    fault.take = foreign
    await assert.rejects(limits.acquire(subject), refused)
    await assert.rejects(limits.acquire({ ...subject, entity: 'user-2' }), refused)
    fault.take = () => Promise.resolve()
    clock.advance(120_000)
    fault.config = foreign
    await assert.rejects(limits.acquire(subject), refused)
    const { degradedAllowed, degradedBlocked } = limits.stats()
    assert.deepEqual([degradedAllowed, degradedBlocked], [0, 0])
  })

  it('counts as one when it takes too long, and what it then takes for nobody is given back', async (t) => {
    const { limits, fault } = await open(t, { timeoutMs: 300 })
    await limits.warmUp()
    await limits.acquire(subject)
    let goOn = () => {}
    fault.take = () =>
      new Promise<void>((resolve) => {
        goOn = resolve
      })
    await assert.rejects(limits.acquire({ ...subject, consume: { rpm: 5 } }), { code: 'ENGINE_UNAVAILABLE' })
    fault.take = () => Promise.resolve()
    goOn()
    const left = async () => (await limits.status('user-1', 'gpt-4')).limits.rpm!.remaining
    await until('9 left', async () => (await left().catch(() => 0)) === 9)
  })

  it('leaves an adjustment unknown, which counts once when it is asked for again', async (t) => {
    const { limits, fault } = await open(t, { timeoutMs: 200 })
    const lease = await limits.acquire(subject)
    assert.ok(lease.allowed)
    fault.answer = () => new Promise<void>(() => {})
    const adjusted: { adjustmentId?: string } = {}
    await assert.rejects(limits.adjust(lease.leaseId, { rpm: 3 }), (error: CatracaError) => {
      assert.equal(error.code, 'UNKNOWN_OUTCOME')
      Object.assign(adjusted, error.facts)
      return true
    })
    fault.answer = () => Promise.resolve()
    assert.deepEqual(await limits.adjust(lease.leaseId, { rpm: 3 }, adjusted), { applied: true })
    assert.equal((await limits.status('user-1', 'gpt-4')).limits.rpm!.remaining, 6)
    await limits.adjust(lease.leaseId, { rpm: 3 })
    await limits.adjust(lease.leaseId, { rpm: 1 })
    assert.equal((await limits.status('user-1', 'gpt-4')).limits.rpm!.remaining, 2)
    const wrong = limits.adjust(lease.leaseId, { rpm: 1 }, { adjustmentId: 'a b' })
    await assert.rejects(wrong, { code: 'INVALID_INPUT', message: /^adjustmentId / })
  })

  it('is waited for once, whatever of a call it does not answer', async (t) => {
    const timeoutMs = 2000
    const { limits, fault, clock } = await open(t, { timeoutMs })
    await limits.setEntity('user-1', { parent: 'org-1' })
    await limits.setConfig(allow, { limits: {}, onUnavailable: 'allow' })
    await limits.acquire(subject)
    clock.advance(120_000)
    fault.config = fault.take = () => new Promise<void>(() => {})
    for (let i = 0; i < 2; i++) {
      const answer = await inTime(limits.acquire(subject), 1.75 * timeoutMs)
      assert.ok(answer.allowed && answer.degraded)
    }
  })

  it('lets somebody new pass where the levels that are known say so', async (t) => {
    const { limits, fault, down } = await open(t)
    const resource = { level: 'resource', resource: 'gpt-4' } as const
    await limits.setConfig(resource, { limits: {}, onUnavailable: 'allow' })
    await limits.acquire(subject)
    fault.config = fault.take = down
    const answer = await limits.acquire({ ...subject, entity: 'new' })
    assert.ok(answer.allowed && answer.degraded)
    await assert.rejects(limits.acquire({ entity: 'new', resource: 'other' }), { code: 'ENGINE_UNAVAILABLE' })
  })

  it('leaves nothing open of a look, which changes nothing', async (t) => {
    const { limits, fault } = await open(t)
    await limits.warmUp()
    fault.take = () => Promise.reject(new CatracaError('UNKNOWN_OUTCOME', 'silent'))
    await assert.rejects(limits.status('user-1', 'gpt-4'), { code: 'ENGINE_UNAVAILABLE' })
  })

  it('does not hide mistakes of the caller or of the program', async (t) => {
    const { limits, fault } = await open(t, { defaults: { onUnavailable: 'allow' } })
    fault.take = () => Promise.reject(new TypeError('a mistake'))
    await assert.rejects(limits.acquire(subject), TypeError)
  })
})
