import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ManualClock } from '../../../src/core/clock.js'
import { CatracaError } from '../../../src/core/errors.js'
import { notExecuted } from '../../../src/guards/idempotency/refusals.js'
import type { EndingPolicy, RunRequest } from '../../../src/guards/idempotency/types.js'
import { deferred, mustNotRun, open, until } from './support.js'

const NOW = Date.UTC(2030, 0, 1)
const asked = (changes: Partial<RunRequest> = {}) =>
  ({
    operation: 'PRODUCE',
    key: '5c1e0a56-4a58-4aaf-9359-83ec8f663f10',
    payload: { queue: 'DEV.QUEUE.1', messages: 100 },
    ...changes,
  }) as RunRequest & { requestHash?: undefined }

describe('run', () => {
  it('does the work once, and gives its answer to everybody after', async (t) => {
    const { idempotency } = open(t)
    let runs = 0
    const work = async () => ({ processed: ++runs })
    assert.deepEqual(await idempotency.run(asked(), work), {
      ...{ outcome: 'executed', value: { processed: 1 }, attempt: 1 },
    })
    const reordered = asked({ payload: { messages: 1e2, queue: 'DEV.QUEUE.1' } })
    const upper = asked({ key: asked().key.toUpperCase() })
    for (const request of [asked(), reordered, upper])
      assert.deepEqual(await idempotency.run(request, work), { outcome: 'replayed', value: { processed: 1 } })
    assert.equal(runs, 1)
  })

  it('gives 199 of 200 duplicates at once the answer of the one', async (t) => {
    const { idempotency } = open(t)
    let runs = 0
    const work = async () => {
      await new Promise((resolve) => setTimeout(resolve, 50))
      return { run: ++runs, at: Math.random() }
    }
    const results = await Promise.all(
      Array.from({ length: 200 }, () => idempotency.run(asked({ waitMs: 20_000 }), work)),
    )
    assert.equal(runs, 1)
    assert.equal(results.filter(({ outcome }) => outcome === 'executed').length, 1)
    assert.equal(results.filter(({ outcome }) => outcome === 'replayed').length, 199)
    assert.equal(new Set(results.map((result) => JSON.stringify('value' in result && result.value))).size, 1)
  })

  it('shares one look at the record between all who wait in a process', async (t) => {
    const { idempotency, calls } = open(t)
    const gate = deferred()
    const first = idempotency.run(asked(), () => gate.promise)
    await until(() => calls.claim === 1)
    const others = Array.from({ length: 50 }, () =>
      idempotency.run(asked({ waitMs: 10_000 }), () => undefined),
    )
    await until(() => (calls.read ?? 0) >= 3)
    assert.equal(calls.claim, 51)
    gate.resolve()
    await Promise.all([first, ...others])
    assert.ok(calls.read! < 20, `${calls.read} reads`)
    assert.equal(calls.claim, 51)
  })

  it('refuses what is in progress, and says when to ask again, unless its caller has gone', async (t) => {
    const clock = new ManualClock(NOW)
    const { idempotency, calls } = open(t, { clock })
    const gate = deferred()
    const first = idempotency.run(asked(), () => gate.promise)
    await until(() => calls.claim === 1)
    const refused = { outcome: 'refused', reason: 'in-progress' }
    assert.deepEqual(await idempotency.run(asked(), mustNotRun), { ...refused, retryAfterMs: 1000 })
    clock.advance(20_000)
    assert.deepEqual(await idempotency.run(asked(), mustNotRun), { ...refused, retryAfterMs: 10_000 })
    assert.equal((await idempotency.run(asked({ waitMs: 30 }), mustNotRun)).outcome, 'refused')
    const signal = AbortSignal.abort()
    await assert.rejects(idempotency.run(asked({ waitMs: 9000, signal }), mustNotRun), { code: 'ABORTED' })
    gate.resolve()
    await first
  })

  it('refuses another request under the same key, whatever became of the first', async (t) => {
    const { idempotency } = open(t)
    const refused = { outcome: 'refused', reason: 'other-request' }
    const { payload: _, rawPayload: __, ...without } = asked()
    for (const ending of ['complete', 'fail'] as const) {
      const key = `k-${ending}`
      await idempotency.run(asked({ key, ending: { ofValue: () => ending } }), () => 1)
      const others = [
        { ...without, key },
        asked({ key, payload: {} }),
        { ...without, key, requestHash: 'deadbeef' },
      ]
      for (const other of others) assert.deepEqual(await idempotency.run(other, mustNotRun), refused)
    }
  })

  it('takes a hash instead of a payload, and not both', async (t) => {
    const { idempotency } = open(t)
    const { payload: _, rawPayload: __, ...without } = asked()
    const hash = 'AB'.repeat(32)
    await idempotency.run({ ...without, requestHash: hash }, () => 1)
    const again = await idempotency.run({ ...without, requestHash: hash.toLowerCase() }, mustNotRun)
    assert.equal(again.outcome, 'replayed')
    await assert.rejects(
      idempotency.run({ ...asked(), requestHash: hash } as unknown as RunRequest, mustNotRun),
      {
        code: 'INVALID_INPUT',
        message: /requestHash must not be given together with payload/,
      },
    )
  })

  it('hashes the payload before the work can change it', async (t) => {
    const { idempotency } = open(t)
    const payload = { items: [1] }
    await idempotency.run(asked({ payload }), () => payload.items.push(2))
    assert.equal((await idempotency.run(asked({ payload: { items: [1] } }), mustNotRun)).outcome, 'replayed')
  })

  it('records a failure, throws it, and tries again with the next attempt', async (t) => {
    const { idempotency } = open(t)
    const attempts: number[] = []
    const work = ({ attempt }: { attempt: number }) => {
      attempts.push(attempt)
      if (attempt < 3) throw new TypeError('no route')
      return 'sent'
    }
    await assert.rejects(idempotency.run(asked(), work), new TypeError('no route'))
    const record = await idempotency.get(asked())
    assert.deepEqual([record!.status, record!.error], ['FAILED', 'TypeError: no route'])
    await assert.rejects(idempotency.run(asked(), work), TypeError)
    assert.deepEqual(await idempotency.run(asked(), work), { outcome: 'executed', value: 'sent', attempt: 3 })
    assert.deepEqual(attempts, [1, 2, 3])
  })

  it('records nothing of what was refused before it was done', async (t) => {
    const { idempotency } = open(t)
    const refusals = [
      notExecuted(new Error('no stock')),
      new CatracaError('QUOTA_EXCEEDED', 'used up'),
      new CatracaError('ENGINE_UNAVAILABLE', 'down'),
    ]
    for (const refusal of refusals) {
      const thrown = await idempotency.run(asked(), () => Promise.reject(refusal)).catch((error) => error)
      assert.equal(thrown, refusal)
      assert.equal(await idempotency.get(asked()), undefined)
    }
    const asError: EndingPolicy = { ofError: () => 'release' }
    await assert.rejects(idempotency.run(asked({ ending: asError }), () => Promise.reject(new Error('x'))))
    const asValue: EndingPolicy = { ofValue: () => 'release' }
    await idempotency.run(asked({ ending: asValue }), () => 1)
    assert.equal(await idempotency.get(asked()), undefined)
  })

  it('ends the claim though the policy throws: done is done, and failed may be tried again', async (t) => {
    const { idempotency, reports } = open(t)
    const mistake = () => {
      throw new Error('mistake')
    }
    const done = asked({ key: 'done', ending: { ofValue: mistake } })
    await assert.rejects(
      idempotency.run(done, () => 5),
      { message: 'mistake' },
    )
    assert.equal((await idempotency.get(done))!.responsePayload, '5')
    const failed = asked({ key: 'failed', ending: { ofError: mistake } })
    const work = () => Promise.reject(new Error('work'))
    await assert.rejects(idempotency.run(failed, work), { message: 'work' })
    assert.equal((await idempotency.get(failed))!.status, 'FAILED')
    assert.equal(reports.length, 1)
  })

  it('shows the key as it is stored', async (t) => {
    const { idempotency } = open(t)
    await idempotency.run(asked({ operation: 'A:B', key: 'c:d' }), () => 1)
    assert.equal((await idempotency.get({ operation: 'A:B', key: 'c:d' }))!.pk, 'A%3AB#c:d')
  })

  it('tells the work its attempt and its token, which ends the claim elsewhere too', async (t) => {
    const { idempotency } = open(t)
    const work = async ({ token }: { token?: string }) => {
      await idempotency.extend(asked(), token!, 60_000)
      await idempotency.complete(asked(), token!, 'by token')
      return 'by return'
    }
    assert.equal((await idempotency.run(asked(), work)).outcome, 'executed')
    assert.deepEqual(await idempotency.run(asked(), mustNotRun), { outcome: 'replayed', value: 'by token' })
    const { status, ...view } = (await idempotency.get(asked()))!
    assert.equal(status, 'COMPLETED')
    assert.deepEqual(
      Object.keys(view).filter((name) => /owner|token/i.test(name)),
      [],
    )
  })

  it('lives as long as was asked for within the range, and is forgotten then', async (t) => {
    const clock = new ManualClock(NOW)
    const { idempotency } = open(t, { clock })
    const lifeOf = async (expirySeconds?: number) => {
      const key = `k${expirySeconds}`
      await idempotency.run(asked({ key, ...(expirySeconds !== undefined && { expirySeconds }) }), () => 1)
      const { expiresAt, ttl } = (await idempotency.get(asked({ key })))!
      assert.equal(ttl, Date.parse(expiresAt) / 1000)
      return (Date.parse(expiresAt) - NOW) / 1000
    }
    const lives = [await lifeOf(), await lifeOf(3600), await lifeOf(60), await lifeOf(30 * 86_400)]
    assert.deepEqual(lives, [86_400, 3600, 60, 30 * 86_400])
    for (const outside of [0, 59, 30 * 86_400 + 1, Number.NaN]) {
      const message = /from 60 to 2592000/
      await assert.rejects(lifeOf(outside), { code: 'INVALID_INPUT', message })
    }
    clock.advance(3_600_000)
    assert.equal(await idempotency.get(asked({ key: 'k3600' })), undefined)
    assert.equal((await idempotency.run(asked({ key: 'k3600' }), () => 2)).outcome, 'executed')
  })

  it('refuses what is no request, and names the field', async (t) => {
    const { idempotency } = open(t)
    const wrong: [Partial<Record<keyof RunRequest, unknown>>, RegExp][] = [
      [{ operation: '' }, /^operation/],
      [{ key: 'a#b' }, /^key/],
      [{ key: undefined }, /^key/],
      [{ leaseMs: 5 }, /^leaseMs/],
      [{ waitMs: -1 }, /^waitMs/],
      [{ expirySeconds: '5' }, /^expirySeconds/],
      [{ onLeaseExpired: 'maybe' }, /^onLeaseExpired/],
      [{ payload: undefined, requestHash: 'short' }, /^requestHash/],
    ]
    for (const [changes, message] of wrong) {
      const request = asked(changes as Partial<RunRequest>)
      await assert.rejects(idempotency.run(request, mustNotRun), { code: 'INVALID_INPUT', message })
    }
    for (const token of ['', 'short', 5, undefined])
      await assert.rejects(idempotency.complete(asked(), token as string, 1), { code: 'INVALID_INPUT' })
    await assert.rejects(idempotency.fail(asked(), 'x'.repeat(32), 'e'.repeat(1001)), {
      code: 'INVALID_INPUT',
    })
  })
})

