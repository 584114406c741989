import { connect } from 'node:net'
import { TAKE_BUCKET } from '../../src/engines/redis/rate-limit/counters.js'
import type { Call } from './turns.js'

const LINE_END = 10
const PLAN = ['', 'rpm', '1000000', '1', '1000', '1']

/**
 * What the machine allows: the same script over a socket, with nothing around it. Calls share an EVALSHA as in the product, and
 * replies are counted and not read.
 */
export async function bareTakes(port: number, keys: number, together: number): Promise<Call> {
  const socket = connect({ host: '127.0.0.1', port, noDelay: true })
  await new Promise((resolve) => socket.once('connect', resolve))
  socket.write(command(['SCRIPT', 'LOAD', TAKE_BUCKET.source]))
  await new Promise((resolve) => socket.once('data', resolve))
  let waiting: { key: string; resolve: (told: unknown) => void }[] = []
  const sent: { resolve: (told: unknown) => void }[][] = []
  let lines = 0
  socket.on('data', (chunk) => {
    for (const byte of chunk) if (byte === LINE_END) lines++
    // Each reply is its length, the time, and two numbers for each item.
    while (sent.length > 0 && lines >= 2 + 2 * sent[0]!.length) {
      const items = sent.shift()!
      lines -= 2 + 2 * items.length
      for (const { resolve } of items) resolve(true)
    }
  })
  const send = () => {
    if (waiting.length === 0) return
    const count = String(waiting.length)
    socket.write(
      command(['EVALSHA', TAKE_BUCKET.sha, count, ...waiting.map(({ key }) => key), count, ...PLAN]),
      'latin1',
    )
    sent.push(waiting)
    waiting = []
  }
  return (i) =>
    new Promise((resolve) => {
      waiting.push({ key: `ratelimit:floor-${i % keys}:one`, resolve })
      if (waiting.length >= together) send()
      else if (waiting.length === 1) setImmediate(send)
    })
}

const command = (args: string[]): string =>
  `*${args.length}\r\n${args.map((arg) => `$${arg.length}\r\n${arg}\r\n`).join('')}`
