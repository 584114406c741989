import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import { describe, it } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { Bodies } from '../../../src/server/http/bodies.js'
import { Turns } from '../../../src/server/http/turns.js'

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

describe('turns of newcomers', () => {
  /** How many connections come before the second piece, if one comes in each turn for so many turns. */
  const comeBefore = async (coming: number): Promise<number> => {
    const newcomers = { count: 0 }
    const turns = new Turns(newcomers)
    let before: number | undefined
    turns.add(() => {})
    turns.add(() => (before = newcomers.count))
    for (let i = 0; before === undefined; i++) {
      if (i < coming) newcomers.count++
      await turn()
    }
    return before
  }

  it('work waits while each turn brings a new connection', async () => {
    assert.equal(await comeBefore(40), 40)
  })

  it('but not for ever', async () => {
    assert.ok((await comeBefore(Number.POSITIVE_INFINITY)) < 100_000)
  })

  it('what has begun goes on before anything else begins', async () => {
    const turns = new Turns()
    const order: string[] = []
    turns.add(() => {
      order.push('a1')
      turns.goOn(() => order.push('a2'), 'a')
    })
    turns.add(() => order.push('b'), 0, 'b')
    while (order.length < 3) await turn()
    assert.deepEqual(order, ['a1', 'a2', 'b'])
  })
})
