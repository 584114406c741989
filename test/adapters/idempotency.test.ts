import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { json } from 'node:stream/consumers'
import { describe, it, type TestContext } from 'node:test'
import { serve as serveHono } from '@hono/node-server'
import Fastify from 'fastify'
import { Hono } from 'hono'
import { idempotency as expressGuard } from '../../src/adapters/express.js'
import { idempotency as fastifyGuard, rateLimit as fastifyLimit } from '../../src/adapters/fastify.js'
import { withIdempotency, withRateLimit } from '../../src/adapters/fetch.js'
import { idempotency as honoGuard } from '../../src/adapters/hono.js'
import type { IdempotencyOptions } from '../../src/adapters/idempotency.js'
import type { Catraca } from '../../src/app/open-catraca.js'
import { isCatracaError } from '../../src/core/errors.js'
import { openPatiently } from '../support/patient.js'
import { headerOf } from './frameworks.js'

/** What a handler answers, in whatever framework: status, headers and a body of some kind. */
interface Plan {
  status?: number
  headers?: Record<string, string>
  body?: string | Uint8Array
  /** Sent in pieces, as a stream. */
  pieces?: Uint8Array[]
  throws?: string
  waitFor?: Promise<unknown>
}
type Handle = (body: unknown) => Plan
// biome-ignore lint/suspicious/noExplicitAny: the requests of four frameworks.
type Options = Partial<IdempotencyOptions<any>>
interface Asked {
  key?: string | undefined
  body?: unknown
  headers?: Record<string, string>
  path?: string
  method?: string
}

interface Service {
  ask(asked?: Asked): Promise<{ status: number; headers: Headers; bytes: Buffer; text: string }>
  url: string
  catraca: Catraca
  runs: () => number
}

type Start = (t: TestContext, handle: Handle, options: IdempotencyOptions<never>) => Promise<string>

