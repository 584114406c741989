import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, it, type TestContext } from 'node:test'
import { pino } from 'pino'
import { CatracaError } from '../../../src/core/errors.js'
import { hashKey } from '../../../src/guards/access/index.js'
import { SCOPES } from '../../../src/guards/access/scopes.js'
import { parse, sampleOf } from '../../metrics/support.js'
import { serve, until } from '../support.js'
import { countRequests, dial, head, type KeyedServer, normal, withAccepted } from './support.js'

const KEY = 'ctr_the-key-of-these-tests'
const READ_KEY = 'ctr_a-key-that-may-only-read'
const PLAIN = ['Host: catraca.example', `Authorization: Bearer ${KEY}`]

async function serveGuards(t: TestContext, options: Parameters<typeof serve>[1] = {}): Promise<KeyedServer> {
  const bootstrapKeys = () => [
    { name: 'all', scopes: [...SCOPES], hash: hashKey(KEY) },
    { name: 'reader', scopes: ['read' as const], hash: hashKey(READ_KEY) },
  ]
  const spaces = [{ name: 'space', ttlMs: 3_600_000 }]
  const server = await serve(t, { bootstrapKeys, ...options }, { cache: { spaces } })
  const { allowlists, limits, cache, tokens } = server.catraca
  await allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
  await allowlists.add('vip', 'ana')
  const rpm = { rpm: { capacity: 1, refillPeriodSeconds: 3600 } }
  await limits.setConfig({ level: 'system', resource: 'api' }, { limits: rpm })
  await cache.set('space', 'known', { name: 'Zoë ☕', many: 'x'.repeat(300) })
  await tokens.revoke({ jti: 'gone', expiresAt: new Date(Date.now() + 3_600_000) })
  return withAccepted(server)
}

function withBody(line: string, body: unknown, ...headers: string[]): string {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const bytes = Buffer.from(text)
  const lines = [...PLAIN, 'Content-Type: application/json', `Content-Length: ${bytes.length}`, ...headers]
  return head(`${line} HTTP/1.1`, ...lines) + bytes.toString('latin1')
}
const without = (line: string, ...headers: string[]) => head(`${line} HTTP/1.1`, ...PLAIN, ...headers)

/** Sends the pieces so that each is read on its own, and returns the answer; the caller goes on listening. */
async function ask(t: TestContext, server: KeyedServer, pieces: string[]): Promise<string> {
  const socket = dial(t, server)
  let received = ''
  let isClosed = false
  socket.setEncoding('latin1').on('data', (piece: string) => (received += piece))
  socket.on('close', () => (isClosed = true))
  await once(socket, 'connect')
  await until('accepted', () => server.accepted.has(socket.localPort!))
  const other = server.accepted.get(socket.localPort!)!
  let sent = 0
  for (const piece of pieces) {
    if (other.destroyed) break
    socket.write(piece, 'latin1')
    sent += piece.length
    await until('read', () => other.bytesRead >= sent || other.destroyed)
  }
  await until('answered', () => isClosed || isWhole(received))
  socket.destroy()
  return received
}

function isWhole(received: string): boolean {
  const end = received.indexOf('\r\n\r\n')
  const length = Number(/content-length: (\d+)/i.exec(received)?.[1] ?? 0)
  return end >= 0 && received.length >= end + 4 + length
}

/** Without names that are used once, and what is made for each answer. */
const alike = (answer: string) =>
  normal(answer)
    .replace(/\bn-\d+/g, 'n')
    .replace(/"(token|leaseId|expiresAt|leaseUntil|checkedAt|addedAt)":"[^"]+"/g, '"$1"')
    .replace(/"(fence|ageMs|resetMs|retryAfterMs)":\d+/g, '"$1"')
    .replace(/(;t=|retry-after: |again in )\d+/g, '$1')

/** A call, with a name that no other call has. */
type MakeCall = (server: KeyedServer, name: string) => string | Promise<string>

const payload = { amount: 1250, to: 'Zoë ☕' }
const ACQUIRE: MakeCall = (_, entity) => withBody('POST /limits/acquire', { entity, resource: 'api' })
const leaseOf = async ({ catraca: { limits } }: KeyedServer, entity: string) =>
  ((await limits.acquire({ entity, resource: 'api' })) as { leaseId: string }).leaseId
