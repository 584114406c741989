import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { CatracaError } from '../../../src/core/errors.js'
import { hashKey } from '../../../src/guards/access/index.js'
import type { CheckAnswer } from '../../../src/guards/allowlist/types.js'
import { MAX_KEY_AGE_MS } from '../../../src/server/access/registry.js'
import { createServer } from '../../../src/server/index.js'
import { parse, sampleOf } from '../../metrics/support.js'
import { inTime } from '../../support/in-time.js'
import { oneConnection, send, serve, until } from '../support.js'
import { countRequests, dial, head, type KeyedServer, normal, talk, withAccepted } from './support.js'

const KEY = 'ctr_the-key-of-these-tests'
const READ_KEY = 'ctr_a-key-that-may-only-read'
const LINE = 'GET /customers/ana/check?allowlists=vip,wave HTTP/1.1'
const PLAIN = ['Host: catraca.example', `Authorization: Bearer ${KEY}`]

async function serveKeyed(t: TestContext, options: Parameters<typeof serve>[1] = {}): Promise<KeyedServer> {
  const bootstrapKeys = () => [
    { name: 'app', scopes: ['check' as const], hash: hashKey(KEY) },
    { name: 'reader', scopes: ['read' as const], hash: hashKey(READ_KEY) },
  ]
  const server = await serve(t, { bootstrapKeys, ...options })
  const { allowlists } = server.catraca
  await allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
  const config = { strategy: 'PERCENTAGE', percentage: 1 } as const
  await allowlists.create({ id: 'wave', name: 'Wave', type: 'ONDA', config })
  await allowlists.add('vip', 'ana')
  return withAccepted(server)
}