const FRAMEWORKS: Record<string, Start> = {
  async fastify(t, handle, options) {
    const app = Fastify()
    app.removeContentTypeParser('application/json')
    app.addContentTypeParser(
      'application/json',
      { parseAs: 'string' },
      app.getDefaultJsonParser('error', 'error'),
    )
    await app.register(fastifyGuard(options) as never)
    app.all('/*', async (request, reply) => {
      const { status = 200, headers = {}, body, pieces, throws, waitFor } = handle(request.body)
      await waitFor
      if (throws !== undefined) throw new Error(throws)
      return reply
        .code(status)
        .headers(headers)
        .send(pieces ? Readable.from(pieces) : body)
    })
    t.after(() => app.close())
    return app.listen({ port: 0, host: '127.0.0.1' })
  },
  async express(t, handle, options) {
    const guard = expressGuard(options as never)
    const server = createServer(async (request, response) => {
      const hasBody = Number(request.headers['content-length'] ?? 0) > 0
      const parsed = Object.assign(request, hasBody ? { body: await json(request) } : {})
      guard(parsed as never, response, async (error) => {
        try {
          if (error) throw error
          const { status = 200, headers = {}, body, pieces, throws, waitFor } = handle(parsed)
          await waitFor
          if (throws !== undefined) throw new Error(throws)
          response.writeHead(status, headers)
          for (const piece of pieces ?? []) if (!response.write(piece)) await once(response, 'drain')
          response.end(body)
        } catch (failure) {
          response.statusCode = 500
          response.end(String(failure))
        }
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => server.close())
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  },
  async fetch(t, handle, options) {
    const guarded = withIdempotency(async (request) => {
      const text = await request.text()
      const { status = 200, headers = {}, body, pieces, throws, waitFor } = handle(text)
      await waitFor
      if (throws !== undefined) throw new Error(throws)
      const stream = pieces && (Readable.toWeb(Readable.from(pieces)) as ReadableStream)
      return new Response(stream ?? body ?? null, { status, headers })
    }, options as never)
    const server = createServer(async (incoming, response) => {
      const { method, url, headers } = incoming
      const hasBody = Number(headers['content-length'] ?? 0) > 0
      const request = new Request(`http://host${url}`, {
        method: method!,
        headers: headers as Record<string, string>,
        ...(hasBody && { body: Readable.toWeb(incoming) as ReadableStream, duplex: 'half' }),
      } as RequestInit)
      const answer = await Promise.resolve(guarded(request)).catch(
        (error) => new Response(String(error), { status: 500 }),
      )
      response.writeHead(answer.status, Object.fromEntries(answer.headers))
      response.end(Buffer.from(await answer.arrayBuffer()))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => server.close())
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  },
  async hono(t, handle, options) {
    const app = new Hono()
    app.use(honoGuard(options as never))
    app.all('*', async (context) => {
      const text = await context.req.text()
      const { status = 200, headers = {}, body, pieces, throws, waitFor } = handle(text)
      await waitFor
      if (throws !== undefined) throw new Error(throws)
      const stream = pieces && (Readable.toWeb(Readable.from(pieces)) as ReadableStream)
      return new Response(stream ?? body ?? null, { status, headers })
    })
    app.onError((error) => new Response(String(error), { status: 500 }))
    const server = serveHono({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' })
    await once(server, 'listening')
    t.after(() => server.close())
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  },
}

async function serve(t: TestContext, start: Start, handle: Handle, options: Options = {}): Promise<Service> {
  const catraca = await openPatiently({ store: 'memory:' })
  t.after(() => catraca.close())
  let runs = 0
  const counted: Handle = (body) => {
    runs++
    return handle(body)
  }
  const given = {
    idempotency: catraca.idempotency,
    operation: 'PAY',
    ...options,
  } as IdempotencyOptions<never>
  const url = await start(t, counted, given)
  return {
    catraca,
    url,
    runs: () => runs,
    async ask({
      key = '"order-1"',
      body = { amount: 5 },
      headers = {},
      path = '/pay',
      method = 'POST',
    } = {}) {
      const hasBody = method !== 'GET' && body !== undefined
      const answer = await fetch(url + path, {
        method,
        headers: {
          ...(key !== '' && { 'idempotency-key': key }),
          ...(hasBody && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(hasBody && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      })
      const bytes = Buffer.from(await answer.arrayBuffer())
      return { status: answer.status, headers: answer.headers, bytes, text: bytes.toString() }
    },
  }
}

const record = ({ catraca }: Service) => catraca.idempotency.get({ operation: 'PAY', key: 'order-1' })
const codeOf = ({ text }: { text: string }): string => JSON.parse(text).code

for (const [name, start] of Object.entries(FRAMEWORKS)) {
  describe(`idempotency for ${name}`, () => {
    it('does a request once, and gives the same answer again', async (t) => {
      const handle: Handle = () => ({
        status: 201,
        headers: {
          'content-type': 'application/vnd.pay+json',
          location: '/pay/1',
          'x-own': 'a',
          'set-cookie': 'a=b',
        },
        body: '{"paid":"é"}',
      })
      const service = await serve(t, start, handle)
      const first = await service.ask()
      assert.deepEqual([first.status, first.text], [201, '{"paid":"é"}'])
      assert.equal(first.headers.get('idempotency-replayed'), null)
      assert.equal(first.headers.get('set-cookie'), 'a=b')
      for (const key of ['order-1', '"order-1"', '"order-1"; a=1']) {
        const again = await service.ask({ key, body: '{ "amount": 5.0 }' })
        assert.deepEqual([again.status, again.text], [201, '{"paid":"é"}'])
        assert.equal(again.headers.get('idempotency-replayed'), 'true')
        assert.match(again.headers.get('content-type')!, /^application\/vnd\.pay\+json/)
        assert.equal(again.headers.get('location'), '/pay/1')
        assert.deepEqual([again.headers.get('set-cookie'), again.headers.get('x-own')], [null, null])
      }
      assert.equal(service.runs(), 1)
    })

    it('refuses another request under the key, and one that is in progress', async (t) => {
      let finish = () => {}
      const waitFor = new Promise<void>((resolve) => (finish = resolve))
      const service = await serve(t, start, () => ({ body: 'ok', waitFor }))
      const first = service.ask()
      while (service.runs() === 0) await new Promise((resolve) => setTimeout(resolve, 5))
      const busy = await service.ask()
      assert.deepEqual([busy.status, codeOf(busy)], [409, 'IDEMPOTENCY_IN_PROGRESS'])
      assert.match(busy.headers.get('retry-after')!, /^\d+$/)
      finish()
      assert.equal((await first).text, 'ok')
      for (const other of [{ body: { amount: 6 } }, { path: '/refund' }, { method: 'PATCH' }]) {
        const refused = await service.ask(other)
        assert.deepEqual(
          [refused.status, codeOf(refused)],
          [422, 'IDEMPOTENCY_KEY_REUSED'],
          JSON.stringify(other),
        )
        assert.match(refused.headers.get('content-type')!, /problem\+json/)
      }
      assert.equal(service.runs(), 1)
    })

    it('asks for a key where it is required, and goes on without where it is not', async (t) => {
      const service = await serve(t, start, () => ({ body: 'ok' }))
      const missing = await service.ask({ key: '' })
      assert.deepEqual([missing.status, JSON.parse(missing.text).errors[0].path], [400, 'Idempotency-Key'])
      for (const key of ['"open', 'x'.repeat(257)]) assert.equal((await service.ask({ key })).status, 400)
      assert.equal(service.runs(), 0)
      // Other systems have other alphabets.
      for (const key of ['auth0|7', '"auth0|7"', 'a/b', '"a/b"'])
        assert.equal((await service.ask({ key })).text, 'ok')
      assert.equal(service.runs(), 2)
      assert.equal((await service.ask({ key: '', method: 'GET' })).text, 'ok')
      const lenient = await serve(t, start, () => ({ body: 'ok' }), { required: false })
      assert.equal((await lenient.ask({ key: '' })).text, 'ok')
      assert.equal((await lenient.ask({ key: '' })).text, 'ok')
      assert.equal(lenient.runs(), 2)
    })

    it('keeps answers of clients mistakes, tries failures again, and forgets refusals', async (t) => {
      const plan: Plan = { status: 500, body: 'broken' }
      const service = await serve(t, start, () => plan)
      assert.equal((await service.ask()).text, 'broken')
      assert.deepEqual(
        [(await record(service))!.status, (await record(service))!.error],
        ['FAILED', 'status 500'],
      )
      Object.assign(plan, { status: 503 })
      assert.equal((await service.ask()).status, 503)
      await service.catraca.idempotency.delete({ operation: 'PAY', key: 'order-1' })
      for (const status of [429, 401]) {
        Object.assign(plan, { status })
        assert.equal((await service.ask()).status, status)
        assert.equal(await record(service), undefined)
      }
      Object.assign(plan, { status: 404, body: 'no such account' })
      for (let i = 0; i < 2; i++) {
        const { status, text } = await service.ask()
        assert.deepEqual([status, text], [404, 'no such account'])
      }
      assert.equal(service.runs(), 5)
    })

    it('tries again what threw', async (t) => {
      const plan: Plan = { throws: 'no' }
      const service = await serve(t, start, () => plan)
      assert.equal((await service.ask()).status, 500)
      assert.equal((await record(service))!.status, 'FAILED')
      delete plan.throws
      assert.equal((await service.ask()).status, 200)
    })

    it('keeps binary answers, streams and empty ones', async (t) => {
      const bytes = Buffer.from(Array.from({ length: 3000 }, (_, i) => (i * 7) % 256))
      const plans: Plan[] = [
        { body: bytes, headers: { 'content-type': 'image/png' } },
        { pieces: [bytes.subarray(0, 1000), bytes.subarray(1000)], headers: { 'content-type': 'image/png' } },
        { status: 204 },
      ]
      for (const plan of plans) {
        const service = await serve(t, start, () => plan)
        const first = await service.ask()
        const again = await service.ask()
        assert.equal(again.headers.get('idempotency-replayed'), 'true')
        assert.deepEqual([again.status, again.bytes], [first.status, first.bytes])
        assert.deepEqual(again.bytes, plan.status === 204 ? Buffer.alloc(0) : bytes)
        assert.equal(again.headers.get('content-type'), first.headers.get('content-type'))
        assert.equal(service.runs(), 1)
      }
    })

    it('keeps all but the body of a large answer, which still comes whole the first time', async (t) => {
      const pieces = Array.from({ length: 20 }, (_, i) => Buffer.alloc(10_000, i))
      const plan: Plan = { status: 201, pieces, headers: { location: '/pay/1' } }
      const service = await serve(t, start, () => plan, { maxBodyBytes: 50_000 })
      assert.deepEqual((await service.ask()).bytes, Buffer.concat(pieces))
      const again = await service.ask()
      assert.deepEqual([again.status, again.text, again.headers.get('location')], [201, '', '/pay/1'])
      assert.equal(again.headers.get('idempotency-body-omitted'), 'true')
      assert.equal(service.runs(), 1)
    })

    it('tells callers apart', async (t) => {
      const who = (request: unknown) => headerOf(request, 'x-user')!
      const service = await serve(t, start, () => ({ body: 'ok' }), { caller: who })
      for (const user of ['ann', 'bob', 'ann']) await service.ask({ headers: { 'x-user': user } })
      assert.equal(service.runs(), 2)
      await service.ask({ headers: { 'x-user': 'ann:order' } })
      assert.equal(service.runs(), 3)
      assert.equal((await service.ask({ headers: { 'x-user': '' } })).status, 400)
    })

    it('finishes what the client does not wait for', async (t) => {
      let finish = () => {}
      const waitFor = new Promise<void>((resolve) => (finish = resolve))
      const service = await serve(t, start, () => ({ body: 'ok', waitFor }))
      const leaving = new AbortController()
      const left = fetch(`${service.url}/pay`, {
        ...{ method: 'POST', signal: leaving.signal, body: '{"amount":5}' },
        headers: { 'idempotency-key': 'order-1', 'content-type': 'application/json' },
      }).catch(() => 'left')
      while (service.runs() === 0) await new Promise((resolve) => setTimeout(resolve, 5))
      leaving.abort()
      assert.equal(await left, 'left')
      finish()
      while ((await record(service))?.status !== 'COMPLETED')
        await new Promise((resolve) => setTimeout(resolve, 5))
      const again = await service.ask()
      assert.deepEqual([again.text, again.headers.get('idempotency-replayed')], ['ok', 'true'])
    })

    it('answers a problem when the answer cannot be recorded, and 503 without a store', async (t) => {
      const service = await serve(t, start, () => ({ body: 'late', headers: { etag: '"1"' } }), {
        payload: () => 1,
      })
      const { idempotency } = service.catraca
      const hold = idempotency.hold.bind(idempotency)
      t.mock.method(idempotency, 'hold', async (request: Parameters<typeof hold>[0]) => {
        const held = await hold(request)
        await idempotency.delete({ operation: request.operation, key: request.key })
        return held
      })
      const lost = await service.ask()
      assert.deepEqual(
        [lost.status, codeOf(lost), lost.headers.get('etag')],
        [409, 'IDEMPOTENCY_CLAIM_LOST', null],
      )
      t.mock.reset()
      await service.catraca.close()
      assert.equal((await service.ask()).status, 503)
      assert.equal(service.runs(), 1)
    })
  })
}

describe('idempotency for fastify, beyond the others', () => {
  it('keeps what a Response says, and that a hijacked reply was given', async (t) => {
    const catraca = await openPatiently({ store: 'memory:' })
    t.after(() => catraca.close())
    const app = Fastify()
    await app.register(fastifyGuard({ idempotency: catraca.idempotency, operation: 'PAY' }) as never)
    let runs = 0
    app.post('/response', async () => {
      runs++
      return new Response('made', { status: 201, headers: { location: '/made/1' } })
    })
    app.post('/hijacked', (_, reply) => {
      runs++
      reply.hijack()
      reply.raw.statusCode = 202
      reply.raw.end('past Fastify')
    })
    t.after(() => app.close())
    const ask = (url: string) =>
      app.inject({ method: 'POST', url, headers: { 'idempotency-key': url.slice(1) } })
    assert.equal((await ask('/response')).body, 'made')
    const again = await ask('/response')
    assert.deepEqual([again.statusCode, again.body, again.headers.location], [201, 'made', '/made/1'])
    assert.equal((await ask('/hijacked')).body, 'past Fastify')
    const key = { operation: 'PAY', key: 'hijacked' }
    while ((await catraca.idempotency.get(key))?.status !== 'COMPLETED')
      await new Promise((resolve) => setTimeout(resolve, 5))
    const told = await ask('/hijacked')
    assert.deepEqual(
      [told.statusCode, told.body, told.headers['idempotency-body-omitted']],
      [202, '', 'true'],
    )
    assert.equal(runs, 2)
  })
})

describe('idempotency behind rate limits', () => {
  it('records nothing of what the limits refuse', async (t) => {
    const catraca = await openPatiently({ store: 'memory:' })
    t.after(() => catraca.close())
    const { limits, idempotency } = catraca
    await limits.setConfig(
      { level: 'system', resource: 'api' },
      { limits: { rpm: { capacity: 1, refillPeriodSeconds: 60 } } },
    )
    const limit = { limits, entity: () => 'ann', resource: 'api' }
    const record = { idempotency, operation: 'PAY', ending: () => 'complete' as const }
    const handler = withIdempotency(
      withRateLimit(() => new Response('ok'), limit),
      record,
    )
    const app = Fastify()
    await app.register(fastifyGuard(record) as never)
    await app.register(fastifyLimit(limit) as never)
    app.post('/', async () => 'ok')
    t.after(() => app.close())
    const ask = (key: string) =>
      handler(new Request('http://host/', { method: 'POST', headers: { 'idempotency-key': key } }))
    assert.equal((await ask('a')).status, 200)
    assert.equal((await ask('b')).status, 429)
    const inject = await app.inject({ method: 'POST', url: '/', headers: { 'idempotency-key': 'c' } })
    assert.equal(inject.statusCode, 429)
    for (const key of ['b', 'c']) assert.equal(await idempotency.get({ operation: 'PAY', key }), undefined)
    assert.equal((await ask('a')).headers.get('idempotency-replayed'), 'true')
  })

  it('refuses bodies that nobody has parsed, instead of taking all for the same', async (t) => {
    const catraca = await openPatiently({ store: 'memory:' })
    t.after(() => catraca.close())
    const guard = expressGuard<IncomingMessage>({ idempotency: catraca.idempotency, operation: 'PAY' })
    const server = createServer((request, response) => guard(request, response, () => response.end('ran')))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => server.close())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const answer = await fetch(url, { method: 'POST', body: 'x', headers: { 'idempotency-key': 'a' } })
    assert.equal(answer.status, 500)
    assert.ok(!isCatracaError(await answer.text()))
  })
})