const CALLS: Record<string, [status: number, make: MakeCall]> = {
  'check of many': [200, () => withBody('POST /check', { customerIds: ['ana', 'zoe'], allowlists: ['vip'] })],
  'check of bad ids': [400, () => withBody('POST /check', { customerIds: ['a b'], allowlists: ['vip'] })],
  'check of a bad id': [400, () => without('GET /customers/ana/check?allowlists=a%20b')],
  acquire: [200, ACQUIRE],
  'acquire, denied': [
    429,
    async (server, entity) => {
      await leaseOf(server, entity)
      return ACQUIRE(server, entity)
    },
  ],
  'acquire without configuration': [
    404,
    (_, entity) => withBody('POST /limits/acquire', { entity, resource: 'nope' }),
  ],
  adjust: [
    200,
    async (server, n) => withBody(`POST /leases/${await leaseOf(server, n)}/adjust`, { delta: { rpm: 1 } }),
  ],
  'adjust of nothing': [404, () => withBody('POST /leases/none-such/adjust', { delta: { rpm: 1 } })],
  'give back': [204, async (server, n) => without(`DELETE /leases/${await leaseOf(server, n)}`)],
  'give back nothing': [404, () => without('DELETE /leases/none-such')],
  claim: [201, (_, key) => withBody(`POST /idempotency/pay/${key}`, { payload })],
  replay: [
    200,
    async ({ catraca: { idempotency } }, key) => {
      const begun = await idempotency.begin({ operation: 'pay', key, payload })
      await idempotency.complete({ operation: 'pay', key }, (begun as { token: string }).token, { Zoë: '☕' })
      return withBody(`POST /idempotency/pay/${key}`, { payload })
    },
  ],
  'claim in progress': [
    409,
    async ({ catraca: { idempotency } }, key) => {
      await idempotency.begin({ operation: 'pay', key, payload })
      return withBody(`POST /idempotency/pay/${key}`, { payload })
    },
  ],
  complete: [
    200,
    async ({ catraca: { idempotency } }, key) => {
      const begun = await idempotency.begin({ operation: 'pay', key, payload })
      const { token } = begun as { token: string }
      return withBody(`POST /idempotency/pay/${key}/complete`, { token, response: { paid: true } })
    },
  ],
  'complete with another token': [
    400,
    (_, key) => withBody(`POST /idempotency/pay/${key}/complete`, { token: 'other', response: 1 }),
  ],
  lock: [201, (_, name) => withBody(`POST /locks/${name}`, { ttlMs: 60_000 })],
  'lock, waiting': [201, (_, name) => withBody(`POST /locks/${name}`, { ttlMs: 60_000, waitMs: 5000 })],
  'lock that is held': [
    409,
    async ({ catraca: { locks } }, name) => {
      await locks.acquire(name, { ttlMs: 60_000 })
      return withBody(`POST /locks/${name}`, { ttlMs: 60_000, waitMs: 1 })
    },
  ],
  release: [
    204,
    async ({ catraca: { locks } }, name) => {
      const { token } = (await locks.acquire(name)) as { token: string }
      return withBody(`POST /locks/${name}/release`, { token })
    },
  ],
  'release of a lost lock': [409, (_, name) => withBody(`POST /locks/${name}/release`, { token: 'other' })],
  'token check': [200, () => without('GET /revoked-tokens/gone')],
  'cache get': [200, () => without('GET /cache/space/known')],
  'cache miss': [404, (_, key) => without(`GET /cache/space/${key}`)],
  'cache of an unknown space': [404, () => without('GET /cache/nope/known')],
  'cache put': [204, (_, key) => withBody(`PUT /cache/space/${key}`, { value: { Zoë: ['☕', 1.5, null] } })],
  'a type with a charset': [
    204,
    (_, key) => withBody(`PUT /cache/space/${key}`, { value: 1 }).replace('n/json', 'n/json; charset=UTF-8'),
  ],
}

