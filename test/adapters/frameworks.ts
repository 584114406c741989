import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, type TestContext } from 'node:test'
import { serve } from '@hono/node-server'
import { getConnInfo } from '@hono/node-server/conninfo'
import express from 'express'
import Fastify, { type FastifyServerOptions } from 'fastify'
import { Hono } from 'hono'
import * as onExpress from '../../src/adapters/express.js'
import * as onFastify from '../../src/adapters/fastify.js'
import * as onFetch from '../../src/adapters/fetch.js'
import * as onHono from '../../src/adapters/hono.js'
import { ManualClock } from '../../src/core/clock.js'
import type { Catraca } from '../../src/index.js'
import { connectCatraca, type RemoteCatraca } from '../../src/remote/index.js'
import { createLogger } from '../../src/server/http/logger.js'
import { type RunningServer, startServer } from '../../src/server/index.js'
import { openPatiently } from '../support/patient.js'

// biome-ignore lint/suspicious/noExplicitAny: the requests of four frameworks.
type AnyRequest = any

/** Guards of a service, in the order in which they judge. */
export interface Guards {
  revokedTokens?: onExpress.RevokedTokensOptions<AnyRequest>
  rateLimit?: onExpress.RateLimitOptions<AnyRequest>
  allow?: onExpress.AllowOptions<AnyRequest>
  idempotency?: onExpress.IdempotencyOptions<AnyRequest>
}

/** What the handler answers, by the body of the request. */
export type Handle = (body: unknown) => { status?: number; body: string }
export type Ask = (path?: string, init?: RequestInit) => Promise<Response>

/** A header of the request of any framework. */
export function headerOf(request: AnyRequest, name: string): string | undefined {
  const { headers } = requestIn(request)
  return typeof headers.get === 'function' ? (headers.get(name) ?? undefined) : headers[name]
}

export function pathOf(request: AnyRequest): string {
  const { url, originalUrl } = requestIn(request)
  return new URL(originalUrl ?? url, 'http://host').pathname
}

/** Hono has the request in its context. */
const requestIn = (given: AnyRequest) => given.req?.raw ?? given

const passed: Handle = () => ({ body: 'passed' })

/** The settings by which the frameworks trust a proxy. */
export interface Proxies {
  express?: unknown
  fastify?: FastifyServerOptions['trustProxy']
}

type Start = (t: TestContext, guards: Guards, handle?: Handle, proxies?: Proxies) => Promise<Ask>

export const FRAMEWORKS: Record<string, Start> = {
  async 'Express 5'(t, { revokedTokens, rateLimit, allow, idempotency }, handle = passed, proxies = {}) {
    const app = express()
    if (proxies.express !== undefined) app.set('trust proxy', proxies.express)
    if (revokedTokens) app.use(onExpress.revokedTokens(revokedTokens))
    if (rateLimit) app.use(onExpress.rateLimit(rateLimit))
    if (allow) app.use(onExpress.allow(allow))
    app.use(express.json())
    if (idempotency) app.use(onExpress.idempotency(idempotency))
    app.use((request, response) => {
      const { status = 200, body } = handle(request.body)
      response.status(status).send(body)
    })
    const server = app.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => server.close())
    return overHttp(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  },

  async 'Fastify 5'(t, { revokedTokens, rateLimit, allow, idempotency }, handle = passed, proxies = {}) {
    const app = Fastify(proxies.fastify === undefined ? {} : { trustProxy: proxies.fastify })
    if (revokedTokens) await app.register(onFastify.revokedTokens(revokedTokens))
    if (rateLimit) await app.register(onFastify.rateLimit(rateLimit))
    if (allow) await app.register(onFastify.allow(allow))
    if (idempotency) await app.register(onFastify.idempotency(idempotency))
    app.all('/*', async (request, reply) => {
      const { status = 200, body } = handle(request.body)
      return reply.code(status).send(body)
    })
    t.after(() => app.close())
    return overHttp(await app.listen({ port: 0, host: '127.0.0.1' }))
  },

  async 'fetch handlers'(_, { revokedTokens, rateLimit, allow, idempotency }, handle = passed) {
    let handler: onFetch.Handler = async (request) => {
      const text = await request.text()
      const { status = 200, body } = handle(text === '' ? undefined : JSON.parse(text))
      return new Response(body, { status })
    }
    if (idempotency) handler = onFetch.withIdempotency(handler, idempotency)
    if (allow) handler = onFetch.withAllow(handler, allow)
    if (rateLimit)
      handler = onFetch.withRateLimit(handler, { clientAddress: () => '203.0.113.9', ...rateLimit })
    if (revokedTokens) handler = onFetch.withRevokedTokens(handler, revokedTokens)
    return async (path = '/', init) => handler(new Request(`http://service.example${path}`, init))
  },

  async 'Hono 4'(t, { revokedTokens, rateLimit, allow, idempotency }, handle = passed) {
    const app = new Hono()
    const clientAddress = (context: AnyRequest) => getConnInfo(context).remote.address
    if (revokedTokens) app.use(onHono.revokedTokens(revokedTokens))
    if (rateLimit) app.use(onHono.rateLimit({ clientAddress, ...rateLimit }))
    if (allow) app.use(onHono.allow(allow))
    if (idempotency) app.use(onHono.idempotency(idempotency))
    app.all('*', async (context) => {
      const text = await context.req.text()
      const { status = 200, body } = handle(text === '' ? undefined : JSON.parse(text))
      return context.body(body, status as 200)
    })
    const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' })
    await once(server, 'listening')
    t.after(() => server.close())
    return overHttp(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  },

  async 'node:http'(t, { revokedTokens, rateLimit, allow }) {
    const middleware = [
      ...(revokedTokens ? [onExpress.revokedTokens(revokedTokens)] : []),
      ...(rateLimit ? [onExpress.rateLimit(rateLimit)] : []),
      ...(allow ? [onExpress.allow(allow)] : []),
    ]
    const server = createServer((request, response) => {
      const next = (i: number): unknown =>
        i === middleware.length
          ? response.end('passed')
          : middleware[i]!(request as never, response, () => next(i + 1))
      next(0)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => server.close())
    return overHttp(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  },
}

const overHttp =
  (url: string): Ask =>
  (path = '/', init) =>
    fetch(url + path, init)

/** The guards that the adapters ask: of an instance, or of a server with the same store. They behave alike. */
export const PLACES = ['an instance', 'a server'] as const

export interface Opened {
  catraca: Catraca
  clock: ManualClock
  guards: Record<(typeof PLACES)[number], Catraca | RemoteCatraca>
}

/** Opened once for all tests of a file: they use names of their own. */
export function openPlaces(): Opened {
  const clock = new ManualClock(Date.UTC(2030, 0, 1))
  const opened = { clock } as Opened
  let server: RunningServer
  before(async () => {
    const catraca = await openPatiently({ store: 'memory:', clock })
    server = await startServer(catraca, { port: 0, logger: createLogger('silent'), inlineLimits: 'any' })
    const remote = connectCatraca({ url: server.url, timeoutMs: 60_000 })
    Object.assign(opened, { catraca, guards: { 'an instance': catraca, 'a server': remote } })
  })
  after(async () => {
    await server.stop()
    await opened.catraca.close()
  })
  return opened
}

let names = 0
/** A name that no other test uses. */
export const newName = (): string => `n${++names}`
