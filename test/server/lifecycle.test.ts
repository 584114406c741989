import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { type AddressInfo, connect, createServer } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, it, type TestContext } from 'node:test'
import { pino } from 'pino'
import { startServer } from '../../src/server/index.js'
import { inTime } from '../support/in-time.js'
import { openPatiently } from '../support/patient.js'
import { oneConnection, send, serve, type TestServer, until } from './support.js'

const TEXT = { 'content-type': 'text/plain' }

async function serveVip(t: TestContext, options: Parameters<typeof serve>[1] = {}): Promise<TestServer> {
  const server = await serve(t, options)
  await server.catraca.allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
  return server
}

/** An import that is under way and waits for more of its body. */
async function importUnderWay(server: TestServer, importId: string) {
  const url = `${server.url}/allowlists/vip/import?importId=${importId}`
  const outgoing = request(url, { method: 'POST', headers: TEXT, agent: false })
  const answer = new Promise<{ status: number; body: string }>((resolve, reject) => {
    outgoing.on('error', reject)
    outgoing.on('response', (response: IncomingMessage) => {
      text(response).then((body) => resolve({ status: response.statusCode!, body }), reject)
    })
  })
  answer.catch(() => {})
  outgoing.write('ana\n')
  const { allowlists } = server.catraca
  await until('under way', () =>
    allowlists.importStatus('vip', importId).then(
      () => true,
      () => false,
    ),
  )
  return { outgoing, answer }
}

describe('stop()', () => {
  it('ends at once when nothing is going on', async (t) => {
    const server = await serveVip(t, { shutdownTimeoutMs: 600_000, drainMs: 150_000 })
    await inTime(server.stop(), 60_000)
    await assert.rejects(send(server.url, 'GET', '/live'), /ECONNREFUSED/)
    await server.stop()
  })

  it('finishes what has begun and refuses what is new', async (t) => {
    const server = await serveVip(t, { drainMs: 2500 })
    const agent = oneConnection(t)
    assert.equal((await server.call('GET', '/ready', { agent })).status, 200)
    const { outgoing, answer } = await importUnderWay(server, 'begun')
    const stopped = server.stop()
    const ready = await server.call('GET', '/ready', { agent })
    assert.deepEqual([ready.status, ready.json.status], [503, 'stopping'])
    assert.equal((await server.call('GET', '/live', { agent })).status, 200)
    for (const path of ['/customers/ana/check?allowlists=vip', '/allowlists']) {
      const refused = await server.call('GET', path, { agent })
      assert.deepEqual([refused.status, refused.json.code], [503, 'SHUTTING_DOWN'], path)
      assert.equal(refused.headers.connection, 'close')
    }
    outgoing.end('bob\n')
    const { status, body } = await answer
    assert.deepEqual([status, JSON.parse(body).added], [200, 2])
    await stopped
    await assert.rejects(send(server.url, 'GET', '/live'), /ECONNREFUSED/)
  })

  it('does not wait for connections that only stay open', async (t) => {
    const server = await serveVip(t, { drainMs: 50, shutdownTimeoutMs: 60_000 })
    const { hostname, port } = new URL(server.url)
    const idle = connect(Number(port), hostname)
    await once(idle, 'connect')
    const agent = oneConnection(t)
    await server.call('GET', '/live', { agent })
    const sending = connect(Number(port), hostname)
    sending.on('error', () => {})
    sending.write('GET /live HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n')
    await once(sending, 'data')
    sending.write('a')
    await inTime(server.stop(), 20_000)
    idle.destroy()
    sending.destroy()
  })

  it('does not wait for them either where somebody else accepts the connections', async (t) => {
    const catraca = await openPatiently({ store: 'memory:', sweepIntervalMs: 0 })
    t.after(() => catraca.close())
    const times = { drainMs: 50, shutdownTimeoutMs: 60_000 }
    const server = await startServer(catraca, { ...times, listens: false, logger: pino({ level: 'silent' }) })
    const acceptor = createServer((socket) => server.take(socket)).listen(0, '127.0.0.1')
    t.after(() => acceptor.close())
    await once(acceptor, 'listening')
    const sending = connect((acceptor.address() as AddressInfo).port, '127.0.0.1')
    sending.on('error', () => {})
    sending.write('GET /live HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n')
    await once(sending, 'data')
    sending.write('a')
    await inTime(server.stop(), 20_000)
    sending.destroy()
  })

  it('breaks off in time, and the import is recorded as interrupted', async (t) => {
    const server = await serveVip(t, { shutdownTimeoutMs: 1000, drainMs: 0 })
    const { answer } = await importUnderWay(server, 'endless')
    const startedAt = performance.now()
    await inTime(server.stop(), 20_000)
    const tookMs = performance.now() - startedAt
    assert.ok(tookMs > 500, `${tookMs} ms`)
    const { state } = await server.catraca.allowlists.importStatus('vip', 'endless')
    assert.equal(state, 'interrupted')
    const { status, body } = await answer
    assert.deepEqual([status, JSON.parse(body).code], [503, 'SHUTTING_DOWN'])
  })

  it('waits for imports in the background', async (t) => {
    const server = await serveVip(t)
    const body = Array.from({ length: 50_000 }, (_, i) => `c${i}\n`).join('')
    const call = { headers: TEXT, body }
    const { status } = await server.call('POST', '/allowlists/vip/import?async=1&importId=back', call)
    assert.equal(status, 202)
    await server.stop()
    const { state } = await server.catraca.allowlists.importStatus('vip', 'back')
    assert.equal(state, 'completed')
  })

  it('breaks off a background import in time', async (t) => {
    const server = await serveVip(t, { shutdownTimeoutMs: 400 })
    const call = { headers: TEXT, body: 'ana\n' }
    const { allowlists } = server.catraca
    const real = allowlists.import.bind(allowlists)
    t.mock.method(allowlists, 'import', (id: string, body: AsyncIterable<Uint8Array>, options: object) =>
      real(
        id,
        (async function* () {
          yield* body
          await new Promise(() => {})
        })(),
        options,
      ),
    )
    const { status } = await server.call('POST', '/allowlists/vip/import?async=1&importId=back', call)
    assert.equal(status, 202)
    await inTime(server.stop(), 20_000)
    await until(
      'recorded',
      async () => (await allowlists.importStatus('vip', 'back')).state === 'interrupted',
    )
  })
})