describe('direct checks', () => {
  const ANSWERED: [string, string][] = [
    ['the plainest request', head(LINE, ...PLAIN)],
    ['names in any case', head(LINE, 'hOST: x', `AUTHORIZATION: bearer ${KEY}`)],
    [
      'many other headers',
      head(LINE, ...PLAIN, 'User-Agent: curl/8', 'Accept: */*', 'X-Empty:', 'traceparent: 00-a-b-01'),
    ],
    ['an id of its own', head(LINE, ...PLAIN, 'x-request-id: mine-1')],
    ['an id that is not fit', head(LINE, ...PLAIN, 'x-request-id: <script>')],
    ['spaces around values', head(LINE, 'Host:  x ', `Authorization: \t Bearer ${KEY}  `)],
    ['a connection to be kept', head(LINE, ...PLAIN, 'Connection: Keep-Alive')],
    ['an encoded list', head(LINE.replace(',', '%2C').replace('vip', 'v%69p'), ...PLAIN)],
    ['a customer who is unknown', head(LINE.replace('ana', 'zoe:1@x=y~z'), ...PLAIN)],
    ['a list that is unknown', head(LINE.replace('vip', 'nope'), ...PLAIN)],
  ]
  it("answers as Node's server would", async (t) => {
    const server = await serveKeyed(t)
    const seen = countRequests(server)
    for (const [i, [name, request]] of ANSWERED.entries()) {
      const direct = await talk(t, server, [request])
      assert.match(direct, /^HTTP\/1\.1 200 OK\r\n/, name)
      assert.equal(seen(), i, `answered by the door: ${name}`)
      const byNode = await talk(t, server, [request.slice(0, 1), request.slice(1)])
      assert.equal(seen(), i + 1, `answered by Node: ${name}`)
      assert.equal(normal(direct), normal(byNode), name)
    }
  })

  const LEFT: [string, string][] = [
    ['another path', head('GET /live HTTP/1.1', ...PLAIN)],
    ['another method', head(LINE.replace('GET', 'HEAD'), ...PLAIN)],
    ['a method in small letters', head(LINE.replace('GET', 'get'), ...PLAIN)],
    ['HTTP/1.0', head(LINE.replace('1.1', '1.0'), ...PLAIN)],
    ['an absolute address', head(LINE.replace('/customers', 'http://x/customers'), ...PLAIN)],
    ['an encoded customer', head(LINE.replace('ana', '%61na'), ...PLAIN)],
    ['an encoding that is wrong', head(LINE.replace(',', '%2'), ...PLAIN)],
    ['a plus for a space', head(LINE.replace(',', '+'), ...PLAIN)],
    ['a space in the path', head(LINE.replace('ana', 'a na'), ...PLAIN)],
    ['an id that is wrong', head(LINE.replace('ana', 'a|na'), ...PLAIN)],
    ['a line before', `\r\n${head(LINE, ...PLAIN)}`],
    ['no host', head(LINE, PLAIN[1]!)],
    ['two hosts', head(LINE, ...PLAIN, 'Host: y')],
    ['no key', head(LINE, PLAIN[0]!)],
    ['another key', head(LINE, PLAIN[0]!, `Authorization: Bearer ${KEY}x`)],
    ['two keys', head(LINE, ...PLAIN, 'Authorization: Bearer other')],
    ['two keys, the good one last', head(LINE, PLAIN[0]!, 'Authorization: Bearer other', PLAIN[1]!)],
    ['a key without the scope', head(LINE, PLAIN[0]!, `Authorization: Bearer ${READ_KEY}`)],
    ['two ids', head(LINE, ...PLAIN, 'x-request-id: a', 'x-request-id: b')],
    ['a connection to be closed', head(LINE, ...PLAIN, 'Connection: close')],
    ['an upgrade', head(LINE, ...PLAIN, 'Connection: upgrade', 'Upgrade: websocket')],
    ['an expectation', head(LINE, ...PLAIN, 'Expect: 100-continue')],
    ['no length', head(LINE, ...PLAIN, 'Content-Length: 0')],
    ['a body', `${head(LINE, ...PLAIN, 'Content-Length: 5')}hello`],
    ['a body that looks like an end', `${head(LINE, ...PLAIN, 'Content-Length: 4')}\r\n\r\n`],
    ['chunks', `${head(LINE, ...PLAIN, 'Transfer-Encoding: chunked')}0\r\n\r\n`],
    [
      'a length and chunks',
      `${head(LINE, ...PLAIN, 'Content-Length: 5', 'Transfer-Encoding: chunked')}0\r\n\r\n`,
    ],
    ['a length with a space before its colon', `${head(LINE, ...PLAIN, 'Content-Length : 5')}hello`],
    ['a length behind a tab', `${head(LINE, ...PLAIN, '\tContent-Length: 5')}hello`],
    ['a folded header', head(LINE, ...PLAIN, 'X-A: b', ' Content-Length: 5')],
    ['a header behind a space', head(LINE, ...PLAIN, ' X-A: b')],
    ['a space before a colon', head(LINE, ...PLAIN, 'X-A : b')],
    ['a line feed alone', head(LINE, ...PLAIN, 'X-A: b\nContent-Length: 5')],
    ['a carriage return alone', head(LINE, ...PLAIN, 'X-A: b\rContent-Length: 5')],
    ['a NUL', head(LINE, ...PLAIN, 'X-A: \0')],
    ['a byte beyond ASCII', head(LINE, ...PLAIN, 'X-A: \xe9')],
    ['a header without a name', head(LINE, ...PLAIN, ': x')],
    ['a header without a colon', head(LINE, ...PLAIN, 'nonsense')],
    ['no header', head(LINE)],
    ['a connection of a proxy to be closed', head(LINE, ...PLAIN, 'Proxy-Connection: close')],
    ['two spaces', head(LINE.replace(' HTTP', '  HTTP'), ...PLAIN)],
    ['more headers than Node takes', head(LINE, ...new Array(3900).fill('a:'), ...PLAIN)],
    ['two requests at once', head(LINE, ...PLAIN) + head(LINE.replace('ana', 'zoe'), ...PLAIN)],
    ['headers that are too large', head(LINE, ...PLAIN, `X-A: ${'x'.repeat(17_000)}`)],
  ]
  it("leaves everything else to Node's server", async (t) => {
    const server = await serveKeyed(t)
    const seen = countRequests(server)
    for (const [name, request] of LEFT) {
      const before = seen()
      const direct = await talk(t, server, [request])
      assert.ok(seen() > before, `Node saw it: ${name}`)
      const byNode = await talk(t, server, [request.slice(0, 1), request.slice(1, 3), request.slice(3)])
      assert.equal(normal(direct), normal(byNode), name)
      assert.match(direct, /^HTTP\/1\.1 \d{3} /, name)
    }
  })

  it('takes the request of any cut', async (t) => {
    const server = await serveKeyed(t)
    const request = head(LINE, ...PLAIN)
    const whole = normal(await talk(t, server, [request]))
    const cuts = Array.from({ length: request.length - 1 }, (_, i) => i + 1)
    const answers = await Promise.all(
      cuts.map((at) => talk(t, server, [request.slice(0, at), request.slice(at)])),
    )
    for (const answer of answers) assert.equal(normal(answer), whole)
  })

  it('passes a connection on in the middle of its life, and loses nothing', async (t) => {
    const server = await serveKeyed(t)
    const seen = countRequests(server)
    const plain = head(LINE, ...PLAIN)
    const received = await talk(t, server, [plain, plain, head('GET /live HTTP/1.1', ...PLAIN), plain])
    assert.equal(received.match(/HTTP\/1\.1 200 OK/g)?.length, 4)
    assert.equal(received.match(/"overallAllowed":true/g)?.length, 3)
    assert.equal(seen(), 2)
    const ids = [...received.matchAll(/x-request-id: (\S+)/g)].map((match) => match[1])
    assert.equal(new Set(ids).size, 4)
  })

  it('follows headers that change from request to request', async (t) => {
    const server = await serveKeyed(t)
    const seen = countRequests(server)
    const agent = oneConnection(t)
    const ask = (id: string, key = KEY) =>
      server.call('GET', '/customers/ana/check?allowlists=vip', {
        agent,
        headers: { authorization: `Bearer ${key}`, 'x-request-id': id },
      })
    for (const id of ['a', 'b', 'b', 'c']) assert.equal((await ask(id)).headers['x-request-id'], id)
    assert.equal(seen(), 0)
    const other = `${KEY.slice(0, -1)}X`
    assert.equal((await ask('c', other)).status, 401)
  })

  it('waits for an engine that takes its time, in order', async (t) => {
    const server = await serveKeyed(t)
    const seen = countRequests(server)
    const { allowlists } = server.catraca
    const real = allowlists.checkNow.bind(allowlists)
    t.mock.method(allowlists, 'checkNow', async (customerId: string, lists: string[]) => {
      await sleep(customerId === 'ana' ? 50 : 0)
      return real(customerId, lists) as CheckAnswer
    })
    const received = await talk(t, server, [head(LINE, ...PLAIN), head(LINE.replace('ana', 'zoe'), ...PLAIN)])
    assert.deepEqual(
      [...received.matchAll(/"customerId":"(\w+)"/g)].map((match) => match[1]),
      ['ana', 'zoe'],
    )
    assert.equal(seen(), 0)
  })

  it('lets the long way tell what went wrong', async (t) => {
    const server = await serveKeyed(t)
    const { allowlists } = server.catraca
    for (const fail of [() => Promise.reject(new Error('wires')), () => assert.fail('wires')]) {
      const { mock } = t.mock.method(allowlists, 'checkNow', fail as never)
      const received = await talk(t, server, [head(LINE, ...PLAIN)])
      assert.match(received, /^HTTP\/1\.1 500 /)
      assert.match(received, /"code":"INTERNAL"/)
      assert.equal(mock.callCount(), 1, 'what has failed is not asked again')
      mock.restore()
      const after = await talk(t, server, [head('GET /live HTTP/1.1', ...PLAIN), head(LINE, ...PLAIN)])
      assert.match(after, /^HTTP\/1\.1 200 [\s\S]*HTTP\/1\.1 200 /)
    }
    const route = '/customers/:customerId/check'
    const headers = { authorization: `Bearer ${READ_KEY}` }
    const samples = parse((await server.call('GET', '/metrics', { headers })).text)
    assert.equal(sampleOf(samples, 'catraca_http_requests_total', { route, status: '500' }), 2)
  })

  it('answers a caller who has stopped talking, also when the store fails', async (t) => {
    const server = await serveKeyed(t)
    const seen = countRequests(server)
    const { allowlists } = server.catraca
    const down = new CatracaError('ENGINE_UNAVAILABLE', 'the store does not answer')
    for (const [path, byNode] of [
      ['/customers/ana/check?allowlists=vip', 0],
      ['/customers/ana/check?allowlists=vip&consistency=strong', 1],
    ] as const) {
      let fail: (error: unknown) => void = () => {}
      const pending = () => new Promise<never>((_, reject) => (fail = reject))
      const now = t.mock.method(allowlists, 'checkNow', pending).mock
      const later = t.mock.method(allowlists, 'check', pending).mock
      const socket = dial(t, server)
      socket.end(head(`GET ${path} HTTP/1.1`, ...PLAIN))
      await until('it is asked', () => now.callCount() + later.callCount() === 1)
      await until('it has heard the end', () => [...server.accepted.values()].at(-1)!.readableEnded)
      fail(down)
      assert.match(
        await text(socket),
        /^HTTP\/1\.1 503 Service Unavailable\r\n[\s\S]*"ENGINE_UNAVAILABLE"/,
        path,
      )
      assert.equal(seen(), byNode)
      now.restore()
      later.restore()
    }
  })

  it('keeps nothing of callers who leave while the store stalls', async (t) => {
    const server = await serveKeyed(t)
    const { allowlists } = server.catraca
    let release: () => void = () => {}
    const stalled = new Promise<void>((resolve) => {
      release = resolve
    })
    const real = allowlists.checkNow.bind(allowlists)
    let asked = 0
    // Not by a mock, which remembers its callers.
    Object.assign(allowlists, {
      checkNow: (customerId: string, lists: string[]) => {
        asked++
        return stalled.then(() => real(customerId, lists))
      },
    })
    const CALLERS = 200
    const sockets = Array.from({ length: CALLERS }, () => dial(t, server))
    for (const socket of sockets) socket.write(head(LINE, ...PLAIN))
    await until('all are asked', () => asked === CALLERS)
    const kept = [...server.accepted.values()].map((socket) => new WeakRef(socket))
    server.accepted.clear()
    for (const socket of sockets) socket.resetAndDestroy()
    await until('all have left', () => kept.every((socket) => socket.deref()?.destroyed !== false))
    release()
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    await until('they are forgotten', async () => {
      await sleep(10)
      collect()
      return kept.filter((socket) => socket.deref() !== undefined).length < 5
    })
  })

  it('waits for a slow store longer than for the next request', async (t) => {
    const server = await serveKeyed(t, { keepAliveTimeoutMs: 50 })
    const { allowlists } = server.catraca
    const real = allowlists.checkNow.bind(allowlists)
    t.mock.method(allowlists, 'checkNow', async (customerId: string, lists: string[]) => {
      await sleep(250)
      return real(customerId, lists) as CheckAnswer
    })
    assert.match(await talk(t, server, [head(LINE, ...PLAIN)]), /^HTTP\/1\.1 200 OK/)
  })

  it('can be switched off', async (t) => {
    const server = await serveKeyed(t, { checkFastPath: 'off' })
    const seen = countRequests(server)
    const received = await talk(t, server, [head(LINE, ...PLAIN), head(LINE, ...PLAIN)])
    assert.equal(received.match(/"overallAllowed":true/g)?.length, 2)
    assert.equal(seen(), 2)
  })

  it('asks no more of a caller who does not read', async (t) => {
    const server = await serveKeyed(t)
    const asked = t.mock.method(server.catraca.allowlists, 'checkNow').mock
    let release = () => {}
    class DeafSocket extends Duplex {
      setTimeout() {
        return this
      }
      override _read() {}
      override _write(_chunk: unknown, _encoding: string, done: () => void) {
        release = done
      }
    }
    const socket = new DeafSocket({ writableHighWaterMark: 64, allowHalfOpen: true })
    server.app.server.emit('connection', socket)
    socket.push(Buffer.from(head(LINE, ...PLAIN)))
    await until('asked', () => asked.callCount() === 1)
    socket.push(Buffer.from(head(LINE, ...PLAIN)))
    await sleep(20)
    assert.equal(asked.callCount(), 1)
    release()
    await until('asked again', () => asked.callCount() === 2)
    socket.destroy()
  })

  it('hangs up on connections that stay idle', async (t) => {
    const server = await serveKeyed(t, { keepAliveTimeoutMs: 60, transferTimeoutMs: 2000 })
    const silent = dial(t, server)
    const asked = dial(t, server)
    asked.write(head(LINE, ...PLAIN))
    const [answer] = (await once(asked, 'data')) as [Buffer]
    assert.match(String(answer), /200 OK/)
    silent.resume()
    asked.resume()
    await Promise.all([once(silent, 'close'), once(asked, 'close')])
  })

  it('trusts no key of the store longer than the registry does, and those of the configuration as ever', async (t) => {
    const server = await serveKeyed(t)
    const { key: stored } = await server.catraca.keys.create({ name: 'stored', scopes: ['check'] })
    const ask = async (key: string, agent = oneConnection(t)) => {
      const headers = { authorization: `Bearer ${key}` }
      const path = '/customers/ana/check?allowlists=vip'
      return (await server.call('GET', path, { agent, headers })).status
    }
    await until('it is known', async () => (await ask(stored)) === 200)
    const [one, other] = [oneConnection(t), oneConnection(t)]
    assert.deepEqual([await ask(stored, one), await ask(KEY, other)], [200, 200])
    t.mock.method(server.catraca.keys, 'stored', async () => assert.fail('down'))
    const real = performance.now()
    t.mock.method(performance, 'now', () => real + MAX_KEY_AGE_MS + 10_000)
    assert.deepEqual([await ask(stored, one), await ask(KEY, other)], [503, 200])
    assert.deepEqual([await ask(stored), await ask(KEY), await ask(READ_KEY)], [503, 200, 403])
  })

  it('takes its time limit with it when it passes a connection on', async (t) => {
    const server = await serveKeyed(t, { keepAliveTimeoutMs: 60 })
    const socket = dial(t, server)
    const request = head(LINE, ...PLAIN)
    socket.write(request.slice(0, 10))
    await sleep(200)
    socket.write(request.slice(10))
    const [answer] = (await once(socket, 'data')) as [Buffer]
    assert.match(String(answer), /200 OK/)
  })

  it('steps aside when the server stops', async (t) => {
    const server = await serveKeyed(t, { drainMs: 2500 })
    const busy = dial(t, server)
    busy.write(head(LINE, ...PLAIN))
    await once(busy, 'data')
    const idle = dial(t, server)
    idle.resume()
    await once(idle, 'connect')
    const stopped = inTime(server.stop(), 20_000)
    busy.write(head(LINE, ...PLAIN))
    const [refused] = (await once(busy, 'data')) as [Buffer]
    assert.match(String(refused), /^HTTP\/1\.1 503 /)
    assert.match(String(refused), /connection: close/i)
    await stopped
  })

  it('does not keep a server from closing that was only created', async (t) => {
    const { catraca } = await serveKeyed(t)
    await catraca.keys.create({ name: 'other', scopes: ['check'] })
    const app = await createServer(catraca)
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    const agent = oneConnection(t)
    await send(url, 'GET', '/customers/ana/check?allowlists=vip', { agent })
    const idle = connect(Number(new URL(url).port), '127.0.0.1')
    idle.on('error', () => {}).resume()
    await once(idle, 'connect')
    await inTime(app.close(), 20_000)
  })
})
