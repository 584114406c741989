import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import Fastify from 'fastify'
import { rateLimit as expressLimit } from '../../src/adapters/express.js'
import { rateLimit as fastifyLimit } from '../../src/adapters/fastify.js'
import { withRateLimit } from '../../src/adapters/fetch.js'
import type { RateLimitOptions } from '../../src/adapters/rate-limit.js'
import { ManualClock } from '../../src/core/clock.js'
import { openPatiently } from '../support/patient.js'

type Headers = Record<string, string | string[] | undefined>
interface Told {
  status: number
  header(name: string): string | null
  body: string
}
type Ask = (path: string, headers?: Record<string, string>) => Promise<Told>

const userOf = ({ headers }: { headers: Headers }) => headers['x-user'] as string | undefined

async function openLimits(t: TestContext) {
  const catraca = await openPatiently({ store: 'memory:', clock: new ManualClock(Date.UTC(2030, 0, 1)) })
  t.after(() => catraca.close())
  const limits = { rpm: { capacity: 2, refillPeriodSeconds: 60 } }
  await catraca.limits.setConfig({ level: 'system', resource: 'api' }, { limits })
  return catraca.limits
}

const overHttp =
  (url: string): Ask =>
  async (path, headers = {}) => {
    const response = await fetch(url + path, { headers })
    return {
      status: response.status,
      header: (name) => response.headers.get(name),
      body: await response.text(),
    }
  }

const FRAMEWORKS: Record<string, (t: TestContext) => Promise<Ask>> = {
  async fastify(t) {
    const limits = await openLimits(t)
    const app = Fastify()
    const skip = ({ url }: { url: string }) => url === '/health'
    await app.register(
      fastifyLimit<{ id: string; url: string; headers: Headers }>({
        limits,
        entity: userOf,
        resource: 'api',
        skip,
      }) as never,
    )
    app.get('/', async () => 'passed')
    app.get('/health', async () => 'passed')
    t.after(() => app.close())
    return overHttp(await app.listen({ port: 0, host: '127.0.0.1' }))
  },

  async 'express and node:http'(t) {
    const limits = await openLimits(t)
    const limit = expressLimit({
      limits,
      entity: userOf,
      resource: () => 'api',
      skip: ({ url }) => url === '/health',
    })
    const server = createServer((request, response) => limit(request, response, () => response.end('passed')))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => server.close())
    return overHttp(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  },

  async 'fetch-style handlers'(t) {
    const limits = await openLimits(t)
    const handler = withRateLimit(() => new Response('passed'), {
      limits,
      entity: ({ headers }) => headers.get('x-user') ?? undefined,
      resource: 'api',
      consume: () => ({ rpm: 1 }),
      skip: ({ url }) => url.endsWith('/health'),
    })
    return async (path, headers = {}) => {
      const response = await handler(new Request(`http://service.example${path}`, { headers }))
      return {
        status: response.status,
        header: (name) => response.headers.get(name),
        body: await response.text(),
      }
    }
  },
}

/** Each framework with options of its own, over a resource that nobody has configured. */
type Unconfigured = Pick<RateLimitOptions<never>, 'onUnconfigured' | 'report'>
const UNCONFIGURED: Record<string, (t: TestContext, options: Unconfigured) => Promise<Ask>> = {
  async fastify(t, options) {
    const limits = await openLimits(t)
    const app = Fastify()
    await app.register(
      fastifyLimit<{ id: string; headers: Headers }>({
        limits,
        entity: userOf,
        resource: 'nobody',
        ...options,
      }) as never,
    )
    app.get('/', async () => 'passed')
    t.after(() => app.close())
    return overHttp(await app.listen({ port: 0, host: '127.0.0.1' }))
  },

  async 'express and node:http'(t, options) {
    const limits = await openLimits(t)
    const limit = expressLimit({ limits, entity: userOf, resource: 'nobody', ...options })
    const server = createServer((request, response) => limit(request, response, () => response.end('passed')))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => server.close())
    return overHttp(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  },

  async 'fetch-style handlers'(t, options) {
    const limits = await openLimits(t)
    const entity = ({ headers }: Request) => headers.get('x-user') ?? undefined
    const handler = withRateLimit(() => new Response('passed'), {
      limits,
      entity,
      resource: 'nobody',
      ...options,
    })
    return async (path, headers = {}) => {
      const response = await handler(new Request(`http://service.example${path}`, { headers }))
      const { status } = response
      return { status, header: (name) => response.headers.get(name), body: await response.text() }
    }
  },
}