describe('startServer', () => {
  it('says where it listens', async (t) => {
    const server = await serve(t, { host: 'localhost' })
    assert.match(server.url, /^http:\/\/(127\.0\.0\.1|\[::1\]):\d+$/)
    assert.equal((await server.call('GET', '/live')).status, 200)
  })

  it('fails when the port is taken, and leaves nothing behind', async (t) => {
    const server = await serve(t)
    const catraca = await openPatiently({ store: 'memory:' })
    t.after(() => catraca.close())
    const port = Number(new URL(server.url).port)
    await assert.rejects(startServer(catraca, { port }), { code: 'EADDRINUSE' })
  })
})

describe('health', () => {
  it('tells the state of the engines', async (t) => {
    const server = await serve(t)
    const { status, json } = await server.call('GET', '/health')
    assert.equal(status, 200)
    assert.equal(json.status, 'healthy')
    assert.equal(json.store, 'memory:')
    assert.match(json.timestamp, /Z$/)
    assert.ok(json.uptime > 0)
    assert.deepEqual([json.engines[0].name, json.engines[0].status], ['embedded', 'healthy'])
  })

  it('is ready when it is told so', async (t) => {
    let warm = false
    const server = await serve(t, { ready: () => warm })
    const cold = await server.call('GET', '/ready')
    assert.deepEqual([cold.status, cold.json.status], [503, 'starting'])
    warm = true
    assert.equal((await server.call('GET', '/ready')).status, 200)
    assert.equal((await server.call('HEAD', '/ready')).status, 200)
  })
})
