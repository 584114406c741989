import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { CatracaError } from '../../../src/core/errors.js'
import { newToken } from '../../../src/guards/idempotency/owner-token.js'
import type { RunRequest } from '../../../src/guards/idempotency/types.js'
import { inTime } from '../../support/in-time.js'
import { deferred, down, mustNotRun, never, open, until } from './support.js'

const asked = (changes: Partial<RunRequest> = {}): RunRequest =>
  ({ operation: 'PRODUCE', key: 'k', payload: 1, ...changes }) as RunRequest
/** The thread that writes takes its time to start, which is no fault of the engine's. */
async function warm(t: TestContext, given: Parameters<typeof open>[1]) {
  const opened = open(t, given)
  await opened.store.remove({ operation: 'x', key: 'x' })
  return opened
}
const unknown = () => {
  throw new CatracaError('UNKNOWN_OUTCOME', 'no answer in time')
}

describe('an engine that does not answer', () => {
  it('before the claim: blocks, and nothing is done', async (t) => {
    const { idempotency, before } = open(t)
    for (const failure of [down, unknown]) {
      before.claim = failure
      await assert.rejects(idempotency.run(asked(), mustNotRun), { code: 'ENGINE_UNAVAILABLE' })
    }
    delete before.claim
    assert.equal((await idempotency.run(asked(), () => 1)).outcome, 'executed')
  })

  it('is given up in time, whatever it is asked', async (t) => {
    const { idempotency, before } = open(t, { options: { timeoutMs: 200 } })
    const at = { operation: 'PRODUCE', key: 'other' }
    const token = newToken()
    Object.assign(before, {
      claim: never,
      complete: never,
      fail: never,
      release: never,
      extend: never,
      read: never,
    })
    const unanswered = { code: 'UNKNOWN_OUTCOME' }
    const rejected = [
      assert.rejects(idempotency.run(asked(), mustNotRun), { code: 'ENGINE_UNAVAILABLE' }),
      assert.rejects(idempotency.get(at), { code: 'ENGINE_UNAVAILABLE' }),
      assert.rejects(idempotency.complete(at, token, 1), unanswered),
      assert.rejects(idempotency.fail(at, token), unanswered),
      assert.rejects(idempotency.release(at, token), unanswered),
      assert.rejects(idempotency.extend(at, token, 1000), unanswered),
    ]
    await inTime(Promise.all(rejected), 5000)
  })

  it('lets work go on where that is wanted, marked', async (t) => {
    const { idempotency, before, calls } = open(t)
    before.claim = down
    const work = ({ attempt, degraded, token }: object & Record<string, unknown>) => [
      attempt,
      degraded,
      token,
    ]
    const result = await idempotency.run(asked({ onUnavailable: 'allow' }), work as never)
    assert.deepEqual(result, {
      ...{ outcome: 'executed', value: [0, true, undefined], attempt: 0, degraded: true },
    })
    assert.equal(calls.complete, undefined)
    const misuse = asked({ onUnavailable: 'allow', key: '' })
    await assert.rejects(idempotency.run(misuse, mustNotRun), { code: 'INVALID_INPUT' })
  })

  it('is not one that has lost an answer: what was done is not done again', async (t) => {
    const { idempotency, before } = open(t)
    before.claim = () => {
      throw new CatracaError('STORE_CORRUPT', 'the response of a completed request is gone')
    }
    const allowed = asked({ onUnavailable: 'allow' })
    await assert.rejects(idempotency.run(allowed, mustNotRun), { code: 'STORE_CORRUPT' })
  })

  it('gives a claim back that was made after all, when nobody wants it any more', async (t) => {
    const { idempotency, patient, after } = open(t, { options: { timeoutMs: 200 } })
    const gate = deferred()
    const made = deferred()
    after.claim = () => {
      made.resolve()
      return gate.promise
    }
    await assert.rejects(idempotency.run(asked(), mustNotRun), { code: 'ENGINE_UNAVAILABLE' })
    await made.promise
    assert.equal((await patient.get(asked()))!.status, 'IN_PROGRESS')
    gate.resolve()
    while (await patient.get(asked())) await sleep(2)
    assert.equal((await patient.run(asked(), () => 1)).outcome, 'executed')
  })

  it('after the work: the outcome is unknown, and the record stays in progress', async (t) => {
    const { idempotency, patient, before } = await warm(t, { options: { timeoutMs: 2000 } })
    before.complete = down
    await assert.rejects(
      idempotency.run(asked(), () => 1),
      { code: 'UNKNOWN_OUTCOME' },
    )
    assert.equal((await patient.get(asked()))!.status, 'IN_PROGRESS')
  })

  it('after the work for a moment only: the answer is recorded all the same', async (t) => {
    const { idempotency, before, calls } = open(t)
    before.complete = () => calls.complete! < 3 && down()
    assert.equal((await idempotency.run(asked(), () => 1)).outcome, 'executed')
    assert.equal(calls.complete, 3)
  })

  it('after the record was completed, before anybody heard of it: the next one finds the answer', async (t) => {
    const { idempotency, patient, after } = await warm(t, { options: { timeoutMs: 2000 } })
    after.complete = unknown
    await assert.rejects(
      idempotency.run(asked(), () => 'kept'),
      { code: 'UNKNOWN_OUTCOME' },
    )
    assert.deepEqual(await patient.run(asked(), mustNotRun), { outcome: 'replayed', value: 'kept' })
  })

  it('while a failure is recorded: the failure is what is thrown', async (t) => {
    const { idempotency, before, reports } = open(t)
    before.fail = down
    await assert.rejects(
      idempotency.run(asked(), () => Promise.reject(new Error('mine'))),
      /mine/,
    )
    assert.equal(reports.length, 1)
  })

  it('while somebody waits: does not make the waiting one run it', async (t) => {
    let now = 0
    const { idempotency, before, calls } = open(t, { monotonicMs: () => now })
    await idempotency.begin(asked())
    const waiting = idempotency.run(asked({ waitMs: 200, onUnavailable: 'allow' }), mustNotRun)
    await until(() => calls.read! >= 1)
    Object.assign(before, { read: down })
    now = 200
    assert.equal((await waiting).outcome, 'refused')
    const earlier = calls.read!
    const second = idempotency.run(asked({ waitMs: 200, onUnavailable: 'allow' }), mustNotRun)
    await until(() => calls.read! > earlier)
    before.claim = down
    await assert.rejects(second, { code: 'ENGINE_UNAVAILABLE' })
  })
})
