import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import express from 'express'
import Fastify from 'fastify'
import { Hono } from 'hono'
import * as onExpress from '../../src/adapters/express.js'
import * as onFastify from '../../src/adapters/fastify.js'
import * as onFetch from '../../src/adapters/fetch.js'
import * as onHono from '../../src/adapters/hono.js'
import { ASKED, catraca, type Guard, OPTIONS, type Run } from './adapted.js'

const given = { catraca }
const ADDRESS = '203.0.113.7'
const KEY = { 'idempotency-key': 'a-key-of-a-client' }
const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: ADDRESS })

/** Ends a response without a socket. On the prototype, as where there is one: own methods would be another case. */
const waiting = new WeakMap<ServerResponse, () => void>()
const { end } = ServerResponse.prototype
ServerResponse.prototype.end = function (this: ServerResponse, ...args: never[]) {
  const done = waiting.get(this)
  if (done === undefined) return end.apply(this, args as unknown as Parameters<typeof end>)
  done()
  return this
} as typeof end

/** One request to a function for `node:http`, without a socket. */
export const through = (app: (request: never, response: never) => unknown): Run => {
  return () => {
    const request = Object.assign(new IncomingMessage(socket), {
      url: '/',
      method: 'GET',
      headers: { ...KEY },
    })
    const response = new ServerResponse(request)
    return new Promise((resolve) => {
      waiting.set(response, () => resolve(response.removeAllListeners()))
      app(request as never, response as never)
    })
  }
}

type Start = (guard: Guard, withAdapter: boolean) => Run | Promise<Run>

/** A request to a service with the adapter of a guard, or whose handler asks it. */
export const FRAMEWORKS: Record<string, Start> = {
  express(guard, withAdapter) {
    const app = express()
    if (withAdapter) {
      if (guard === 'rateLimit') app.use(onExpress.rateLimit({ ...given, ...OPTIONS.rateLimit }))
      if (guard === 'revokedTokens') app.use(onExpress.revokedTokens({ ...given, ...OPTIONS.revokedTokens }))
      if (guard === 'allow') app.use(onExpress.allow({ ...given, ...OPTIONS.allow }))
      if (guard === 'idempotency') app.use(onExpress.idempotency({ ...given, ...OPTIONS.idempotency }))
    }
    app.get('/', async (_, response) => {
      if (!withAdapter) await ASKED[guard]()
      response.end('ok')
    })
    return through(app as never)
  },
  fastify(guard, withAdapter) {
    const app = Fastify()
    if (withAdapter) {
      if (guard === 'rateLimit') app.register(onFastify.rateLimit({ ...given, ...OPTIONS.rateLimit }))
      if (guard === 'revokedTokens') {
        app.register(onFastify.revokedTokens({ ...given, ...OPTIONS.revokedTokens }))
      }
      if (guard === 'allow') app.register(onFastify.allow({ ...given, ...OPTIONS.allow }))
      if (guard === 'idempotency') app.register(onFastify.idempotency({ ...given, ...OPTIONS.idempotency }))
    }
    app.register(async (scope) => {
      scope.get('/', async () => {
        if (!withAdapter) await ASKED[guard]()
        return 'ok'
      })
    })
    return () => app.inject({ url: '/', headers: KEY })
  },
  fetch(guard, withAdapter) {
    const handler = async () => {
      if (!withAdapter) await ASKED[guard]()
      return new Response('ok')
    }
    const request = new Request('http://service.example/', { headers: KEY })
    if (!withAdapter) return handler
    const clientAddress = () => ADDRESS
    if (guard === 'rateLimit') {
      const limited = onFetch.withRateLimit(handler, { ...given, ...OPTIONS.rateLimit, clientAddress })
      return async () => limited(request)
    }
    const guarded =
      guard === 'revokedTokens'
        ? onFetch.withRevokedTokens(handler, { ...given, ...OPTIONS.revokedTokens })
        : guard === 'allow'
          ? onFetch.withAllow(handler, { ...given, ...OPTIONS.allow })
          : onFetch.withIdempotency(handler, { ...given, ...OPTIONS.idempotency })
    return async () => guarded(request)
  },
  hono(guard, withAdapter) {
    const app = new Hono()
    const clientAddress = () => ADDRESS
    if (withAdapter) {
      if (guard === 'rateLimit') {
        app.use(onHono.rateLimit({ ...given, ...OPTIONS.rateLimit, clientAddress }))
      }
      if (guard === 'revokedTokens') app.use(onHono.revokedTokens({ ...given, ...OPTIONS.revokedTokens }))
      if (guard === 'allow') app.use(onHono.allow({ ...given, ...OPTIONS.allow }))
      if (guard === 'idempotency') app.use(onHono.idempotency({ ...given, ...OPTIONS.idempotency }))
    }
    app.get('/', async (context) => {
      if (!withAdapter) await ASKED[guard]()
      return context.text('ok')
    })
    const request = new Request('http://service.example/', { headers: KEY })
    return async () => app.fetch(request)
  },
}
