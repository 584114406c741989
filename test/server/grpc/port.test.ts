import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2 } from 'node:http2'
import { connect } from 'node:net'
import { after, before, describe, it, type TestContext } from 'node:test'
import { gzipSync } from 'node:zlib'
import * as grpc from '@grpc/grpc-js'
import { pino } from 'pino'
import { inTime } from '../../support/in-time.js'
import {
  type Certificates,
  makeCertificates,
  type RedisServers,
  startSingle,
} from '../../support/redis/index.js'
import { bearer, knownKey, type TestServer, until } from '../support.js'
import { ask, caller, descriptor, failure, type Message, serveGrpc, theirs } from './support.js'

const PATH = '/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit'
const asked = ask(descriptor({ key: 'v' }))

function session(t: TestContext, { grpcPort }: TestServer): ClientHttp2Session {
  const made = connectHttp2(`http://127.0.0.1:${grpcPort}`)
  t.after(() => made.destroy())
  made.on('error', () => {})
  return made
}

const startOf = (host = 'localhost') => ({
  ':method': 'POST',
  ':path': PATH,
  ':authority': host,
  'content-type': 'application/grpc',
  te: 'trailers',
})

/** A call with these bytes as they are; answers the status of gRPC. */
async function sent(open: ClientHttp2Session, bytes: Buffer, headers = {}): Promise<string> {
  const stream = open.request({ ...startOf(), ...headers })
  let status: unknown
  stream.on('response', (given) => (status = given['grpc-status'] ?? status))
  stream.on('trailers', (given) => (status = given['grpc-status'] ?? status))
  stream.on('error', () => {})
  stream.end(bytes)
  stream.resume()
  await inTime(once(stream, 'close'), 20_000)
  return grpc.status[Number(status)]!
}

/** With the prefix that gRPC puts in front of a message. */
function framed(message: Uint8Array, compressed = false): Buffer {
  const head = Buffer.alloc(5)
  head[0] = compressed ? 1 : 0
  head.writeUInt32BE(message.length, 1)
  return Buffer.concat([head, message])
}

const serialize = (theirs[PATH.split('/')[1]!] as grpc.ServiceDefinition).ShouldRateLimit!.requestSerialize

const limited = ({ catraca }: TestServer, capacity: number) =>
  catraca.limits.setConfig(
    { level: 'resource', resource: 'edge.key' },
    { limits: { requests: { capacity, refillPeriodSeconds: 86_400 } } },
  )

describe('who may call', () => {
  it('a program of this machine, while there are no keys', async (t) => {
    const server = await serveGrpc(t)
    const { call } = caller(t, server.grpcPort!, 'limits')
    assert.equal((await call(asked)).overall_code, 'OK')
    const open = session(t, server)
    assert.equal(
      await sent(open, framed(Buffer.alloc(0)), { ':authority': 'evil.example' }),
      'PERMISSION_DENIED',
    )
    assert.equal(
      await sent(open, framed(Buffer.alloc(0)), { origin: 'http://localhost:1' }),
      'PERMISSION_DENIED',
    )
    assert.equal(
      (await failure(call(asked, { metadata: { authorization: 'Bearer x' } }))).code,
      'UNAUTHENTICATED',
    )
  })

  it('who has a key with the scope of the same call over HTTP', async (t) => {
    const lines: Message[] = []
    const write = (line: string) => void lines.push(JSON.parse(line))
    const logger = pino({ level: 'info' }, { write })
    const server = await serveGrpc(t, { logger, accessLogSampling: 1 })
    const { key } = await knownKey(server, 'gateway', ['limits'])
    const limits = caller(t, server.grpcPort!, 'limits')
    const auth = caller(t, server.grpcPort!, 'auth')
    const metadata = { authorization: `Bearer ${key}` }
    assert.equal((await limits.call(asked, { metadata })).overall_code, 'OK')
    assert.deepEqual(await failure(limits.call(asked)), {
      code: 'UNAUTHENTICATED',
      catraca: 'UNAUTHENTICATED',
    })
    const wrong = { metadata: { authorization: 'Bearer wrong' } }
    assert.equal((await failure(limits.call(asked, wrong))).code, 'UNAUTHENTICATED')
    const check = { attributes: { context_extensions: { 'catraca.tokens': 'true' } } }
    assert.deepEqual(await failure(auth.call(check, { metadata })), {
      code: 'PERMISSION_DENIED',
      catraca: 'FORBIDDEN',
    })
    const checker = await knownKey(server, 'checker', ['check'])
    const refused = failure(auth.call(check, { metadata: { authorization: `Bearer ${checker.key}` } }))
    assert.deepEqual(await refused, { code: 'PERMISSION_DENIED', catraca: 'FORBIDDEN' })
    await server.catraca.keys.revoke('gateway')
    const revoked = async () =>
      (await limits.call(asked, { metadata }).then(
        () => 0,
        ({ code }) => code,
      )) === 16
    await until('the key is revoked', revoked)
    const ofCalls = lines.filter(({ method }) => method === 'GRPC')
    assert.ok(ofCalls.some(({ route, status, key }) => route === PATH && status === 200 && key === 'gateway'))
    assert.ok(!JSON.stringify(lines).includes(key))
    const admin = await knownKey(server, 'reader', ['read'])
    const { text } = await server.call('GET', '/metrics', { headers: bearer(admin.key) })
    assert.match(
      text,
      /catraca_http_requests_total\{method="GRPC",route="[^"]+ShouldRateLimit",status="401"\} \d/,
    )
  })
})

