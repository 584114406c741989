import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import { describe, it } from 'node:test'
import { Bodies } from '../../../src/server/http/bodies.js'

const callerOf = ({ headers }: IncomingMessage): unknown => headers.from

describe('turns of callers', () => {
  it('a large body waits for one of each other caller, not for all', async () => {
    const bodies = new Bodies(1 << 24, callerOf)
    const order: string[] = []
    const send = (from: string) => {
      const stream = Object.assign(new PassThrough(), { headers: { from } })
      stream.end('x'.repeat(20_000))
      return bodies.read(stream as unknown as IncomingMessage, 1 << 20).then(() => order.push(from))
    }
    const reads = ['a', 'a', 'a', 'a', 'a', 'b', 'a', 'c'].map(send)
    await Promise.all(reads)
    assert.deepEqual(order, ['a', 'b', 'c', 'a', 'a', 'a', 'a', 'a'])
  })
})