describe('direct calls', () => {
  it("are answered as Node's server would, also when they are refused", async (t) => {
    const server = await serveGuards(t)
    const seen = countRequests(server)
    let names = 0
    for (const [name, [status, make]] of Object.entries(CALLS)) {
      const before = seen()
      const direct = await ask(t, server, [await make(server, `n-${names++}`)])
      assert.equal(seen(), before, `answered directly: ${name}`)
      assert.match(direct, new RegExp(`^HTTP/1.1 ${status} `), name)
      const request = await make(server, `n-${names++}`)
      const byNode = await ask(t, server, [request.slice(0, 1), request.slice(1)])
      assert.equal(seen(), before + 1, `answered by Node: ${name}`)
      assert.equal(alike(direct), alike(byNode), name)
    }
  })

  const LEFT: Record<string, string> = {
    'a body that is not JSON': withBody('PUT /cache/space/k', '{"value":'),
    'a key that is hostile': withBody('PUT /cache/space/k', '{"value":{"__proto__":1}}'),
    'an escaped key that is hostile': withBody('PUT /cache/space/k', '{"value":{"\\u0063onstructor":1}}'),
    'an integer that would be rounded': withBody('PUT /cache/space/k', '{"value":9007199254740993}'),
    'a field that is unknown': withBody('POST /locks/k', { ttlMs: 1000, other: 1 }),
    'a field of a wrong type': withBody('POST /locks/k', { ttlMs: '1000' }),
    'a body that is an array': withBody('POST /locks/k', []),
    'another type': withBody('POST /locks/k', {}).replace('application/json', 'text/plain'),
    'an encoding': withBody('POST /locks/k', {}, 'Content-Encoding: gzip'),
    'two lengths': withBody('POST /locks/k', {}, 'Content-Length: 2'),
    'a body and its chunks': withBody('POST /locks/k', {}, 'Transfer-Encoding: chunked'),
    'a length and more': `${withBody('PUT /cache/space/k', { value: 1 })}{}`,
    'a large body': withBody('PUT /cache/space/k', { value: 'x'.repeat(5000) }),
    'no body': without('POST /locks/k'),
    'a type without a body': without('DELETE /leases/none', 'Content-Type: application/json'),
    'an expectation': withBody('PUT /cache/space/k', { value: 1 }, 'Expect: 100-continue'),
    'a header that an operation reads': withBody(
      'POST /idempotency/pay/k',
      { payload: 1 },
      'Idempotency-Expiry-Seconds: x',
    ),
    'a query': without('GET /revoked-tokens/gone?subject=s'),
    'lists where there are none': without('GET /revoked-tokens/gone?allowlists=vip'),
    'an encoded path': without('GET /revoked-tokens/g%6Fne'),
    'an empty part': without('GET /cache/space/'),
    'a part too many': without('GET /cache/space/known/more'),
    'a route that is not hot': without('GET /locks/k'),
    'a key without the scope': without('GET /cache/space/known').replace(KEY, READ_KEY),
    'two requests at once': without('GET /cache/space/known') + without('GET /cache/space/known'),
  }
  it("leave everything else to Node's server", async (t) => {
    const server = await serveGuards(t)
    const seen = countRequests(server)
    for (const [name, request] of Object.entries(LEFT)) {
      const before = seen()
      const direct = await ask(t, server, [request])
      assert.ok(seen() > before, `Node saw it: ${name}`)
      const byNode = await ask(t, server, [request.slice(0, 1), request.slice(1)])
      assert.equal(alike(direct), alike(byNode), name)
      assert.match(direct, /^HTTP\/1\.1 \d{3} /, name)
    }
  })

  it('are answered one after the other on their connection, whatever comes meanwhile', async (t) => {
    const server = await serveGuards(t)
    const seen = countRequests(server)
    const { cache } = server.catraca
    const real = cache.get.bind(cache)
    let release = () => {}
    t.mock.method(cache, 'get', async (space: string, key: string) => {
      if (key === 'slow') await new Promise<void>((resolve) => (release = resolve))
      return real(space, key)
    })
    for (const [last, byNode] of [
      [without('GET /revoked-tokens/gone'), 0],
      [without('GET /live'), 1],
    ] as const) {
      const socket = dial(t, server)
      let received = ''
      socket.setEncoding('latin1').on('data', (piece: string) => (received += piece))
      await once(socket, 'connect')
      await until('accepted', () => server.accepted.has(socket.localPort!))
      const other = server.accepted.get(socket.localPort!)!
      const first = without('GET /cache/space/slow')
      release = () => {}
      const idle = release
      socket.write(first)
      await until('it is asked', () => release !== idle)
      socket.end(last)
      await until('all has come', () => other.bytesRead === first.length + last.length)
      assert.equal(received, '')
      release()
      await once(socket, 'close')
      const statuses = [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)
      assert.deepEqual(statuses, ['404', '200'], last)
      assert.equal(seen(), byNode)
    }
  })

  it('that fail are counted, and are not made again', async (t) => {
    const server = await serveGuards(t)
    const { mock } = t.mock.method(server.catraca.cache, 'get', () => {
      throw new CatracaError('ENGINE_UNAVAILABLE', 'the store does not answer')
    })
    const answer = await ask(t, server, [without('GET /cache/space/known')])
    assert.match(answer, /^HTTP\/1\.1 503 [\s\S]*retry-after: 1\r\n/)
    assert.equal(mock.callCount(), 1)
    const { text } = await server.call('GET', '/metrics', { headers: { authorization: `Bearer ${KEY}` } })
    const labels = { method: 'GET', route: '/cache/:space/:key', status: '503' }
    assert.equal(sampleOf(parse(text), 'catraca_http_requests_total', labels), 1)
  })

  it('that end with a status without a name are answered as Node does', async (t) => {
    const server = await serveGuards(t)
    t.mock.method(server.catraca.cache, 'get', () => {
      throw new CatracaError('ABORTED', 'the client disconnected')
    })
    const request = without('GET /cache/space/known')
    const direct = await ask(t, server, [request])
    assert.match(direct, /^HTTP\/1\.1 499 unknown\r\n/)
    assert.equal(alike(direct), alike(await ask(t, server, [request.slice(0, 1), request.slice(1)])))
  })

  it('that wait when the server stops are refused, and their connection is closed', async (t) => {
    const server = await serveGuards(t)
    const { locks } = server.catraca
    await locks.acquire('held', { ttlMs: 60_000 })
    const { mock } = t.mock.method(locks, 'acquire')
    const answer = ask(t, server, [withBody('POST /locks/held', { waitMs: 30_000 })])
    await until('it waits', () => mock.callCount() === 1)
    await server.stop()
    assert.match(await answer, /^HTTP\/1\.1 503 [\s\S]*\r\nconnection: close\r\n[\s\S]*"SHUTTING_DOWN"/)
  })

  it('are answered once, whatever fails after the answer', async (t) => {
    let isFull = false
    const write = () => {
      if (isFull) throw new Error('the log is full')
    }
    const server = await serveGuards(t, { logger: pino({}, { write }), accessLogSampling: 1 })
    isFull = true
    const answer = await ask(t, server, [without('GET /revoked-tokens/gone')])
    assert.equal(answer.match(/HTTP\/1\.1/g)?.length, 1)
    assert.match(answer, /^HTTP\/1\.1 200 /)
    isFull = false
  })

  it('give a lock back whose caller has left', async (t) => {
    const server = await serveGuards(t)
    const { locks } = server.catraca
    for (const body of [{ ttlMs: 60_000 }, { ttlMs: 60_000, waitMs: 30_000 }]) {
      const isWaiting = 'waitMs' in body
      const real = locks.acquire.bind(locks)
      let goOn = () => {}
      const asked = new Promise<void>((resolve) => {
        t.mock.method(locks, 'acquire', async (...given: Parameters<typeof real>) => {
          const answer = isWaiting ? undefined : await real(...given)
          resolve()
          await new Promise<void>((resolve) => (goOn = resolve))
          return answer ?? real(...given)
        })
      })
      const name = isWaiting ? 'waited-for' : 'at-once'
      const socket = dial(t, server)
      await once(socket, 'connect')
      await until('accepted', () => server.accepted.has(socket.localPort!))
      const other = server.accepted.get(socket.localPort!)!
      socket.write(withBody(`POST /locks/${name}`, body))
      await asked
      assert.equal((await locks.status(name)).held, !isWaiting)
      socket.resetAndDestroy()
      await until('it has left', () => other.destroyed)
      goOn()
      await until('it is free', async () => !(await locks.status(name)).held)
      t.mock.restoreAll()
    }
  })
})