describe('metrics', () => {
  it('count a denial as HTTP does', async (t) => {
    const server = await serveGrpc(t)
    await limited(server, 1)
    const { call } = caller(t, server.grpcPort!, 'limits')
    for (const code of ['OK', 'OVER_LIMIT', 'OVER_LIMIT'])
      assert.equal((await call(asked)).overall_code, code)
    const { text } = await server.call('GET', '/metrics')
    for (const [status, count] of [
      [200, 1],
      [429, 2],
    ])
      assert.ok(
        text.includes(
          `catraca_http_requests_total{method="GRPC",route="${PATH}",status="${status}"} ${count}\n`,
        ),
      )
  })
})

describe('a port with a certificate', () => {
  let first: Certificates
  let second: Certificates
  before(() => {
    first = makeCertificates()
    second = makeCertificates()
  })
  after(() => {
    first.remove()
    second.remove()
  })

  it('speaks TLS alone, lets in clients of the authority, and renews its certificate', async (t) => {
    const pem = (file: string) => readFileSync(file)
    const texts = ({ certificate, key }: Certificates) => ({
      cert: pem(certificate).toString(),
      key: pem(key).toString(),
    })
    let material = texts(first)
    const tls = () => ({ ...material, clientCa: second.authority })
    const server = await serveGrpc(t, { tls, tlsRefreshMs: 5 })
    const trusting = (authority: string, client?: Certificates) =>
      grpc.credentials.createSsl(
        Buffer.from(authority),
        ...(client ? ([pem(client.key), pem(client.certificate)] as const) : []),
      )
    const calls = (credentials: grpc.ChannelCredentials) =>
      caller(t, server.grpcPort!, 'limits', credentials).call(asked, { deadlineMs: 20_000 })
    assert.equal((await calls(trusting(first.authority, second))).overall_code, 'OK')
    assert.equal((await failure(calls(trusting(first.authority)))).code, 'UNAVAILABLE')
    assert.equal((await failure(calls(trusting(second.authority, second)))).code, 'UNAVAILABLE')
    assert.equal((await failure(calls(grpc.credentials.createInsecure()))).code, 'UNAVAILABLE')
    material = texts(second)
    const renewed = () =>
      calls(trusting(second.authority, second)).then(
        () => true,
        () => false,
      )
    await until('renewed', renewed)
  })
})

describe('health', () => {
  it('says what /ready says, once and for those who watch', async (t) => {
    let isReady = false
    const server = await serveGrpc(t, { ready: () => isReady })
    const { call, client } = caller(t, server.grpcPort!, 'health')
    assert.equal((await call({})).status, 'NOT_SERVING')
    const watched: string[] = []
    const stream = (
      client as unknown as { Watch(request: object): grpc.ClientReadableStream<Message> }
    ).Watch({})
    stream.on('data', ({ status }: Message) => watched.push(status))
    stream.on('error', () => {})
    await until('the first word', () => watched.length === 1)
    isReady = true
    assert.equal((await call({ service: 'envoy.service.auth.v3.Authorization' })).status, 'SERVING')
    assert.equal((await failure(call({ service: 'other' }))).code, 'NOT_FOUND')
    await until('the watcher knows', () => watched.includes('SERVING'))
    await server.stop()
    await until('the last word', () => watched.length === 3)
    assert.deepEqual(watched, ['NOT_SERVING', 'SERVING', 'NOT_SERVING'])
  })
})

