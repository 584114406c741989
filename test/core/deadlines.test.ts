import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { Deadlines } from '../../src/core/deadlines.js'

/** Answers what it is sent. */
const ECHO = `require('node:worker_threads').parentPort.on('message', function (text) { this.postMessage(text) })`
const TIMEOUT_MS = 100

function standStill(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

test('an answer that came while this thread stood still is heard, and is not late', async () => {
  const worker = new Worker(ECHO, { eval: true })
  try {
    await once(worker, 'online')
    // Not in the midst of hearing messages, where the next one would be heard before any timer.
    await new Promise((resolve) => setImmediate(resolve))
    const deadlines = new Deadlines(TIMEOUT_MS)
    const asked = Array.from({ length: 50 }, (_, i) => {
      const answered = once(worker, 'message').then(() => i)
      worker.postMessage(i)
      return deadlines.within(answered)
    })
    standStill(5 * TIMEOUT_MS)
    assert.equal((await Promise.all(asked)).length, 50)
  } finally {
    await worker.terminate()
  }
})

test('what has not come is late, also behind a pause', async () => {
  const late = { code: 'ENGINE_UNAVAILABLE' }
  const deadlines = new Deadlines(TIMEOUT_MS)
  const never = deadlines.within(new Promise(() => {}))
  standStill(5 * TIMEOUT_MS)
  await assert.rejects(never, late)
  const startedMs = performance.now()
  await assert.rejects(deadlines.within(new Promise(() => {})), late)
  assert.ok(performance.now() - startedMs >= TIMEOUT_MS - 1)
})
