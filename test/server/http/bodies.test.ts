import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import { describe, it } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Bodies } from '../../../src/server/http/bodies.js'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

/** Bytes in use after a garbage collection, buffers included. */
function usedBytes(): number {
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

function openBody() {
  const stream = new PassThrough({ highWaterMark: 1 << 20 })
  return { stream, request: Object.assign(stream, { headers: {} }) as unknown as IncomingMessage }
}

const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('bodies of requests', () => {
  it('in one-byte chunks take memory for their bytes, not for their chunks', async () => {
    const { stream, request } = openBody()
    const text = 'abcdefghij'.repeat(6000)
    const bytes = Buffer.from(text)
    const before = usedBytes()
    const body = new Bodies(1 << 20).read(request, 1 << 20)
    for (let i = 0; i < bytes.length; i++) {
      stream.write(Buffer.from(bytes.subarray(i, i + 1)))
      if (i % 500 === 0) await turn()
    }
    await turn()
    const heldBytes = usedBytes() - before
    stream.end()
    assert.equal(await body, text)
    assert.ok(heldBytes < 2 << 20, `${heldBytes} bytes held for a body of ${bytes.length}`)
  })

  it('are whole, also where a chunk ends within a character', async () => {
    const text = 'ação, 日本語, 🎟 '.repeat(200)
    const bytes = Buffer.from(text)
    for (const size of [1, 7, 1000, bytes.length]) {
      const { stream, request } = openBody()
      const body = new Bodies(1 << 20).read(request, 1 << 20)
      for (let at = 0; at < bytes.length; at += size) stream.write(bytes.subarray(at, at + size))
      stream.end()
      assert.equal(await body, text)
    }
  })
})