describe('hostile callers', () => {
  it('get a status for what cannot be read, and others are served', async (t) => {
    const server = await serveGrpc(t, { grpc: { port: 0, messageLimitBytes: 4096 } })
    const open = session(t, server)
    const { call } = caller(t, server.grpcPort!, 'limits')
    const message = (request: Message) => framed(serialize(request))
    const cases: Record<string, [Buffer, string, object?]> = {
      'no protobuf': [framed(Buffer.from([0xff, 0xff, 0xff])), 'INVALID_ARGUMENT'],
      'a length beyond the end': [framed(Buffer.from([0x12, 0x7f, 0x0a])), 'INVALID_ARGUMENT'],
      'an empty message': [framed(Buffer.alloc(0)), 'INVALID_ARGUMENT'],
      'too large': [framed(Buffer.alloc(5000)), 'RESOURCE_EXHAUSTED'],
      'too large once decompressed': [
        framed(gzipSync(Buffer.alloc(100_000)), true),
        'RESOURCE_EXHAUSTED',
        { 'grpc-encoding': 'gzip' },
      ],
      'an unknown method': [message(asked), 'UNIMPLEMENTED', { ':path': `${PATH}Not` }],
      'too many descriptors': [message(ask(...Array(101).fill(descriptor({ k: 'v' })))), 'INVALID_ARGUMENT'],
      'too many entries': [
        message(ask({ entries: Array(17).fill({ key: 'k', value: 'v' }) })),
        'INVALID_ARGUMENT',
      ],
      'a long key': [message(ask(descriptor({ ['k'.repeat(300)]: 'v' }))), 'INVALID_ARGUMENT'],
      'two messages': [Buffer.concat([message(asked), message(asked)]), 'UNIMPLEMENTED'],
      'an empty key': [message(ask(descriptor({ '': 'v' }))), 'INVALID_ARGUMENT'],
      'no domain': [message({ descriptors: asked.descriptors }), 'INVALID_ARGUMENT'],
    }
    for (const [name, [bytes, status, headers]] of Object.entries(cases)) {
      assert.equal(await sent(open, bytes, headers), status, name)
    }
    assert.equal((await call(asked)).overall_code, 'OK')
  })

  it('may open a thousand streams and say nothing', async (t) => {
    const server = await serveGrpc(t, { transferTimeoutMs: 300 })
    const open = session(t, server)
    const streams = Array.from({ length: 1_000 }, () => open.request(startOf()))
    const closed = Promise.all(
      streams.map((stream) => {
        stream.on('error', () => {})
        stream.resume()
        return once(stream, 'close')
      }),
    )
    const { call } = caller(t, server.grpcPort!, 'limits')
    assert.equal((await call(asked)).overall_code, 'OK')
    // None of them is open for ever.
    await inTime(closed, 30_000)
    assert.equal(await sent(open, framed(Buffer.alloc(0))), 'INVALID_ARGUMENT')
  })

  it('keep no stream open, whatever they leave undone', async (t) => {
    const server = await serveGrpc(t, { transferTimeoutMs: 300, grpc: { port: 0, maxCalls: 20 } })
    const { call } = caller(t, server.grpcPort!, 'limits')
    const greedy = connectHttp2(`http://127.0.0.1:${server.grpcPort}`, { settings: { initialWindowSize: 0 } })
    t.after(() => greedy.destroy())
    greedy.on('error', () => {})
    const one = framed(serialize(asked))
    const ways: Record<string, (open: ClientHttp2Session) => ClientHttp2Stream> = {
      'a deadline, and never an end': (open) => open.request({ ...startOf(), 'grpc-timeout': '10m' }),
      'a second message, and never an end': (open) => {
        const stream = open.request(startOf())
        stream.write(Buffer.concat([one, one]))
        return stream
      },
      'an answer that is not taken': () => {
        const stream = greedy.request(startOf())
        stream.end(one)
        return stream
      },
    }
    for (const [name, begin] of Object.entries(ways)) {
      const open = session(t, server)
      const closed = Array.from({ length: 15 }, () => {
        const stream = begin(open)
        stream.on('error', () => {})
        stream.resume()
        return once(stream, 'close')
      })
      await inTime(Promise.all(closed), 20_000).catch(() => assert.fail(name))
    }
    await until('their places are free', async () => {
      const calls = Array.from({ length: 20 }, () => call(asked))
      return (await Promise.allSettled(calls)).every(({ status }) => status === 'fulfilled')
    })
  })

  it('do not take the places of others with streams that they reset', async (t) => {
    const server = await serveGrpc(t, { grpc: { port: 0, maxCalls: 20 } })
    const open = session(t, server)
    await once(open, 'connect')
    for (let i = 0; i < 200; i++) {
      const stream = open.request(startOf())
      stream.on('error', () => {})
      stream.close(8)
    }
    await new Promise((resolve) => open.ping(resolve))
    const { call } = caller(t, server.grpcPort!, 'limits')
    assert.equal((await call(asked)).overall_code, 'OK')
  })

  it('are refused above the limit of calls, and counted', async (t) => {
    const server = await serveGrpc(t, { grpc: { port: 0, maxCalls: 3 } })
    const open = session(t, server)
    const silent = Array.from({ length: 3 }, () => open.request(startOf()))
    for (const stream of silent) stream.on('error', () => {})
    await new Promise((resolve) => open.ping(resolve))
    const { call } = caller(t, server.grpcPort!, 'limits')
    assert.deepEqual(await failure(call(asked)), { code: 'UNAVAILABLE', catraca: 'OVERLOADED' })
    const { text } = await server.call('GET', '/metrics')
    assert.match(text, /catraca_http_requests_total\{method="GRPC",route="[^"]+",status="503"\} 1\n/)
    for (const stream of silent) stream.close()
    await until('there is room again', async () => {
      const answer = await call(asked).catch(() => undefined)
      return answer?.overall_code === 'OK'
    })
  })

  it('are closed when they speak another protocol, and refused above the limit of connections', async (t) => {
    const server = await serveGrpc(t, { maxConnections: 2 })
    const socket = connect(server.grpcPort!, '127.0.0.1')
    socket.on('error', () => {})
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
    socket.resume()
    await inTime(once(socket, 'close'), 20_000)
    const { call } = caller(t, server.grpcPort!, 'limits')
    assert.equal((await call(asked)).overall_code, 'OK')
    await call(asked)
    const idle = connect(server.grpcPort!, '127.0.0.1')
    await once(idle, 'connect')
    t.after(() => idle.destroy())
    const third = caller(t, server.grpcPort!, 'limits')
    assert.equal((await failure(third.call(asked, { deadlineMs: 20_000 }))).code, 'UNAVAILABLE')
    assert.equal((await call(asked)).overall_code, 'OK')
  })
})

describe('a call whose caller goes', () => {
  let redis: RedisServers
  before(async () => {
    redis = await startSingle()
  })
  after(() => redis.stop())

  it('takes nothing, whether the caller cancels or its deadline passes', async (t) => {
    const server = await serveGrpc(t, {}, { store: redis.storeUrl })
    await limited(server, 5)
    const { client, call } = caller(t, server.grpcPort!, 'limits')
    assert.equal((await call(asked)).statuses[0].limit_remaining, 4)
    redis.servers[0]!.pause()
    const late = failure(call(asked, { deadlineMs: 300 }))
    const method = client as unknown as {
      ShouldRateLimit(r: Message, done: () => void): grpc.ClientUnaryCall
    }
    const cancelled = method.ShouldRateLimit(asked, () => {})
    assert.equal((await late).code, 'DEADLINE_EXCEEDED')
    cancelled.cancel()
    // Both calls have reached the server by now, and the second one has ended too when a third one is answered.
    await new Promise((resolve) => setTimeout(resolve, 100))
    redis.servers[0]!.resume()
    const left = async () => {
      const { limits } = await server.catraca.limits.status('v', 'edge.key')
      return limits.requests!.remaining === 4
    }
    await until('what was taken is given back', left)
  })
})

describe('a server that stops', () => {
  it('finishes the calls in flight, and ends in its time although a stream stays open', async (t) => {
    const server = await serveGrpc(t, { shutdownTimeoutMs: 2_000 })
    const { call } = caller(t, server.grpcPort!, 'limits')
    assert.equal((await call(asked)).overall_code, 'OK')
    const open = session(t, server)
    const silent = open.request(startOf())
    silent.on('error', () => {})
    await call(asked)
    const last = call(asked).catch(({ code }) => assert.equal(code, grpc.status.UNAVAILABLE))
    const stopped = server.stop()
    await inTime(stopped, 15_000)
    await last
    assert.equal((await failure(call(asked, { deadlineMs: 20_000 }))).code, 'UNAVAILABLE')
  })
})
