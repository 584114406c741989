import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { type ConsumerOptions, idempotentConsumer } from '../../../src/guards/idempotency/consumer.js'
import { deferred, down, open, until } from './support.js'

interface Message {
  id: string
  text: string
}
const message = { id: 'm-1', text: 'olá' }

function consumer(
  t: TestContext,
  changes: Partial<ConsumerOptions<Message, unknown>> = {},
  timeoutMs = 20_000,
) {
  const opened = open(t, { options: { timeoutMs } })
  const handled: string[] = []
  const consume = idempotentConsumer<Message, unknown>({
    idempotency: opened.idempotency,
    key: ({ id }) => id,
    payload: ({ text }) => text,
    handle: ({ text }) => handled.push(text),
    ...changes,
  })
  return { ...opened, handled, consume }
}

describe('an idempotent consumer', () => {
  it('does each message once, and acknowledges every delivery', async (t) => {
    const { consume, handled, idempotency } = consumer(t)
    assert.deepEqual(await consume(message), { action: 'ack', replayed: false, value: 1 })
    assert.deepEqual(await consume(message), { action: 'ack', replayed: true, value: 1 })
    assert.deepEqual(handled, ['olá'])
    assert.equal((await idempotency.get({ operation: 'CONSUME', key: 'm-1' }))!.status, 'COMPLETED')
  })

  it('has a message delivered again while somebody is at it', async (t) => {
    const gate = deferred()
    const { consume, calls } = consumer(t, { handle: () => gate.promise })
    const first = consume(message)
    await until(() => calls.claim === 1)
    assert.deepEqual(await consume(message), { action: 'redeliver', delayMs: 1000, why: 'in-progress' })
    gate.resolve()
    assert.equal((await first).action, 'ack')
  })

  it('puts aside what comes under the key of another message, or has none', async (t) => {
    const { consume } = consumer(t)
    await consume(message)
    assert.deepEqual(await consume({ ...message, text: 'other' }), { action: 'reject', why: 'other-request' })
    const nameless = await consume({ id: '', text: 'x' })
    assert.deepEqual([nameless.action, 'why' in nameless && nameless.why], ['reject', 'invalid'])
  })

  it('has a failure delivered again, later each time, and gives up in the end', async (t) => {
    const error = new Error('no route')
    const { consume } = consumer(t, {
      maxAttempts: 4,
      maxRetryDelayMs: 3000,
      handle: () => Promise.reject(error),
    })
    const told = []
    for (let i = 0; i < 4; i++) told.push(await consume(message))
    assert.deepEqual(told, [
      ...[1000, 2000, 3000].map((delayMs) => ({ action: 'redeliver', delayMs, why: 'failed', error })),
      { action: 'reject', why: 'attempts', error },
    ])
  })

  it('gives up a message whose handler never ends, as one that kills its process', async (t) => {
    const { consume, idempotency, handled } = consumer(t, { maxAttempts: 2 })
    const claim = { operation: 'CONSUME', key: message.id, payload: message.text }
    for (let i = 0; i < 2; i++) {
      const begun = await idempotency.begin(claim)
      assert.ok(begun.outcome === 'claimed')
      await idempotency.fail(claim, begun.token)
    }
    for (let i = 0; i < 2; i++) {
      const told = await consume(message)
      assert.deepEqual([told.action, 'why' in told && told.why], ['reject', 'attempts'])
    }
    assert.deepEqual(handled, [])
  })

  it('has it delivered again when the engine does not answer, before and after the work', async (t) => {
    const { consume, before, handled, store } = consumer(t, {}, 1000)
    await store.remove({ operation: 'x', key: 'x' })
    before.claim = down
    const early = await consume(message)
    assert.deepEqual(
      [early.action, 'why' in early && early.why, handled.length],
      ['redeliver', 'unavailable', 0],
    )
    delete before.claim
    before.complete = down
    const late = await consume(message)
    assert.deepEqual([late.action, 'why' in late && late.why, handled.length], ['redeliver', 'recording', 1])
    const again = await consume(message)
    assert.deepEqual([again.action, 'why' in again && again.why], ['redeliver', 'in-progress'])
  })
})