describe('adapters of rate limits, where no level configures the resource', () => {
  for (const [name, start] of Object.entries(UNCONFIGURED)) {
    it(`${name}: answer 500 and say why, once, to who can mend it`, async (t) => {
      const told: string[] = []
      const ask = await start(t, { report: (message) => told.push(message) })
      for (let i = 0; i < 3; i++) {
        const { status, body } = await ask('/', { 'x-user': 'ann' })
        assert.deepEqual([status, JSON.parse(body).code], [500, 'INTERNAL'])
        assert.doesNotMatch(body, /nobody/)
      }
      assert.equal(told.length, 1)
      assert.match(told[0]!, /the limits of nobody cannot be checked/)
    })

    it(`${name}: pass or refuse where that is said`, async (t) => {
      const report = () => assert.fail('there is nothing to say')
      const allowing = await start(t, { onUnconfigured: 'allow', report })
      assert.deepEqual([(await allowing('/', { 'x-user': 'ann' })).status], [200])
      const denying = await start(t, { onUnconfigured: 'deny', report })
      const { status, body } = await denying('/', { 'x-user': 'ann' })
      assert.deepEqual(
        [status, JSON.parse(body).status, JSON.parse(body).code],
        [429, 429, 'LIMIT_NOT_CONFIGURED'],
      )
    })
  }

  it('options that nobody knows are refused when the adapter is made', async (t) => {
    const limits = await openLimits(t)
    const options = { limits, entity: () => 'ann', resource: 'api' }
    assert.throws(
      () => expressLimit({ ...options, onUnconfigurd: 'allow' } as never),
      /did you mean onUnconfigured/,
    )
    assert.throws(() => fastifyLimit({ ...options, onUnconfigured: 'pass' } as never), /allow or deny/)
  })
})

describe('adapters of rate limits', () => {
  for (const [name, start] of Object.entries(FRAMEWORKS)) {
    it(`${name}: pass with headers, deny with a problem, and skip what is to be skipped`, async (t) => {
      const ask = await start(t)
      const ann = { 'x-user': 'ann' }
      const first = await ask('/', ann)
      assert.deepEqual(
        [first.status, first.body, first.header('ratelimit')],
        [200, 'passed', '"rpm";r=1;t=30'],
      )
      assert.equal(first.header('ratelimit-policy'), '"rpm";q=2;w=60')
      await ask('/', ann)
      const third = await ask('/', ann)
      assert.deepEqual(
        [third.status, third.header('retry-after'), third.header('ratelimit')],
        [429, '30', '"rpm";r=0;t=60'],
      )
      assert.match(third.header('content-type')!, /^application\/problem\+json/)
      assert.deepEqual(JSON.parse(third.body)['violated-policies'], ['rpm'])
      assert.equal((await ask('/health', ann)).status, 200)
      assert.equal((await ask('/', { 'x-user': 'bob' })).status, 200)
      const nobody = await ask('/')
      assert.deepEqual([nobody.status, nobody.header('ratelimit')], [200, null])
      for (const user of ['auth0|123', 'a/b', 'a~b']) {
        const strange = await ask('/', { 'x-user': user })
        assert.deepEqual([strange.status, strange.header('ratelimit')], [200, '"rpm";r=1;t=30'], user)
      }
      assert.equal((await ask('/', { 'x-user': 'x'.repeat(257) })).status, 400)
    })
  }
})
