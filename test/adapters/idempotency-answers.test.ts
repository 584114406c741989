import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request as ask, createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline, Readable } from 'node:stream'
import { describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import Fastify from 'fastify'
import { idempotency as expressGuard, idempotencyContext } from '../../src/adapters/express.js'
import { idempotency as fastifyGuard } from '../../src/adapters/fastify.js'
import { withIdempotency } from '../../src/adapters/fetch.js'
import type { IdempotencyOptions } from '../../src/adapters/idempotency.js'
import type { Catraca } from '../../src/app/open-catraca.js'
import { CatracaError } from '../../src/core/errors.js'
import { deferred, down, open } from '../guards/idempotency/support.js'
import { openPatiently } from '../support/patient.js'

type Handler = (request: IncomingMessage, response: ServerResponse) => unknown
// biome-ignore lint/suspicious/noExplicitAny: the requests of three frameworks.
type Options = Partial<IdempotencyOptions<any>>

const AT = { operation: 'PAY', key: 'k' }
const HEADERS = { 'idempotency-key': 'k' }

async function opened(t: TestContext): Promise<Catraca> {
  const catraca = await openPatiently({ store: 'memory:' })
  t.after(() => catraca.close())
  return catraca
}

async function serve(t: TestContext, handler: Handler, options: Options = {}, body?: unknown) {
  const catraca = await opened(t)
  const guard = expressGuard({ idempotency: catraca.idempotency, operation: 'PAY', ...options })
  const server = createServer((request, response) => {
    if (body !== undefined) Object.assign(request, { body })
    guard(request, response, () => handler(request, response))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const post = (init: RequestInit = {}) =>
    fetch(`http://127.0.0.1:${port}`, { method: 'POST', headers: HEADERS, ...init })
  /** Asks, and goes away once `seen`. */
  const leave = async (seen: Promise<unknown>) => {
    const leaving = ask({ port, host: '127.0.0.1', method: 'POST', headers: HEADERS })
    leaving.on('error', () => {}).end()
    await seen
    leaving.destroy()
  }
  return { catraca, ask: post, leave }
}

async function ended({ idempotency }: Catraca): Promise<string> {
  for (;;) {
    const status = (await idempotency.get(AT))?.status
    if (status !== undefined && status !== 'IN_PROGRESS') return status
    await sleep(5)
  }
}

describe('a stored answer of another program', () => {
  const STORED: Record<string, unknown> = {
    'no status': { status: 99_999, headers: {} },
    'a header that splits the answer': { status: 200, headers: { 'x-a': 'a\r\nset-cookie: b' } },
    'a header without a value': { status: 200, headers: { 'x-a': null } },
    'headers in a list': { status: 200, headers: [] },
    'a body that is no text': { status: 200, headers: {}, body: { a: 1 } },
  }
  const payload = () => 1

  async function stored(catraca: Catraca, response: unknown): Promise<void> {
    const begun = await catraca.idempotency.begin({ ...AT, payload: 1 })
    assert.ok(begun.outcome === 'claimed')
    await catraca.idempotency.complete(AT, begun.token, response)
  }

  for (const [what, response] of Object.entries(STORED)) {
    it(`is not sent, and not done again: ${what}`, async (t) => {
      const notAgain = () => assert.fail('done again')
      const { catraca, ask } = await serve(t, notAgain, { payload })
      await stored(catraca, response)
      const options = { idempotency: catraca.idempotency, operation: 'PAY', payload }
      const app = Fastify()
      t.after(() => app.close())
      await app.register(fastifyGuard(options) as never)
      app.post('/', notAgain)
      const asked = new Request('http://host/', { method: 'POST', headers: HEADERS })
      const statuses = [
        (await ask({ signal: AbortSignal.timeout(3000) })).status,
        (await app.inject({ method: 'POST', url: '/', headers: HEADERS })).statusCode,
        (await withIdempotency(notAgain, options)(asked)).status,
      ]
      assert.deepEqual(statuses, [409, 409, 409])
    })
  }

  it('is sent without what was about its connection', async (t) => {
    const { catraca, ask } = await serve(t, () => assert.fail('done again'), { payload })
    const headers = { 'Transfer-Encoding': 'chunked', 'content-length': '5000', 'x-a': '1' }
    await stored(catraca, { status: 202, headers, body: 'hi' })
    const answer = await ask()
    assert.deepEqual([answer.status, await answer.text(), answer.headers.get('x-a')], [202, 'hi', '1'])
  })
})

describe('an answer held back', () => {
  it('has every header of a list, also without a reason', async (t) => {
    const cookies = ['set-cookie', 'a=1', 'Set-Cookie', 'b=2']
    const listed = await serve(t, (_, response) => response.writeHead(201, cookies).end('ok'))
    assert.deepEqual((await listed.ask()).headers.getSetCookie(), ['a=1', 'b=2'])
    const silent = await serve(t, (_, response) =>
      response.writeHead(201, undefined, { location: '/1' }).end('ok'),
    )
    assert.equal((await silent.ask()).headers.get('location'), '/1')
  })

  it('tells its length, and is what was recorded', async (t) => {
    const { ask } = await serve(t, (_, response) => {
      response.end('a')
      response.write('b')
    })
    const [first, again] = [await ask(), await ask()]
    assert.deepEqual([await first.text(), await again.text()], ['a', 'a'])
    assert.equal(first.headers.get('content-length'), '1')
  })

  for (const [name, send] of Object.entries({
    pipe: (source: Readable, response: ServerResponse) => source.pipe(response),
    pipeline: (source: Readable, response: ServerResponse) => pipeline(source, response, () => {}),
  })) {
    it(`is recorded whole when the client goes away in the middle of it: ${name}`, async (t) => {
      const [begun, left] = [deferred(), deferred()] as const
      const { catraca, ask, leave } = await serve(t, (request, response) => {
        async function* pieces() {
          yield 'one '
          begun.resolve()
          await left.promise
          yield 'two'
        }
        request.on('close', () => left.resolve())
        send(Readable.from(pieces(), { objectMode: false }), response)
      })
      await leave(begun.promise)
      assert.equal(await ended(catraca), 'COMPLETED')
      const again = await ask()
      assert.deepEqual([await again.text(), again.headers.get('idempotency-replayed')], ['one two', 'true'])
    })
  }

  it('that breaks off is a failure, with and without a client', async (t) => {
    const { catraca, ask } = await serve(t, (_, response) => {
      response.write('x')
      response.destroy()
    })
    await assert.rejects(ask())
    assert.equal(await ended(catraca), 'FAILED')
    const left = deferred()
    const begun = deferred()
    const broken = await serve(t, (request, response) => {
      async function* pieces() {
        yield 'x'
        begun.resolve()
        await left.promise
        throw new Error('broken')
      }
      request.on('close', () => left.resolve())
      pipeline(Readable.from(pieces(), { objectMode: false }), response, () => {})
    })
    await broken.leave(begun.promise)
    assert.equal(await ended(broken.catraca), 'FAILED')
  })

  it('keeps its head when the handler fails after it', async (t) => {
    const { ask } = await serve(t, (_, response) => {
      response.writeHead(201, { 'X-Made': '1' }).end('made')
      response.statusCode = 500
      response.setHeader('content-length', '100')
      response.setHeader('x-made', '2')
      response.end('failed')
    })
    for (const mark of [null, 'true']) {
      const answer = await ask({ signal: AbortSignal.timeout(3000) })
      assert.deepEqual([answer.status, await answer.text()], [201, 'made'])
      assert.equal(answer.headers.get('idempotency-replayed'), mark)
      if (mark === null) assert.equal(answer.headers.get('x-made'), '1')
    }
  })

  it('is sent though the policy throws', async (t) => {
    const ending = () => assert.fail('policy')
    const { catraca, ask } = await serve(t, (_, response) => response.end('ok'), { ending })
    assert.equal(await (await ask({ signal: AbortSignal.timeout(3000) })).text(), 'ok')
    assert.equal(await ended(catraca), 'COMPLETED')
  })
})

describe('a hijacked reply of fastify', () => {
  async function hijacked(
    t: TestContext,
    handler: (raw: ServerResponse, isClosed: Promise<unknown>) => unknown,
  ) {
    const catraca = await opened(t)
    const app = Fastify()
    t.after(() => app.close())
    await app.register(fastifyGuard({ idempotency: catraca.idempotency, operation: 'PAY' }) as never)
    const begun = deferred()
    app.post('/', async (_, reply) => {
      reply.hijack()
      begun.resolve()
      await handler(reply.raw, once(reply.raw, 'close'))
    })
    const url = new URL(await app.listen({ port: 0, host: '127.0.0.1' }))
    const leaving = ask(url, { method: 'POST', headers: HEADERS })
    leaving.on('error', () => {}).end()
    await begun.promise
    return { catraca, leaving }
  }

  it('is recorded when it ends behind the back of its client', async (t) => {
    const { catraca, leaving } = await hijacked(t, async (raw, isClosed) => {
      await isClosed
      raw.end('late')
    })
    leaving.destroy()
    assert.equal(await ended(catraca), 'COMPLETED')
  })

  it('that is destroyed is a failure', async (t) => {
    const { catraca } = await hijacked(t, (raw) => raw.destroy())
    assert.equal(await ended(catraca), 'FAILED')
  })
})

describe('a request', () => {
  it('whose body no parser took is refused, also where one left an empty object', async (t) => {
    const { ask } = await serve(t, (_, response) => response.end('ran'), {}, {})
    for (const body of ['<a/>', '<b/>']) assert.equal((await ask({ body })).status, 500)
    assert.equal((await ask()).status, 200)
  })

  it('knows its claim', async (t) => {
    const { ask } = await serve(t, (request, response) => {
      const context = idempotencyContext(request)!
      response.statusCode = 500
      response.end(`${context.attempt} ${context.signal.aborted} ${context.degraded}`)
    })
    assert.equal(await (await ask()).text(), '1 false undefined')
    assert.equal(await (await ask()).text(), '2 false undefined')
  })

  it('that is done unguarded says so, in every framework', async (t) => {
    const { idempotency, before } = open(t)
    before.claim = down
    const options = { idempotency, operation: 'PAY', onUnavailable: 'allow' as const }
    const { ask } = await serve(t, (_, response) => response.end('ok'), options)
    const app = Fastify()
    t.after(() => app.close())
    await app.register(fastifyGuard(options) as never)
    app.post('/', async () => 'ok')
    const handler = withIdempotency(() => new Response('ok'), options)
    const asked = new Request('http://host/', { method: 'POST', headers: HEADERS })
    const marks = [
      (await ask()).headers.get('idempotency-degraded'),
      (await app.inject({ method: 'POST', url: '/', headers: HEADERS })).headers['idempotency-degraded'],
      (await handler(asked)).headers.get('idempotency-degraded'),
    ]
    assert.deepEqual(marks, ['true', 'true', 'true'])
  })
})

describe('a fetch-style answer', () => {
  const asked = () => new Request('http://host/', { method: 'POST', headers: HEADERS })

  it('keeps cookies apart where they are kept, and nothing of its transfer', async (t) => {
    const { idempotency } = await opened(t)
    const keptHeaders = ['set-cookie', 'content-length', 'connection']
    const cookies = ['a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT', 'b=2']
    const handler = withIdempotency(
      () => {
        const headers = new Headers({ 'content-length': '1', connection: 'close' })
        for (const cookie of cookies) headers.append('set-cookie', cookie)
        return new Response('x', { headers })
      },
      { idempotency, operation: 'PAY', keptHeaders },
    )
    await handler(asked())
    const again = await handler(asked())
    assert.deepEqual(again.headers.getSetCookie(), cookies)
    assert.deepEqual(Object.keys(JSON.parse((await idempotency.get(AT))!.responsePayload!).headers), [
      'set-cookie',
    ])
  })

  it('without the body that was too large has no encoding of it', async (t) => {
    const { idempotency } = await opened(t)
    const headers = { 'content-encoding': 'gzip', etag: '"1"' }
    const handler = withIdempotency(() => new Response('x'.repeat(20), { headers }), {
      ...{ idempotency, operation: 'PAY', maxBodyBytes: 10 },
    })
    await (await handler(asked())).text()
    const again = await handler(asked())
    assert.deepEqual([again.headers.get('content-encoding'), again.headers.get('etag')], [null, '"1"'])
    assert.equal(again.headers.get('idempotency-body-omitted'), 'true')
  })

  it('is not recorded where a guard refused by an error', async (t) => {
    const { idempotency } = await opened(t)
    const refuse = () => {
      throw new CatracaError('QUOTA_EXCEEDED', 'later')
    }
    const handler = withIdempotency(refuse, { idempotency, operation: 'PAY' })
    await assert.rejects(Promise.resolve(handler(asked())), { code: 'QUOTA_EXCEEDED' })
    assert.equal(await idempotency.get(AT), undefined)
  })
})