describe('answers', () => {
  const answerOf = async (
    t: Parameters<typeof open>[0],
    value: unknown,
    maxResponseBytes = 4 * 1024 * 1024,
  ) => {
    const { idempotency, store } = open(t, { options: { maxResponseBytes } })
    await idempotency.run(asked(), () => value)
    const stored = await store.read({ operation: 'PRODUCE', key: asked().key }, Date.now())
    return { replay: await idempotency.run(asked(), mustNotRun), stored: stored!, idempotency }
  }

  it('are kept as JSON, and compressed above 10 KB', async (t) => {
    const small = await answerOf(t, { text: 'é' })
    assert.deepEqual(small.stored.response, { encoding: 'json', text: '{"text":"é"}' })
    const value = Array.from({ length: 20_000 }, (_, i) => ({ i }))
    const { replay, stored, idempotency } = await answerOf(t, value)
    assert.ok(stored.response?.encoding === 'gzip' && stored.response.bytes.length < 100_000)
    assert.deepEqual(replay, { outcome: 'replayed', value })
    assert.deepEqual(JSON.parse((await idempotency.get(asked()))!.responsePayload!), value)
  })

  it('that are nothing are nothing again', async (t) => {
    const { replay } = await answerOf(t, undefined)
    assert.deepEqual(replay, { outcome: 'replayed', value: undefined })
  })

  it('that are too large are said to be, and nothing is done again', async (t) => {
    const { replay, stored, idempotency } = await answerOf(t, 'x'.repeat(2000), 1000)
    assert.deepEqual(replay, { outcome: 'omitted', sizeBytes: 2002 })
    assert.deepEqual([stored.status, stored.response], ['COMPLETED', undefined])
    assert.equal((await idempotency.get(asked()))!.omittedBytes, 2002)
  })

  it('that JSON cannot say end the record, and tell the caller', async (t) => {
    const { idempotency } = open(t)
    await assert.rejects(
      idempotency.run(asked(), () => 5n),
      { code: 'IDEMPOTENCY_ANSWER_NOT_WRITABLE', message: /the work was executed.*BigInt/ },
    )
    assert.deepEqual(await idempotency.run(asked(), mustNotRun), { outcome: 'omitted', sizeBytes: 0 })
    const { status, omittedBytes } = (await idempotency.get(asked()))!
    assert.deepEqual([status, omittedBytes], ['COMPLETED', 0])
    const begun = await idempotency.begin(asked({ key: 'by-token' }))
    assert.ok(begun.outcome === 'claimed')
    const at = { operation: 'PRODUCE', key: 'by-token' }
    const code = 'IDEMPOTENCY_ANSWER_NOT_WRITABLE'
    await assert.rejects(
      idempotency.complete(at, begun.token, () => 1),
      { code },
    )
    assert.equal((await idempotency.get(at))!.status, 'COMPLETED')
  })

  it('are the first ones: another is refused, the same again is fine', async (t) => {
    const { idempotency } = open(t)
    const begun = await idempotency.begin(asked())
    assert.ok(begun.outcome === 'claimed')
    for (let i = 0; i < 2; i++) await idempotency.complete(asked(), begun.token, { a: 1 })
    await assert.rejects(idempotency.complete(asked(), begun.token, { a: 2 }), {
      code: 'IDEMPOTENCY_ANSWER_DIFFERS',
    })
    assert.deepEqual(await idempotency.run(asked(), mustNotRun), { outcome: 'replayed', value: { a: 1 } })
  })

  it('that would expand without end, or are damaged, are refused and not done again', async (t) => {
    const { idempotency, store } = open(t)
    const { gzipSync } = await import('node:zlib')
    const bombs = [gzipSync(Buffer.alloc(65 * 1024 * 1024)), Buffer.from('no gzip'), gzipSync('no JSON')]
    for (const [i, bytes] of bombs.entries()) {
      const key = `bomb-${i}`
      const begun = await idempotency.begin(asked({ key }))
      assert.ok(begun.outcome === 'claimed')
      const { ownerOf } = await import('../../../src/guards/idempotency/owner-token.js')
      const completion = { response: { encoding: 'gzip', bytes } } as const
      await store.complete({ operation: 'PRODUCE', key }, ownerOf(begun.token), completion, Date.now())
      await assert.rejects(idempotency.run(asked({ key }), mustNotRun), { code: 'STORE_CORRUPT' })
    }
  })
})
