import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { after, before, describe, it, type TestContext } from 'node:test'
import { HttpLine } from '../../../bench/support/http-line.js'
import { hashKey } from '../../../src/guards/access/index.js'
import { serve, type TestServer, until } from '../support.js'

const KEY = 'ctr_the-key-of-these-tests'
const head = (...lines: string[]): string => `${[...lines, 'Host: x'].join('\r\n')}\r\n\r\n`
const AUTHORIZED = `Authorization: Bearer ${KEY}`
const LIVE = head('GET /live HTTP/1.1')
const CONNECTIONS = 50
/** As much as Node reads at once. */
const FLOOD_BYTES = 64 * 1024

const JSON_TYPE = 'Content-Type: application/json'
const CHUNKED = [JSON_TYPE, 'Transfer-Encoding: chunked']
const FLOODS: [name: string, begin: string, again: string][] = [
  ['one-byte chunks of a stranger', head('POST /nowhere HTTP/1.1', ...CHUNKED), '1\r\n \r\n'],
  ['one-byte chunks of a caller', head('POST /check HTTP/1.1', AUTHORIZED, ...CHUNKED), '1\r\n \r\n'],
  ['short headers', 'GET /live HTTP/1.1\r\nHost: x\r\n', 'a:b\r\n'],
  ['requests of a stranger', '', 'GET /z HTTP/1.1\r\nHost:x\r\n\r\n'],
  ['requests of a caller', head('GET /session HTTP/1.1', AUTHORIZED), 'GET /z HTTP/1.1\r\nHost:x\r\n\r\n'],
]

describe('slices', () => {
  let server: TestServer
  const cleanup: (() => unknown)[] = []
  before(async () => {
    const context = { after: (work: () => unknown) => cleanup.push(work) } as unknown as TestContext
    const bootstrapKeys = () => [{ name: 'app', scopes: ['check' as const], hash: hashKey(KEY) }]
    server = await serve(context, { bootstrapKeys })
  })
  after(async () => {
    for (const work of cleanup) await work()
  })

  const meet = (t: TestContext) => {
    const line = new HttpLine()
    t.after(() => line.destroy())
    server.app.server.emit('connection', line)
    return line
  }

  for (const [name, begin, again] of FLOODS) {
    it(`who comes behind ${name} waits for a part of them only`, async (t) => {
      let requests = 0
      const count = () => requests++
      server.app.server.prependListener('request', count)
      t.after(() => server.app.server.off('request', count))
      const flooding = Array.from({ length: CONNECTIONS }, () => meet(t))
      const flood = begin + again.repeat(Math.floor((FLOOD_BYTES - begin.length) / again.length))
      for (const line of flooding) line.send(flood)
      const other = meet(t)
      other.send(LIVE)
      await until('it is answered', () => other.received.startsWith('HTTP/1.1 200'))
      const leftBytes = flooding.reduce((sum, { readableLength }) => sum + readableLength, 0)
      assert.ok(leftBytes > 0.8 * CONNECTIONS * FLOOD_BYTES, `${leftBytes} bytes are left for later`)
      assert.ok(requests < 25 * CONNECTIONS, `${requests} requests were parsed`)
    })
  }

  it('every byte is parsed in the end, and once', async (t) => {
    const line = meet(t)
    const body = JSON.stringify({ customerIds: ['ana'], allowlists: ['vip'], pad: 'x'.repeat(30_000) })
    const chunks = [...body].map((byte) => `1\r\n${byte}\r\n`).join('')
    const post = head('POST /check HTTP/1.1', AUTHORIZED, ...CHUNKED)
    line.send(`${LIVE.repeat(100)}${post}${chunks}0\r\n\r\n${LIVE.repeat(100)}`)
    const live = () => line.received.split('HTTP/1.1 200').length - 1
    await until('all are answered', () => live() === 200)
    assert.match(line.received, /HTTP\/1\.1 400 [\s\S]*"path":"pad"/)
  })

  for (const [name, count, reads] of [
    ['reads its answers', 40, true],
    ['reads no answer', 8, false],
  ] as const) {
    it(`many requests for a large answer at once harm nobody, whether their client ${name}`, async (t) => {
      const { port } = server.app.server.address() as AddressInfo
      const socket = connect(port, '127.0.0.1')
      t.after(() => socket.destroy())
      let received = ''
      if (reads) socket.setEncoding('latin1').on('data', (text) => (received += text))
      await once(socket, 'connect')
      socket.write(head('GET /openapi.json HTTP/1.1').repeat(count))
      if (reads) await until('all are answered', () => received.split('HTTP/1.1 200').length - 1 === count)
      else await until('some are under way', () => socket.readableLength > 0 || socket.bytesRead > 0)
      socket.write(LIVE)
      if (reads)
        await until('so is what came later', () => received.split('HTTP/1.1 200').length - 2 === count)
      assert.equal((await server.call('GET', '/live')).status, 200)
    })
  }

  it('what comes after a connection has lost its parser reaches nobody', async (t) => {
    const line = meet(t)
    line.send(LIVE)
    await until('it is answered', () => line.received !== '')
    const { parser } = line as unknown as { parser: { close(): void } | null }
    assert.ok(parser)
    // As Node does it when a connection is over.
    Object.assign(line, { parser: null })
    const before = line.received
    let requests = 0
    server.app.server.prependOnceListener('request', () => requests++)
    line.send(LIVE)
    await server.call('GET', '/live')
    assert.equal(requests, 1)
    assert.equal(line.received, before)
  })

  it('a body waits in the connection for as long as nobody reads it', async (t) => {
    const line = meet(t)
    let request: { readableLength: number } | undefined
    const { app } = server
    app.server.prependOnceListener('request', (incoming) => {
      request = incoming
      // As a handler that does something else first.
      incoming.on = new Proxy(incoming.on, { apply: () => incoming })
    })
    const post = head('POST /check HTTP/1.1', AUTHORIZED, JSON_TYPE, 'Content-Length: 60000')
    line.send(post + 'x'.repeat(60_000))
    await until('it has come', () => (request?.readableLength ?? 0) > 0)
    for (let turn = 0; turn < 1000; turn++) await new Promise((resolve) => setImmediate(resolve))
    assert.ok(request!.readableLength < 50_000, `${request!.readableLength} bytes were read`)
    assert.ok(line.readableLength > 0)
  })

  it('an upgrade is ignored, and what comes behind it is a request as any other', async (t) => {
    const upgrade = head('GET /live HTTP/1.1', 'Connection: Upgrade', 'Upgrade: websocket', 'x-request-id: a')
    const sent = upgrade + head('GET /live HTTP/1.1', 'x-request-id: b') + LIVE
    const answers = async (pieces: string[]) => {
      const line = meet(t)
      for (const piece of pieces) line.send(piece)
      await until(`all are answered: ${pieces.map(({ length }) => length)}`, () =>
        /id: a[\s\S]*id: b[\s\S]*HTTP[\s\S]*\}/.test(line.received),
      )
      return line.received.match(/HTTP\/1\.1 \d+/g)
    }
    const cuts = Array.from({ length: upgrade.length + 3 }, (_, i) => i)
    const all = await Promise.all(cuts.map((at) => answers([sent.slice(0, at), sent.slice(at)])))
    for (const statuses of all) assert.deepEqual(statuses, ['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 200'])
  })
})
