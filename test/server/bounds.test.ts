import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { Duplex, PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { after, before, describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { HttpLine } from '../../bench/support/http-line.js'
import { hashKey } from '../../src/guards/access/index.js'
import { SCOPES } from '../../src/guards/access/scopes.js'
import { Bodies } from '../../src/server/http/bodies.js'
import { roomForConnections } from '../../src/server/http/connections.js'
import { parse, sampleOf } from '../metrics/support.js'
import { bearer, serve, type TestServer, until } from './support.js'

const KEY = 'ctr_the-key-of-these-tests'
const TRANSFER_TIMEOUT_MS = 1500
const BODIES_LIMIT_BYTES = 128 * 1024
const BODY_LIMIT_VALUES = 2000

const bootstrapKeys = () => [{ name: 'all', scopes: [...SCOPES], hash: hashKey(KEY) }]
const options = {
  bootstrapKeys,
  bodyLimitBytes: 100 * 1024,
  bodyLimitValues: BODY_LIMIT_VALUES,
  bodiesLimitBytes: BODIES_LIMIT_BYTES,
  maxInFlightPerConnection: 4,
}

function dial(t: TestContext, { url }: TestServer): Socket {
  const { hostname, port } = new URL(url)
  const signal = AbortSignal.timeout(60_000)
  const socket = connect({ port: Number(port), host: hostname, noDelay: true, signal })
  socket.on('error', () => {})
  t.after(() => socket.destroy())
  return socket
}

/** How many turns of the event loop have passed. */
function countTurns(t: TestContext): () => number {
  let turns = 0
  const count = () => {
    turns++
    next = setImmediate(count)
  }
  let next = setImmediate(count)
  t.after(() => clearImmediate(next))
  return () => turns
}

/** Waits until the server closes the connection; false if it never does. */
async function isHungUpOn(socket: Socket): Promise<boolean> {
  await new Promise((resolve) => socket.resume().once('close', resolve))
  return socket.errored?.name !== 'AbortError'
}

const head = (...lines: string[]): string => `${[...lines, 'Host: x'].join('\r\n')}\r\n\r\n`
const AUTHORIZED = `Authorization: Bearer ${KEY}`

/** Sends this and no more, and returns all that comes back until the server hangs up. */
async function sendAndWait(t: TestContext, server: TestServer, sent: string): Promise<string> {
  const socket = dial(t, server)
  socket.write(sent)
  return text(socket)
}

/** The first answer, which comes while the body is still missing. */
async function firstAnswer(t: TestContext, server: TestServer, sent: string): Promise<string> {
  const socket = dial(t, server)
  socket.write(sent)
  const [chunk] = (await once(socket, 'data')) as [Buffer]
  return String(chunk)
}

/** Only for tests of these times. */
const HASTY = { transferTimeoutMs: TRANSFER_TIMEOUT_MS, keepAliveTimeoutMs: 2 * TRANSFER_TIMEOUT_MS }

describe('what callers can take of a server', () => {
  let server: TestServer
  let hasty: TestServer
  const cleanup: (() => unknown)[] = []
  before(async () => {
    const context = { after: (work: () => unknown) => cleanup.push(work) } as unknown as TestContext
    // Without indexes, so that checks can be counted.
    const open = { membership: { maxBytes: 0 }, cache: { spaces: [{ name: 'space', ttlMs: 60_000 }] } }
    server = await serve(context, options, open)
    hasty = await serve(context, { ...options, ...HASTY }, open)
    for (const { catraca } of [server, hasty])
      await catraca.allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
  })
  after(async () => {
    for (const work of cleanup) await work()
  })

  it('unknown paths and refused keys are answered before the body', async (t) => {
    const body = ['Content-Type: application/json', 'Content-Length: 100000']
    assert.match(await firstAnswer(t, server, head('POST /nowhere HTTP/1.1', ...body)), /^HTTP\/1\.1 404 /)
    assert.match(await firstAnswer(t, server, head('PUT /console HTTP/1.1', ...body)), /^HTTP\/1\.1 404 /)
    assert.match(await firstAnswer(t, server, head('POST /check HTTP/1.1', ...body)), /^HTTP\/1\.1 401 /)
    const wrong = head('POST /check HTTP/1.1', 'Authorization: Bearer ctr_no', ...body)
    assert.match(await firstAnswer(t, server, wrong), /^HTTP\/1\.1 401 /)
  })

  it('every body has to arrive in time, read or not', async (t) => {
    const length = 'Content-Length: 1000'
    const json = 'Content-Type: application/json'
    const cases: [string, RegExp][] = [
      [head('POST /check HTTP/1.1', AUTHORIZED, json, length), /^HTTP\/1\.1 408 /],
      [`${head('POST /check HTTP/1.1', AUTHORIZED, json, length)}{"customerIds":[`, /^HTTP\/1\.1 408 /],
      [head('POST /check HTTP/1.1', AUTHORIZED, json, 'Transfer-Encoding: chunked'), /^HTTP\/1\.1 408 /],
      // Answered before, and then hung up on.
      [head('GET /live HTTP/1.1', length), /^HTTP\/1\.1 200 (?:(?!HTTP)[\s\S])*$/],
      [head('GET /live HTTP/1.1', 'Transfer-Encoding: chunked'), /^HTTP\/1\.1 200 (?:(?!HTTP)[\s\S])*$/],
      // Headers have the same time.
      ['POST /check HTTP/1.1\r\nHos', /^HTTP\/1\.1 408 /],
      ['', /^HTTP\/1\.1 408 /],
    ]
    await Promise.all(
      cases.map(async ([sent, expected]) => assert.match(await sendAndWait(t, hasty, sent), expected, sent)),
    )
  })

  it('a connection has to ask again in time after its answer, whatever it sends instead', async (t) => {
    const live = head('GET /live HTTP/1.1')
    const withBody = head('GET /live HTTP/1.1', 'Content-Length: 1000000')
    // Each is answered first; what comes then, bit by bit, ends no request.
    const cases: [asked: string, then: string[]][] = [
      [live, []],
      [live, ['\r\n']],
      [live, ['G']],
      [withBody, []],
      [withBody, new Array(1000).fill('a')],
      [head('GET /live HTTP/1.1', 'Expect: wonders'), []],
    ]
    const closings = cases.map(async ([asked, then]) => {
      const socket = dial(t, hasty)
      socket.write(asked)
      await once(socket, 'data')
      const drip = setInterval(() => socket.write(then.shift() ?? ''), TRANSFER_TIMEOUT_MS / 5)
      t.after(() => clearInterval(drip))
      return isHungUpOn(socket)
    })
    const closed = await Promise.all(closings)
    assert.deepEqual(closed, new Array(cases.length).fill(true))
  })

  it('an expectation that is not known is refused as everything else, and its body is not waited for', async (t) => {
    const lines = ['Expect: wonders', 'Content-Type: application/json', 'Content-Length: 1000']
    const answer = await sendAndWait(t, hasty, head('POST /check HTTP/1.1', AUTHORIZED, ...lines))
    assert.match(answer, /^HTTP\/1\.1 417 [\s\S]*application\/problem\+json[\s\S]*"code":"INVALID_INPUT"/)
    const check = 'GET /customers/ana/check?allowlists=vip HTTP/1.1'
    assert.match(await firstAnswer(t, server, head(check, AUTHORIZED, 'Expect: wonders')), /^HTTP\/1\.1 417 /)
  })

  it('who asks before sending a body is refused at once, or told to go on', async (t) => {
    const lines = ['Expect: 100-continue', 'Content-Type: application/json', 'Content-Length: 49']
    const post = (...more: string[]) => head('POST /check HTTP/1.1', ...more, ...lines)
    const reader = 'Authorization: Bearer ctr_no'
    assert.match(await firstAnswer(t, server, post()), /^HTTP\/1\.1 401 [\s\S]*Connection: close/i)
    assert.match(await firstAnswer(t, server, post(reader)), /^HTTP\/1\.1 401 [\s\S]*Connection: close/i)
    const nowhere = head('POST /nowhere HTTP/1.1', AUTHORIZED, ...lines)
    assert.match(await firstAnswer(t, server, nowhere), /^HTTP\/1\.1 404 /)
    assert.match(
      await firstAnswer(t, server, nowhere.replaceAll('POST /nowhere', 'POST /%')),
      /^HTTP\/1\.1 400 /,
    )
    const socket = dial(t, server)
    socket.write(post(AUTHORIZED))
    assert.equal(String(await once(socket, 'data')), 'HTTP/1.1 100 Continue\r\n\r\n')
    socket.write(JSON.stringify({ customerIds: ['ana'], allowlists: ['vip'] }).padEnd(49))
    assert.match(String(await once(socket, 'data')), /^HTTP\/1\.1 200 /)
  })

  it('a request that names two hosts is refused, whatever it asks for', async (t) => {
    for (const line of [
      'GET /live',
      'GET /customers/ana/check?allowlists=vip',
      'GET /nowhere',
      'POST /check',
    ]) {
      for (const version of ['HTTP/1.1', 'HTTP/1.0']) {
        const answer = await firstAnswer(t, server, head(`${line} ${version}`, AUTHORIZED, 'hOST: y'))
        assert.match(answer, /^HTTP\/1\.1 400 [\s\S]*"detail":"Host must come once/, line)
      }
    }
  })

  it('an import takes as long as it takes, and so does an answer', async (t) => {
    const { allowlists } = hasty.catraca
    const real = allowlists.checkNow.bind(allowlists)
    const slow = t.mock.method(allowlists, 'checkNow', async (...asked: Parameters<typeof real>) => {
      await sleep(1.5 * HASTY.keepAliveTimeoutMs)
      return real(...asked)
    })
    const check = '/customers/ana/check?allowlists=vip&consistency=strong'
    const answer = hasty.call('GET', check, { headers: bearer(KEY) })
    const headers = { ...bearer(KEY), 'content-type': 'text/plain' }
    const outgoing = request(`${hasty.url}/allowlists/vip/import`, { method: 'POST', headers, agent: false })
    outgoing.write('ana\n')
    assert.equal((await answer).status, 200)
    assert.equal(slow.mock.callCount(), 1)
    outgoing.end('bob\n')
    const [response] = await once(outgoing, 'response')
    assert.equal(JSON.parse(await text(response)).added, 2)
  })

  const answerTo = async (method: string, path: string, body: string) => {
    const headers = { ...bearer(KEY), 'content-type': 'application/json' }
    const { status, json } = await server.call(method, path, { headers, body })
    return [status, json?.code]
  }

  it('only calls that store values or name many ids take large bodies', async () => {
    const body = `{${' '.repeat(70_000)}}`
    const small = [
      ['POST', '/limits/acquire'],
      ['POST', '/leases/x/adjust'],
      ['POST', '/locks/a'],
      ['POST', '/locks/a/extend'],
      ['POST', '/locks/a/release'],
      ['POST', '/otp/email'],
      ['POST', '/otp/email/verify'],
      ['PUT', '/revoked-tokens/a'],
      ['PUT', '/revoked-subjects/a'],
      ['POST', '/cache/space/a/lease'],
      ['POST', '/idempotency/op/a/fail'],
      ['POST', '/idempotency/op/a/extend'],
      ['POST', '/idempotency/op/a/release'],
      ['PUT', '/allowlists/vip/customers/ana'],
      ['PUT', '/config/system/a'],
      ['PUT', '/entities/a'],
      ['POST', '/keys'],
      ['PUT', '/log-level'],
    ]
    for (const [method, path] of small) {
      assert.deepEqual(await answerTo(method!, path!, body), [413, 'PAYLOAD_TOO_LARGE'], path)
    }
    const large = [
      ['POST', '/check'],
      ['POST', '/allowlists'],
      ['PATCH', '/allowlists/vip'],
      ['POST', '/revoked-tokens'],
      ['PUT', '/cache/space/a'],
      ['POST', '/idempotency/op/a/complete'],
    ]
    for (const [method, path] of large) {
      assert.deepEqual(await answerTo(method!, path!, body), [400, 'INVALID_INPUT'], path)
    }
    assert.deepEqual(await answerTo('POST', '/idempotency/op/a', body), [201, undefined])
  })

  it('the values of a body and their depth are bounded, before anything is made of them', async () => {
    const claim = (payload: string) => answerTo('POST', '/idempotency/op/values', `{"payload":${payload}}`)
    const tooMany = [413, 'PAYLOAD_TOO_LARGE']
    assert.deepEqual(await claim(`[${Array(BODY_LIMIT_VALUES).fill('1').join()}]`), tooMany)
    assert.deepEqual(await claim(`[${'{},'.repeat(BODY_LIMIT_VALUES)}0]`), tooMany)
    assert.deepEqual(await answerTo('POST', '/check', `[${',,'.repeat(BODY_LIMIT_VALUES)}`), tooMany)
    const tooDeep = [400, 'INVALID_INPUT']
    assert.deepEqual(await answerTo('POST', '/check', '['.repeat(90_000)), tooDeep)
    assert.deepEqual(await claim(`${'['.repeat(101)}${']'.repeat(101)}`), tooDeep)
    // What stands in a text is one value.
    const text = JSON.stringify(`${'[{,"\\'.repeat(5000)}`)
    const most = Array(BODY_LIMIT_VALUES - 4).fill('1')
    assert.deepEqual(await claim(`[${text},${most.join()}]`), [201, undefined])
  })

  /** Begins a request whose body is announced, and does not come whole. */
  const beginBody = (t: TestContext, to: TestServer, bytes: number): Socket => {
    const socket = dial(t, to)
    const lines = [AUTHORIZED, 'Content-Type: application/json', 'Content-Length: 100000']
    socket.write(`${head('POST /check HTTP/1.1', ...lines)}${' '.repeat(bytes)}`)
    return socket
  }

  /** Whether a body as large as two of these finds room: then all that they took is free again. */
  const untilThereIsRoom = (of: TestServer): Promise<unknown> => {
    const body = JSON.stringify({ customerIds: ['ana'], allowlists: ['vip'] }).padEnd(99_000)
    const headers = { ...bearer(KEY), 'content-type': 'application/json' }
    return until('there is room', async () => {
      const { status } = await of.call('POST', '/check', { headers, body })
      return status === 200
    })
  }

  it('bodies of all callers together are bounded', async (t) => {
    const [first, second] = [beginBody(t, server, 90_000), beginBody(t, server, 90_000)]
    const answered = await Promise.race(
      [first, second].map(async (socket) => String(await once(socket, 'data'))),
    )
    assert.match(answered, /^HTTP\/1\.1 503 [\s\S]*"code":"OVERLOADED"/)
    // The other one has kept what it had, and the room comes back with it.
    first.destroy()
    second.destroy()
    await untilThereIsRoom(server)
  })

  it('a body that ends too early gives its room back', async (t) => {
    for (let i = 0; i < 3; i++) {
      const socket = beginBody(t, server, 90_000)
      socket.end()
      assert.match(await text(socket), /^HTTP\/1\.1 400 /)
    }
    await untilThereIsRoom(server)
  })

  it('a body that is late gives its room back', async (t) => {
    assert.match(await text(beginBody(t, hasty, 90_000)), /^HTTP\/1\.1 408 /)
    await untilThereIsRoom(hasty)
  })

  it('after a large body others have their turns before the next, and it counts as held until then', async (t) => {
    const bodies = new Bodies(250_000)
    const sent = (bytes: number) => {
      const stream = Object.assign(new PassThrough(), { headers: {} })
      stream.end('x'.repeat(bytes))
      return stream as unknown as IncomingMessage
    }
    const turn = countTurns(t)
    const turns: number[] = []
    const reads = [1, 2, 3].map(() => bodies.read(sent(80_000), 100_000).then(() => turns.push(turn())))
    const small = bodies.read(sent(100), 100_000).then(() => turns.length)
    const tooMany = assert.rejects(bodies.read(sent(80_000), 100_000), { code: 'OVERLOADED' })
    assert.equal(await small, 0, 'a small one waits for none of them')
    await Promise.all([...reads, tooMany])
    assert.ok(turns[1]! - turns[0]! > 4 && turns[2]! - turns[1]! > 4, String(turns))
    assert.equal((await bodies.read(sent(80_000), 100_000)).length, 80_000)
  })

  it('between checks of many pairs others have their turns', async (t) => {
    const { allowlists } = server.catraca
    const real = allowlists.checkMany.bind(allowlists)
    const turn = countTurns(t)
    const begun: number[] = []
    t.mock.method(allowlists, 'checkMany', (...args: Parameters<typeof real>) => {
      begun.push(turn())
      return real(...args)
    })
    const customerIds = Array.from({ length: 1000 }, (_, i) => `c${i}`)
    const body = JSON.stringify({ customerIds, allowlists: ['vip', ...'abcdefghij'] })
    const headers = { ...bearer(KEY), 'content-type': 'application/json' }
    const calls = Array.from({ length: 8 }, () => server.call('POST', '/check', { headers, body }))
    for (const { status, text } of await Promise.all(calls)) assert.equal(status, 200, text)
    const gaps = begun.slice(1).map((at, i) => at - begun[i]!)
    assert.ok(Math.min(...gaps) >= 20, `turns of others: ${gaps}`)
  })

  it('between two parts of one check others have their turns, and it ends when its client has left', async (t) => {
    const { allowlists } = server.catraca
    const real = allowlists.checkMany.bind(allowlists)
    const turn = countTurns(t)
    const parts: number[] = []
    const outcomes: Promise<string>[] = []
    const line = new HttpLine()
    t.mock.method(allowlists, 'checkMany', (...[question, options, pause]: Parameters<typeof real>) => {
      const counted = () => {
        parts.push(turn())
        if (parts.length === 12) line.hangUp()
        return pause!()
      }
      const answer = real(question, options, counted)
      outcomes.push(
        answer.then(
          () => 'answered',
          ({ code }) => code,
        ),
      )
      return answer
    })
    const customerIds = Array.from({ length: 1000 }, (_, i) => `c${i}`)
    const body = JSON.stringify({ customerIds, allowlists: ['vip', ...'abcdefghi'] })
    const length = `Content-Length: ${body.length}`
    const post = head('POST /check HTTP/1.1', AUTHORIZED, 'Content-Type: application/json', length) + body
    server.app.server.emit('connection', line)
    line.send(post)
    await until('it is answered', () => line.received.includes('"customerId":"c999"'))
    assert.equal(parts.length, 9)
    const gaps = parts.slice(1).map((at, i) => at - parts[i]!)
    assert.ok(Math.min(...gaps) >= 2, `turns of others: ${gaps}`)
    line.send(post)
    await until('its client has left', () => parts.length === 12)
    await until('it has ended', () => outcomes.length === 2)
    assert.deepEqual(await Promise.all(outcomes), ['answered', 'ABORTED'])
    assert.equal(parts.length, 12)
  })

  it('requests of one connection are worked on a few at a time, and answered in order', async (t) => {
    const { allowlists } = server.catraca
    const real = allowlists.checkNow.bind(allowlists)
    let atOnce = 0
    let most = 0
    t.mock.method(allowlists, 'checkNow', async (customerId: string, lists: string[]) => {
      most = Math.max(most, ++atOnce)
      await sleep(1)
      atOnce--
      return real(customerId, lists)
    })
    const customers = Array.from({ length: 300 }, (_, i) => `c${i}`)
    const requests = customers.map((id, i) =>
      head(
        `GET /customers/${id}/check?allowlists=vip HTTP/1.1`,
        AUTHORIZED,
        ...(i === 299 ? ['Connection: close'] : []),
      ),
    )
    const answers = await sendAndWait(t, server, requests.join(''))
    const asked = [...answers.matchAll(/"customerId":"(\w+)"/g)].map((match) => match[1])
    assert.deepEqual(asked, customers)
    assert.equal(most, options.maxInFlightPerConnection)
  })

  it('a connection that sends requests without end leaves their turn to others', async (t) => {
    // With the usual timeouts: what this process does may take long on a busy machine.
    const server = await serve(t, { bootstrapKeys })
    const flooding = dial(t, server)
    const some = head('GET /zz HTTP/1.1').repeat(2000)
    const status = 'HTTP/1.1 404'
    let answers = 0
    let tail = ''
    flooding.on('data', (chunk: Buffer) => {
      const text = tail + chunk.toString('latin1')
      answers += text.split(status).length - 1
      // A chunk may end within a status line.
      tail = text.slice(1 - status.length)
    })
    for (let i = 0; i < 5; i++) flooding.write(some)
    await once(flooding, 'data')
    const other = await fetch(`${server.url}/live`)
    assert.equal(other.status, 200)
    assert.ok(answers < 5000, `${answers} requests of another connection were answered before`)
    await until('all are answered', () => answers === 10_000)
  })

  it('who comes behind many such connections is answered soon, and nothing is done for those that have gone', async (t) => {
    const server = await serve(t, { bootstrapKeys })
    const figure = async (name: string, labels = {}) => {
      const { text } = await server.call('GET', '/metrics', { headers: bearer(KEY) })
      return sampleOf(parse(text), name, labels) ?? 0
    }
    const handled = () => figure('catraca_http_requests_total', { route: 'none', status: '404' })
    const flooding = Array.from({ length: 40 }, () => dial(t, server))
    for (const socket of flooding) socket.write(head('GET /zz HTTP/1.1').repeat(1000))
    await once(flooding.at(-1)!, 'connect')
    assert.equal((await server.call('GET', '/live')).status, 200)
    for (const socket of flooding) socket.destroy()
    await until('they have gone', async () => (await figure('catraca_http_connections')) === 1)
    const count = await handled()
    assert.ok(count < 25 * flooding.length, `${count} of their requests were handled`)
  })

  it('what comes behind a CONNECT reaches no other connection', async () => {
    const meet = () => {
      const line = new HttpLine()
      server.app.server.emit('connection', line)
      return line
    }
    const one = meet()
    // Two slices: the second request waits for its turn, and so does the second slice. Node has no parser for it then.
    const refused = head('GET /zz HTTP/1.1').repeat(2) + head('CONNECT x:1 HTTP/1.1')
    one.send(refused.padEnd(2048, 'X') + head('GET /live HTTP/1.1'))
    const others: HttpLine[] = []
    for (let i = 0; i < 20; i++) {
      await new Promise((resolve) => process.nextTick(resolve))
      others.push(meet())
      others.at(-1)!.send('GET /zz HTTP/1.1\r\nX: ')
    }
    await until('it is over', () => one.destroyed)
    assert.deepEqual(
      others.map(({ received }) => received),
      others.map(() => ''),
    )
    for (const other of others) other.destroy()
  })

  it('who does not read its answer is hung up on, who waits for one is not', async (t) => {
    class Deaf extends Duplex {
      setTimeout() {
        return this
      }
      override _read() {}
      override _write() {}
    }
    const meet = (sent: string) => {
      const socket = new Deaf({ allowHalfOpen: true })
      server.app.server.emit('connection', socket)
      socket.push(Buffer.from(sent))
      return socket
    }
    // Node no longer looks after a connection over which `CONNECT` came.
    for (const more of ['', head('CONNECT x:1 HTTP/1.1')]) {
      const deaf = meet(head('GET /live HTTP/1.1') + more)
      await until('it is answered', () => deaf.writableLength > 0)
      deaf.emit('timeout')
      assert.ok(deaf.destroyed, more)
    }
    const { allowlists } = server.catraca
    const asked = t.mock.method(allowlists, 'checkNow', () => new Promise(() => {})).mock
    const waiting = meet(
      head('GET /customers/ana/check?allowlists=vip&consistency=strong HTTP/1.1', AUTHORIZED),
    )
    await until('it is asked', () => asked.callCount() === 1)
    waiting.emit('timeout')
    assert.ok(!waiting.destroyed)
    waiting.destroy()
  })

  it('a list that is asked about again and again is judged once', async () => {
    const { catraca } = server
    await catraca.allowlists.add('vip', 'ana')
    const stored = () => catraca.checkCounts.store
    const before = stored()
    // An image of the list may be in memory by now, or may not.
    const strong = { consistency: 'strong' } as const
    const { results } = await catraca.allowlists.check('ana', new Array(100).fill('vip'), strong)
    assert.equal(results.length, 100)
    assert.equal(stored() - before, 1)
    const few = await catraca.allowlists.check('ana', ['vip', 'nope', 'vip'], strong)
    assert.deepEqual(
      few.results.map(({ allowlistId, reason }) => [allowlistId, reason]),
      [
        ['vip', 'MEMBER'],
        ['nope', 'ALLOWLIST_NOT_FOUND'],
        ['vip', 'MEMBER'],
      ],
    )
    assert.ok(stored() - before <= 2)
  })
})

describe('connections', () => {
  it('are bounded, and those that were refused are counted', async (t) => {
    const server = await serve(t, { maxConnections: 3, bootstrapKeys })
    const open = await Promise.all(
      Array.from({ length: 3 }, async () => {
        const socket = dial(t, server)
        await once(socket, 'connect')
        return socket
      }),
    )
    await until('they are taken', async () => {
      const refused = dial(t, server)
      refused.resume()
      return once(refused, 'close').then(() => true)
    })
    open[0]!.write(head('GET /metrics HTTP/1.1', AUTHORIZED, 'Connection: close'))
    const samples = parse((await text(open[0]!)).split('\r\n\r\n')[1]!)
    assert.equal(sampleOf(samples, 'catraca_http_connections'), 3)
    assert.equal(sampleOf(samples, 'catraca_http_connections_limit'), 3)
    assert.ok(sampleOf(samples, 'catraca_http_connections_refused_total')! >= 1)
    await until(
      'there is room again',
      async () => (await server.call('GET', '/live').catch(() => undefined))?.status === 200,
    )
  })

  it('leave file descriptors to the store', () => {
    assert.equal(roomForConnections({ openFiles: 40, maxFiles: 300 } as never), 130)
    assert.equal(roomForConnections({ openFiles: 40, maxFiles: 10_000 } as never), 9704)
    assert.equal(roomForConnections({ openFiles: undefined, maxFiles: undefined } as never), undefined)
  })

  it('cannot be more than file descriptors allow', async (t) => {
    if (roomForConnections() === undefined) return t.skip('this system does not report it')
    await assert.rejects(serve(t, { maxConnections: 1_000_000_000 }), {
      code: 'CONFIG_INVALID',
      message: /server\.maxConnections/,
    })
  })
})
