import assert from 'node:assert/strict'
import { after, before, describe, it, type TestContext } from 'node:test'
import limiter, { type RateLimitPluginOptions } from '@fastify/rate-limit'
import Fastify from 'fastify'
import { rateLimitStore } from '../../src/adapters/fastify-rate-limit.js'
import type { Catraca } from '../../src/index.js'
import { openPatiently } from '../support/patient.js'
import { type RedisServers, startSingle } from '../support/redis/index.js'
import { newName, openPlaces, PLACES } from './frameworks.js'

const opened = openPlaces()
/** So long that no window ends in a test, wherever the clock stands in it: windows begin at fixed times. */
const WINDOW_MS = 366 * 24 * 3600 * 1000

type Options = RateLimitPluginOptions & { store: ReturnType<typeof rateLimitStore> }
type Ask = (user: string, path?: string) => Promise<Response>

async function serve(t: TestContext, options: Options): Promise<Ask> {
  const app = Fastify()
  const keyGenerator: Options['keyGenerator'] = ({ headers }) => headers['x-user'] as string
  await app.register(limiter, { timeWindow: WINDOW_MS, max: 2, keyGenerator, ...options } as Options)
  app.get('/', async () => 'passed')
  app.get('/other', async () => 'passed')
  app.get('/strict', { config: { rateLimit: { max: 1 } } }, async () => 'passed')
  for (const path of ['/one', '/two']) {
    app.get(path, { config: { rateLimit: { max: 1, groupId: 'group' } } }, async () => 'passed')
  }
  app.get('/free', { config: { rateLimit: false } }, async () => 'passed')
  const look = app.createRateLimit()
  app.get('/left', { config: { rateLimit: false } }, async (request) => look(request, { increment: false }))
  t.after(() => app.close())
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  return (user, path = '/') => fetch(url + path, { headers: { 'x-user': user } })
}

const statuses = async (ask: Ask, user: string, ...paths: string[]) => {
  const found: number[] = []
  for (const path of paths) found.push((await ask(user, path)).status)
  return found
}

describe('the store of @fastify/rate-limit', () => {
  for (const place of PLACES) {
    it(`${place}: counts and denies, routes with options for themselves, groups together`, async (t) => {
      const store = rateLimitStore({ catraca: opened.guards[place], resource: newName() })
      const ask = await serve(t, { store })
      const user = 'auth0|a~b/é'
      const seen: unknown[] = []
      for (let i = 0; i < 4; i++) {
        const { status, headers } = await ask(user)
        seen.push([status, headers.get('x-ratelimit-remaining'), Number(headers.get('retry-after')) > 0])
      }
      assert.deepEqual(seen, [
        [200, '1', false],
        [200, '0', false],
        [429, '0', true],
        [429, '0', true],
      ])
      assert.deepEqual(
        await statuses(ask, user, '/other', '/strict', '/strict', '/free'),
        [429, 200, 429, 200],
      )
      assert.deepEqual(await statuses(ask, user, '/one', '/two'), [200, 429])
      assert.equal((await ask('bob')).status, 200)
      const left = (await (await ask('bob', '/left')).json()) as { remaining: number; ttl: number }
      assert.deepEqual([left.remaining, left.ttl > 0], [1, true])
      assert.equal((await ask('bob')).status, 200)
      assert.equal(((await (await ask('nobody', '/left')).json()) as { ttl: number }).ttl, 0)
    })
  }

  it('no key of one route is the key of another, whatever callers choose', async (t) => {
    const store = rateLimitStore({ catraca: opened.catraca, resource: newName() })
    const app = Fastify()
    const keyGenerator: Options['keyGenerator'] = ({ query }) => (query as { user: string }).user
    await app.register(limiter, { timeWindow: WINDOW_MS, max: 1, keyGenerator, store } as Options)
    const own = { config: { rateLimit: { max: 1 } } }
    const ofGroup = (groupId: string) => ({ config: { rateLimit: { max: 1, groupId } } })
    app.get('/all', async () => 'passed')
    app.get('/a', { ...own, exposeHeadRoute: false }, async () => 'passed')
    app.get('/a-b', { ...own, exposeHeadRoute: false }, async () => 'passed')
    app.get('/short', ofGroup('x'), async () => 'passed')
    app.get('/long', ofGroup('yx'), async () => 'passed')
    t.after(() => app.close())
    const ask = async (path: string, user: string) => (await app.inject({ path, query: { user } })).statusCode
    const found: [string, string][] = [
      ['/all', 'GET/a-ann'],
      ['/all', 'GET\n/a\nann'],
      ['/all', 'group-annx'],
      ['/a', 'b-ann'],
      ['/short', 'anny'],
      ['/a', 'ann'],
      ['/a-b', 'ann'],
      ['/long', 'ann'],
    ]
    for (const [path, user] of found) assert.equal(await ask(path, user), 200, `${path} ${user}`)
    assert.equal(await ask('/a', 'ann'), 429)
  })

  it('limits may be functions of the request, and a first denial may ban', async (t) => {
    const store = rateLimitStore({ catraca: opened.catraca, resource: newName() })
    const max: Options['max'] = ({ headers }) => (headers['x-user'] === 'vip' ? 3 : 1)
    const ask = await serve(t, { store, max, ban: 0 })
    assert.deepEqual(await statuses(ask, 'vip', '/', '/', '/', '/'), [200, 200, 200, 403])
    assert.deepEqual(await statuses(ask, 'ann', '/', '/'), [200, 403])
  })

  it('refuses what it cannot count when the store is made, with the name of the option', async (t) => {
    const { catraca } = opened
    const wrong: [Partial<Options>, RegExp][] = [
      [{ timeWindow: 1500 }, /timeWindow must be whole seconds/],
      [{ max: 0 }, /max must be a whole number from 1/],
      [{ ban: 2 }, /ban must be left out, or 0/],
      [{ continueExceeding: true }, /continueExceeding must be left out/],
      [{ exponentialBackoff: true }, /exponentialBackoff must be left out/],
    ]
    for (const [options, message] of wrong) {
      const store = rateLimitStore({ catraca, resource: newName() })
      await assert.rejects(serve(t, { store, ...options }), message)
    }
    const store = rateLimitStore({ catraca, resource: newName() })
    const ask = await serve(t, { store, timeWindow: () => 1500 })
    assert.equal((await ask('ann')).status, 500)
    assert.throws(() => rateLimitStore({ catraca, resource: 'a:b' }), /resource/)
    assert.throws(() => rateLimitStore({ resource: 'a' } as never), /catraca is required/)
  })
})

describe('the store of @fastify/rate-limit on Redis', () => {
  let redis: RedisServers
  let instances: Catraca[] = []
  before(async () => {
    redis = await startSingle()
    instances = await Promise.all([0, 1].map(() => openPatiently({ store: redis.storeUrl })))
  })
  after(async () => {
    for (const instance of instances) await instance.close()
    await redis.stop()
  })

  it('two instances let exactly the limit pass', async (t) => {
    const asks: Ask[] = []
    for (const catraca of instances) {
      asks.push(await serve(t, { store: rateLimitStore({ catraca, resource: 'api' }), max: 10 }))
    }
    const answers = await Promise.all(Array.from({ length: 30 }, (_, i) => asks[i % 2]!('ann')))
    assert.equal(answers.filter(({ status }) => status === 200).length, 10)
    assert.equal(answers.filter(({ status }) => status === 429).length, 20)
  })
})
