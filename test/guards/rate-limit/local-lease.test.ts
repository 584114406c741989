import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { ManualClock } from '../../../src/core/clock.js'
import type { LocalLease } from '../../../src/guards/rate-limit/local-lease.js'
import { openPatiently } from '../../support/patient.js'
import { temporaryDirectory } from '../../support/temporary.js'

const NOW = Date.UTC(2030, 0, 1)
const subject = { entity: 'a', resource: 'r' }

async function open(t: TestContext, store: string, clock: ManualClock, localLease?: LocalLease) {
  const limits = localLease === undefined ? {} : { localLease }
  const catraca = await openPatiently({ store, clock, sweepIntervalMs: 0, limits })
  let isOpen = true
  const close = async () => {
    if (isOpen) await catraca.close()
    isOpen = false
  }
  t.after(close)
  return { limits: catraca.limits, close }
}

async function start(
  t: TestContext,
  lease: LocalLease,
  algorithm: 'token-bucket' | 'fixed-window' = 'token-bucket',
) {
  const store = `embedded:${temporaryDirectory()}`
  const clock = new ManualClock(NOW)
  const one = await open(t, store, clock, lease)
  const two = await open(t, store, clock)
  const limits = { rph: { capacity: 100, refillPeriodSeconds: 3600, algorithm } }
  await one.limits.setConfig({ level: 'system', resource: 'r' }, { limits })
  const left = async () => (await two.limits.status('a', 'r')).limits.rph!.remaining
  return { one, two, clock, left }
}

describe('tokens taken ahead', () => {
  it('count as used everywhere, and what is left of them is given back at the end', async (t) => {
    const { one, left } = await start(t, { tokens: 20, ms: 60_000 })
    const answer = await one.limits.acquire(subject)
    assert.equal(answer.limits.rph!.remaining, 99)
    assert.equal(await left(), 79)
    for (let i = 0; i < 5; i++) await one.limits.acquire(subject)
    assert.equal(await left(), 79)
    await one.close()
    assert.equal(await left(), 94)
  })

  it('admit no more than the limit, over all processes', async (t) => {
    const { one, two } = await start(t, { tokens: 7, ms: 60_000 })
    const answers = await Promise.all(
      Array.from({ length: 250 }, (_, i) => (i % 2 === 0 ? one : two).limits.acquire(subject)),
    )
    const admitted = answers.filter(({ allowed }) => allowed).length
    assert.ok(admitted <= 100 && admitted >= 93, `${admitted}`)
  })

  it('are not used behind their time, nor in another window', async (t) => {
    const { one, clock, left } = await start(t, { tokens: 50, ms: 10_000_000 }, 'fixed-window')
    await one.limits.acquire(subject)
    assert.equal(await left(), 49)
    clock.advance(3_600_000)
    await one.limits.acquire(subject)
    assert.equal(await left(), 49)
  })

  it('are forgotten by a reset', async (t) => {
    const { one, left } = await start(t, { tokens: 50, ms: 60_000 })
    await one.limits.acquire(subject)
    await one.limits.reset('a', 'r')
    assert.equal(await left(), 100)
    await one.limits.acquire({ ...subject, consume: { rph: 100 } })
    assert.equal((await one.limits.acquire(subject)).allowed, false)
  })

  it('are whole', async () => {
    for (const localLease of [
      { tokens: 0.5, ms: 10 },
      { tokens: 0, ms: 10 },
      { tokens: 5, ms: Number.NaN },
    ]) {
      const wrong = openPatiently({ store: 'memory:', limits: { localLease } })
      await assert.rejects(wrong, { code: 'INVALID_INPUT', message: /^limits\.localLease\./ })
    }
  })

  it('are given back by the lease of the call like any other', async (t) => {
    const { one, left } = await start(t, { tokens: 10, ms: 60_000 })
    await one.limits.acquire(subject)
    const answer = await one.limits.acquire({ ...subject, consume: { rph: 4 } })
    assert.ok(answer.allowed)
    assert.equal(await left(), 89)
    await one.limits.giveBack(answer.leaseId)
    assert.equal(await left(), 93)
  })
})
