import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { rateLimit as expressLimit, forwardedFor } from '../../src/adapters/express.js'
import { rateLimit as fastifyLimit } from '../../src/adapters/fastify.js'
import type { RateLimitOptions } from '../../src/adapters/rate-limit.js'
import { createClient } from '../../src/client/index.js'
import { connectCatraca } from '../../src/remote/index.js'
import { until } from '../support/redis/process.js'
import { FRAMEWORKS, type Handle, headerOf, newName, openPlaces, PLACES, pathOf } from './frameworks.js'

// biome-ignore lint/suspicious/noExplicitAny: the requests of three frameworks.
type Options = Partial<RateLimitOptions<any>>

const TWO_A_MINUTE = { rpm: { capacity: 2, refillPeriodSeconds: 60 } }

const opened = openPlaces()

/** A resource of its own, with two requests a minute. */
async function newResource(): Promise<string> {
  const resource = newName()
  await opened.catraca.limits.setConfig({ level: 'system', resource }, { limits: TWO_A_MINUTE })
  return resource
}

const byUser = (request: unknown): string | undefined => headerOf(request, 'x-user')
const as = (user: string): RequestInit => ({ headers: { 'x-user': user } })

describe('adapters of rate limits', () => {
  for (const [name, start] of Object.entries(FRAMEWORKS)) {
    const serve = async (t: TestContext, options: Options = {}, handle?: Handle) => {
      const { catraca } = opened
      const resource = await newResource()
      return start(t, { rateLimit: { catraca, entity: byUser, resource, ...options } }, handle)
    }

    for (const place of PLACES) {
      it(`${name}, ${place}: pass with headers, deny with a problem, and skip what is to be skipped`, async (t) => {
        const catraca = opened.guards[place]
        const resource = await newResource()
        const skip = (request: unknown) => pathOf(request) === '/health'
        const ask = await start(t, { rateLimit: { catraca, entity: byUser, resource: () => resource, skip } })
        const first = await ask('/', as('ann'))
        assert.deepEqual([first.status, await first.text()], [200, 'passed'])
        assert.equal(first.headers.get('ratelimit'), '"rpm";r=1;t=30')
        assert.equal(first.headers.get('ratelimit-policy'), '"rpm";q=2;w=60')
        await ask('/', as('ann'))
        const third = await ask('/', as('ann'))
        assert.deepEqual([third.status, third.headers.get('retry-after')], [429, '30'])
        assert.equal(third.headers.get('ratelimit'), '"rpm";r=0;t=60')
        assert.equal(third.headers.get('ratelimit-policy'), '"rpm";q=2;w=60')
        assert.match(third.headers.get('content-type')!, /^application\/problem\+json/)
        const problem = (await third.json()) as Record<string, unknown>
        assert.deepEqual(problem['violated-policies'], ['rpm'])
        assert.equal((await ask('/health', as('ann'))).status, 200)
        assert.equal((await ask('/', as('bob'))).status, 200)
        const nobody = await ask('/')
        assert.deepEqual([nobody.status, nobody.headers.get('ratelimit')], [200, null])
        for (const user of ['auth0|123', 'a/b', 'a~b']) {
          const strange = await ask('/', as(user))
          assert.deepEqual([strange.status, strange.headers.get('ratelimit')], [200, '"rpm";r=1;t=30'], user)
        }
        assert.equal((await ask('/', as('x'.repeat(257)))).status, 400)
      })

      it(`${name}, ${place}: take limits of the call, for addresses, with nothing configured`, async (t) => {
        const catraca = opened.guards[place]
        const ask = await start(t, { rateLimit: { catraca, limits: TWO_A_MINUTE, resource: newName() } })
        const answers = [await ask(), await ask(), await ask()]
        assert.deepEqual(
          answers.map(({ status }) => status),
          [200, 200, 429],
        )
        // Nobody believes what a client says of itself.
        assert.equal((await ask('/', { headers: { 'x-forwarded-for': '198.51.100.1' } })).status, 429)
      })
    }

    it(`${name}: limits may depend on the request`, async (t) => {
      const limits = (request: unknown) =>
        pathOf(request) === '/slow' ? { rpm: { capacity: 1, refillPeriodSeconds: 60 } } : undefined
      const ask = await serve(t, { limits })
      assert.equal((await ask('/', as('ann'))).headers.get('ratelimit-policy'), '"rpm";q=2;w=60')
      assert.equal((await ask('/slow', as('bob'))).headers.get('ratelimit-policy'), '"rpm";q=1;w=60')
    })

    it(`${name}: send the headers that are asked for`, async (t) => {
      const headersOf = async (headers: NonNullable<Options['headers']>) => {
        const ask = await serve(t, { headers })
        const answers = [await ask('/', as('ann')), await ask('/', as('ann')), await ask('/', as('ann'))]
        const both = [answers[0]!, answers[2]!]
        return both.map(({ headers: sent }) =>
          ['ratelimit', 'ratelimit-policy', 'x-ratelimit-limit', 'x-ratelimit-remaining', 'retry-after'].map(
            (one) => sent.get(one),
          ),
        )
      }
      assert.deepEqual(await headersOf('both'), [
        ['"rpm";r=1;t=30', '"rpm";q=2;w=60', '2', '1', null],
        ['"rpm";r=0;t=60', '"rpm";q=2;w=60', '2', '0', '30'],
      ])
      assert.deepEqual(await headersOf('x-ratelimit'), [
        [null, null, '2', '1', null],
        [null, null, '2', '0', '30'],
      ])
      assert.deepEqual(await headersOf('none'), [
        [null, null, null, null, null],
        [null, null, null, null, '30'],
      ])
    })

    it(`${name}: let the service write the denial`, async (t) => {
      const denial: Options['denial'] = (request, { retryAfterMs }) =>
        pathOf(request) === '/text'
          ? { status: 503, body: 'later' }
          : pathOf(request) === '/json'
            ? { headers: { 'X-Why': 'quota' }, body: { error: 'too many', retryAfterMs } }
            : undefined
      const ask = await serve(t, { denial, consume: () => ({ rpm: 2 }) })
      await ask('/', as('ann'))
      const json = await ask('/json', as('ann'))
      assert.deepEqual(
        [json.status, json.headers.get('x-why'), json.headers.get('retry-after')],
        [429, 'quota', '60'],
      )
      assert.match(json.headers.get('content-type')!, /^application\/json/)
      assert.deepEqual(await json.json(), { error: 'too many', retryAfterMs: 60_000 })
      const text = await ask('/text', as('ann'))
      assert.deepEqual([text.status, await text.text()], [503, 'later'])
      assert.match(text.headers.get('content-type')!, /^text\/plain/)
      const problem = await ask('/', as('ann'))
      assert.deepEqual(
        [problem.status, ((await problem.json()) as { code: string }).code],
        [429, 'QUOTA_EXCEEDED'],
      )
    })

    it(`${name}: answer 503 when nobody can decide, or let pass`, async (t) => {
      // Nobody listens there.
      const away = connectCatraca({ url: 'http://127.0.0.1:1' })
      const options = { catraca: away, entity: byUser, resource: 'api' }
      const blocking = await start(t, { rateLimit: options })
      assert.equal((await blocking('/', as('ann'))).status, 503)
      const allowing = await start(t, { rateLimit: { ...options, onUnavailable: 'allow' } })
      assert.equal((await allowing('/', as('ann'))).status, 200)
    })

    it(`${name}: where no level configures the resource, answer 500 and say why, once, to who can mend it`, async (t) => {
      const told: string[] = []
      const ask = await serve(t, { resource: 'nobody', report: (message) => told.push(message) })
      for (let i = 0; i < 3; i++) {
        const answer = await ask('/', as('ann'))
        const body = await answer.text()
        assert.deepEqual([answer.status, JSON.parse(body).code], [500, 'INTERNAL'])
        assert.doesNotMatch(body, /nobody/)
      }
      assert.equal(told.length, 1)
      assert.match(told[0]!, /the limits of nobody cannot be checked/)
    })

    it(`${name}: where no level configures the resource, pass or refuse where that is said`, async (t) => {
      const unconfigured = { resource: 'nobody', report: () => assert.fail('there is nothing to say') }
      const allowing = await serve(t, { ...unconfigured, onUnconfigured: 'allow' })
      assert.equal((await allowing('/', as('ann'))).status, 200)
      const denying = await serve(t, { ...unconfigured, onUnconfigured: 'deny' })
      const denied = await denying('/', as('ann'))
      const { status, code } = (await denied.json()) as { status: number; code: string }
      assert.deepEqual([denied.status, status, code], [429, 429, 'LIMIT_NOT_CONFIGURED'])
    })

    if (name !== 'node:http') {
      it(`${name}: count only what is to be counted, when the answer is known`, async (t) => {
        const { catraca } = opened
        const resource = await newResource()
        const countIf: Options['countIf'] = (_, { status }) => status === 401
        let status = 200
        const rateLimit = { catraca, entity: byUser, resource, countIf }
        const ask = await start(t, { rateLimit }, () => ({ status, body: 'x' }))
        const left = async () => (await catraca.limits.status('ann', resource)).limits.rpm!.remaining
        for (let i = 0; i < 4; i++) {
          const answer = await ask('/', as('ann'))
          await answer.text()
          assert.equal(answer.status, 200)
          await until('it is given back', async () => (await left()) === 2)
        }
        status = 401
        for (const expected of [401, 401, 429]) assert.equal((await ask('/', as('ann'))).status, expected)
      })
    }
  }

  it('an address behind trusted proxies names the client, an untrusted one does not', async (t) => {
    for (const name of ['Express 5', 'Fastify 5']) {
      const { catraca } = opened
      const rateLimit = { catraca, limits: TWO_A_MINUTE, resource: newName() }
      const from = (address: string): RequestInit => ({ headers: { 'x-forwarded-for': address } })
      const trusting = await FRAMEWORKS[name]!(t, { rateLimit }, undefined, {
        express: 1,
        fastify: (_, hop) => hop === 0,
      })
      const status = async (address: string) => (await trusting('/', from(address))).status
      assert.deepEqual(
        [
          await status('2001:db8:1:2::1'),
          await status('2001:db8:1:2:ffff::2'),
          await status('2001:db8:1:2::3'),
        ],
        [200, 200, 429],
        name,
      )
      // The client wrote the first address, the proxy the last.
      assert.equal(await status('198.51.100.7, 2001:db8:1:2::4'), 429)
      assert.equal(await status('2001:db8:1:3::1'), 200)
      const explicit = { ...rateLimit, clientAddress: forwardedFor({ proxies: 2 }), ipv6Bits: 128 }
      const asked = await FRAMEWORKS[name]!(t, { rateLimit: { ...explicit, resource: newName() } })
      const outcome = async (address: string) => (await asked('/', from(address))).headers.get('ratelimit')
      assert.deepEqual(
        [await outcome('1.2.3.4, 2001:db8::1, 10.0.0.1'), await outcome('2001:db8::2, 10.0.0.1')],
        ['"rpm";r=1;t=30', '"rpm";r=1;t=30'],
      )
      assert.equal(await outcome('5.6.7.8, 2001:db8::1, 10.0.0.2'), '"rpm";r=0;t=60')
    }
  })

  it('a request without an address is a mistake of the service', async (t) => {
    const { catraca } = opened
    const told: string[] = []
    const report = (message: string) => told.push(message)
    const clientAddress = () => undefined
    const ask = await FRAMEWORKS['fetch handlers']!(t, { rateLimit: { catraca, clientAddress, report } })
    assert.equal((await ask()).status, 500)
    assert.match(told[0]!, /give entity or clientAddress/)
  })

  it('options that nobody knows are refused when the adapter is made', () => {
    const { catraca } = opened
    const wrong: [object, RegExp][] = [
      [{ catraca, onUnconfigurd: 'allow' }, /did you mean onUnconfigured/],
      [{ catraca, onUnconfigured: 'pass' }, /allow or deny/],
      [{ catraca, headers: 'draft' }, /ratelimit, x-ratelimit, both or none/],
      [{ catraca, ipv6Bits: 129 }, /ipv6Bits must be/],
      [{}, /catraca is required/],
      [{ limits: TWO_A_MINUTE }, /catraca is required/],
      [{ catraca: createClient({ url: 'http://127.0.0.1:1' }) }, /catraca is a client: give connectCatraca/],
    ]
    for (const [options, message] of wrong) {
      assert.throws(() => expressLimit(options as never), message)
      assert.throws(() => fastifyLimit(options as never), message)
    }
    assert.throws(() => forwardedFor({ proxies: 0 }), /from 1 to 10/)
  })

  it('the guard itself may be given, as in the first version', async (t) => {
    const { limits } = opened.catraca
    const resource = await newResource()
    const ask = await FRAMEWORKS['Express 5']!(t, { rateLimit: { limits, entity: byUser, resource } })
    assert.equal((await ask('/', as('ann'))).headers.get('ratelimit'), '"rpm";r=1;t=30')
  })
})
