import 'reflect-metadata'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { Controller, Get, Module } from '@nestjs/common'
import { APP_GUARD, NestFactory } from '@nestjs/core'
import { SkipThrottle, Throttle, ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler'
import express from 'express'
import { type Options, rateLimit } from 'express-rate-limit'
import { CatracaStore } from '../../src/adapters/express-rate-limit.js'
import { CatracaThrottlerStorage } from '../../src/adapters/throttler.js'
import { CatracaError } from '../../src/index.js'
import { newName, openPlaces } from './frameworks.js'

/*
 * What the guides of the two limiters promise to their users, with our store behind them. Windows are so long that none ends in
 * a test.
 */
const opened = openPlaces()
const YEAR_MS = 366 * 24 * 3600 * 1000

describe('express-rate-limit with our store', () => {
  const newStore = () => new CatracaStore({ catraca: opened.catraca, resource: newName() })

  async function serve(t: TestContext, options: Partial<Options>) {
    const keyGenerator: Options['keyGenerator'] = (request) => request.get('x-user') ?? 'nobody'
    const logger = { error: () => {}, warn: () => {} }
    const limiter = rateLimit({ windowMs: YEAR_MS, limit: 1, keyGenerator, logger, ...options })
    const app = express()
    app.use(limiter)
    app.use((request, response) => {
      response.status(request.path === '/fails' ? 418 : 200).json({ ...Object(request).usage })
    })
    app.use(((_, __, response, ___) => void response.sendStatus(500)) as express.ErrorRequestHandler)
    const server = app.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => server.close())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const ask = (path = '/', user = 'ann') => fetch(url + path, { headers: { 'x-user': user } })
    return { ask, limiter }
  }

  it('tells the request, and answers in the form that was chosen', async (t) => {
    const { ask } = await serve(t, {
      store: newStore(),
      requestPropertyName: 'usage',
      standardHeaders: 'draft-8',
      legacyHeaders: false,
      identifier: 'own',
      statusCode: 420,
      message: { calm: true },
    })
    const first = await ask()
    const { limit, used, remaining, key } = (await first.json()) as Record<string, unknown>
    assert.deepEqual([limit, used, remaining, key], [1, 1, 0, 'ann'])
    assert.match(first.headers.get('ratelimit')!, /^"own"; r=0; t=\d+$/)
    assert.equal(first.headers.get('x-ratelimit-limit'), null)
    const second = await ask()
    assert.deepEqual([second.status, await second.json()], [420, { calm: true }])
    assert.ok(Number(second.headers.get('retry-after')) > 0)
  })

  it('skips what is to be skipped, and calls the handler of a denial', async (t) => {
    const { ask } = await serve(t, {
      store: newStore(),
      skip: ({ path }) => path === '/health',
      handler: (_, response) => void response.status(503).send('later'),
    })
    assert.deepEqual([(await ask('/health')).status, (await ask('/health')).status], [200, 200])
    await ask()
    const denied = await ask()
    assert.deepEqual([denied.status, await denied.text()], [503, 'later'])
  })

  it('tells and forgets the count of a key', async (t) => {
    const { ask, limiter } = await serve(t, { store: newStore(), limit: 2 })
    await ask()
    assert.equal((await limiter.getKey('ann'))?.totalHits, 1)
    assert.equal(await limiter.getKey('bob'), undefined)
    await limiter.resetKey('ann')
    const statuses = [await ask(), await ask(), await ask('/', 'bob')].map(({ status }) => status)
    assert.deepEqual(statuses, [200, 200, 200])
  })

  it('decides what happens when the store is away', async (t) => {
    const down = async () => Promise.reject(new CatracaError('ENGINE_UNAVAILABLE', 'away'))
    const catraca = { limits: { acquire: down, giveBack: down, reset: down, status: down } } as never
    const away = () => new CatracaStore({ catraca, resource: 'api' })
    const passing = await serve(t, { store: away(), passOnStoreError: true })
    const blocking = await serve(t, { store: away() })
    assert.deepEqual([(await passing.ask()).status, (await blocking.ask()).status], [200, 500])
  })
})

describe('@nestjs/throttler with our storage', () => {
  it('has several named throttlers, that routes may change or leave out', async (t) => {
    @Controller()
    class Routes {
      @Get('/')
      all() {
        return 'passed'
      }
      @Get('/long')
      @Throttle({ short: { limit: 3, ttl: YEAR_MS } })
      long() {
        return 'passed'
      }
      @Get('/one')
      @SkipThrottle({ short: true, long: false })
      one() {
        return 'passed'
      }
      @Get('/free')
      @SkipThrottle({ short: true, long: true })
      free() {
        return 'passed'
      }
    }
    const throttlers = [
      { name: 'short', ttl: YEAR_MS, limit: 1 },
      { name: 'long', ttl: YEAR_MS, limit: 2 },
    ]
    const storage = new CatracaThrottlerStorage({ catraca: opened.catraca, resource: newName() })
    const errorMessage = 'slow down'
    @Module({
      imports: [ThrottlerModule.forRoot({ throttlers, storage, errorMessage })],
      controllers: [Routes],
      providers: [{ provide: APP_GUARD, useClass: ThrottlerGuard }],
    })
    class App {}
    const app = await NestFactory.create(App, { logger: false })
    t.after(() => app.close())
    await app.listen(0, '127.0.0.1')
    const url = await app.getUrl()
    const thrice = async (path: string) => {
      const answers = [await fetch(url + path), await fetch(url + path), await fetch(url + path)]
      return answers.map(({ status }) => status)
    }
    assert.deepEqual(await thrice('/'), [200, 429, 429])
    assert.deepEqual(await thrice('/long'), [200, 200, 429])
    assert.deepEqual(await thrice('/one'), [200, 200, 429])
    assert.deepEqual(await thrice('/free'), [200, 200, 200])
    const denied = await fetch(url)
    assert.equal(((await denied.json()) as { message: string }).message, errorMessage)
    assert.ok(Number(denied.headers.get('retry-after-short')) > 0)
  })
})
