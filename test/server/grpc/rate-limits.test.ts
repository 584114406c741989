import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { OpenOptions } from '../../../src/app/open-catraca.js'
import { manualClock } from '../../../src/core/manual-clock.js'
import type { LevelConfig, Limit } from '../../../src/guards/rate-limit/types.js'
import type { ServerOptions } from '../../../src/server/index.js'
import { ENGINES } from './engines.js'
import { ask, caller, descriptor, failure, type Message, newer, serveGrpc } from './support.js'

/** So long that none of it comes back during a test: Redis counts by a clock of its own. */
const perDay = (capacity: number, more: Limit = {}): LevelConfig => ({
  limits: { requests: { capacity, refillPeriodSeconds: 86_400, ...more } },
})

/** The scenarios of Envoy's rate limit service, over each engine. */
function scenarios(open: () => Promise<OpenOptions>): void {
  async function serving(
    t: TestContext,
    configs: Record<string, LevelConfig> = {},
    options: ServerOptions = {},
  ) {
    const server = await serveGrpc(t, options, { ...(await open()), sweepIntervalMs: 0 })
    const { limits } = server.catraca
    for (const [resource, config] of Object.entries(configs))
      await limits.setConfig({ level: 'resource', resource }, config)
    const port = server.grpcPort!
    return { limits, port, call: caller(t, port, 'limits').call }
  }
  const codes = ({ overall_code, statuses }: Message) => [
    overall_code,
    ...statuses.map((one: Message) => one.code),
  ]

  it('without a limit, a descriptor passes, or is refused by a setting', async (t) => {
    const { call } = await serving(t)
    const answer = await call(ask(descriptor({ key: 'value' })))
    assert.deepEqual(codes(answer), ['OK', 'OK'])
    assert.equal(answer.statuses[0].current_limit, null)
    assert.deepEqual(answer.response_headers_to_add, [])
    const refusing = await serving(t, {}, { grpc: { port: 0, unconfigured: 'deny' } })
    assert.deepEqual(codes(await refusing.call(ask(descriptor({ key: 'value' })))), [
      'OVER_LIMIT',
      'OVER_LIMIT',
    ])
  })

  it('up to a limit, at it, and over it', async (t) => {
    const { call } = await serving(t, { 'edge.key': perDay(2) })
    const first = await call(ask(descriptor({ key: 'value' })))
    assert.deepEqual(codes(first), ['OK', 'OK'])
    assert.deepEqual(first.statuses[0].current_limit, { name: 'requests', requests_per_unit: 2, unit: 'DAY' })
    assert.equal(first.statuses[0].limit_remaining, 1)
    const at = await call(ask(descriptor({ key: 'value' })))
    assert.equal(at.statuses[0].limit_remaining, 0)
    assert.deepEqual(codes(at), ['OK', 'OK'])
    const over = await call(ask(descriptor({ key: 'value' })))
    assert.deepEqual(codes(over), ['OVER_LIMIT', 'OVER_LIMIT'])
    const { seconds } = over.statuses[0].duration_until_reset
    assert.ok(seconds > 80_000 && seconds <= 86_400, String(seconds))
    const names = over.response_headers_to_add.map(({ key }: Message) => key)
    assert.deepEqual(names, ['ratelimit-policy', 'ratelimit', 'retry-after'])
    assert.deepEqual(codes(await call(ask(descriptor({ key: 'other' })))), ['OK', 'OK'])
  })

  it('decides each of several descriptors alone', async (t) => {
    const { call, limits } = await serving(t, { 'edge.a': perDay(1), 'edge.b': perDay(10) })
    const both = ask(descriptor({ a: 'x' }), descriptor({ b: 'y' }), descriptor({ none: 'z' }))
    assert.deepEqual(codes(await call(both)), ['OK', 'OK', 'OK', 'OK'])
    assert.deepEqual(codes(await call(both)), ['OVER_LIMIT', 'OVER_LIMIT', 'OK', 'OK'])
    // The second was taken from all the same.
    assert.equal((await limits.status('y', 'edge.b')).limits.requests!.remaining, 8)
  })

  it('takes the addend of every limit, and refuses more than a limit holds', async (t) => {
    const two = { capacity: 10, refillPeriodSeconds: 86_400 }
    const { call, limits } = await serving(t, {
      'edge.key': { limits: { a: two, b: { ...two, capacity: 6 } } },
    })
    const hits = (hits_addend: number) => call({ ...ask(descriptor({ key: 'v' })), hits_addend })
    assert.deepEqual(codes(await hits(4)), ['OK', 'OK'])
    assert.deepEqual(codes(await hits(4)), ['OVER_LIMIT', 'OVER_LIMIT'])
    assert.deepEqual(codes(await hits(7)), ['OVER_LIMIT', 'OVER_LIMIT'])
    assert.equal((await limits.status('v', 'edge.key')).limits.a!.remaining, 6)
    assert.deepEqual(codes(await call({ ...ask(descriptor({ other: 'v' })), hits_addend: 9 })), ['OK', 'OK'])
  })

  it('takes the addend of a descriptor where it has one', async (t) => {
    const { port, limits } = await serving(t, { 'edge.a': perDay(10), 'edge.b': perDay(10) })
    const { call } = caller(t, port, 'limits', undefined, newer)
    const left = async (key: string) => (await limits.status('v', `edge.${key}`)).limits.requests!.remaining
    const hits = (value: number, more = {}) => ({
      ...descriptor({ a: 'v' }),
      hits_addend: { value },
      ...more,
    })
    const both = { ...ask(hits(3), descriptor({ b: 'v' })), hits_addend: 2 }
    assert.deepEqual(codes(await call(both)), ['OK', 'OK', 'OK'])
    assert.deepEqual([await left('a'), await left('b')], [7, 8])
    // Nothing is only read.
    assert.deepEqual(codes(await call(ask(hits(0)))), ['OK', 'OK'])
    assert.equal(await left('a'), 7)
    assert.deepEqual(codes(await call(ask(hits(2 ** 53)))), ['OVER_LIMIT', 'OVER_LIMIT'])
    const back = ask(hits(3, { is_negative_hits: true }))
    assert.equal((await failure(call(back))).code, 'INVALID_ARGUMENT')
    assert.equal(await left('a'), 7)
  })

  it('obeys `limits.inline` when a descriptor overrides its limit', async (t) => {
    const override = { requests_per_unit: 1, unit: 'HOUR' }
    const asked = ask(descriptor({ key: 'v' }, override))
    const config = { 'edge.key': perDay(3) }
    const never = await serving(t, config)
    assert.deepEqual(await failure(never.call(asked)), { code: 'INVALID_ARGUMENT', catraca: 'INVALID_INPUT' })
    const any = await serving(t, config, { inlineLimits: 'any' })
    const first = await any.call(asked)
    assert.deepEqual(first.statuses[0].current_limit, {
      name: 'requests',
      requests_per_unit: 1,
      unit: 'HOUR',
    })
    assert.deepEqual(codes(await any.call(asked)), ['OVER_LIMIT', 'OVER_LIMIT'])
    const free = await serving(t, {}, { inlineLimits: 'any' })
    assert.deepEqual(codes(await free.call(asked)), ['OK', 'OK'])
    assert.deepEqual(codes(await free.call(asked)), ['OVER_LIMIT', 'OVER_LIMIT'])
    const tighten = await serving(t, config, { inlineLimits: 'tighten' })
    assert.deepEqual(codes(await tighten.call(asked)), ['OK', 'OK'])
    assert.deepEqual(codes(await tighten.call(asked)), ['OVER_LIMIT', 'OVER_LIMIT'])
    // A limit of nothing admits nobody: Envoy would let the request pass if the call failed.
    const nothing = ask(descriptor({ key: 'new' }, { requests_per_unit: 0, unit: 'HOUR' }))
    for (const { call } of [any, tighten, free]) {
      assert.deepEqual(codes(await call(nothing)), ['OVER_LIMIT', 'OVER_LIMIT'])
    }
    assert.equal((await failure(never.call(nothing))).code, 'INVALID_ARGUMENT')
    const unknown = ask(descriptor({ key: 'v' }, { requests_per_unit: 1 }))
    assert.equal((await failure(any.call(unknown))).code, 'INVALID_ARGUMENT')
  })

  it('passes over a limit in shadow mode', async (t) => {
    const { call } = await serving(t, { 'edge.key': perDay(1, { mode: 'shadow' }) })
    for (let i = 0; i < 3; i++)
      assert.deepEqual(codes(await call(ask(descriptor({ key: 'v' })))), ['OK', 'OK'])
  })

  it('knows nested keys, single values of a key, and values of their own', async (t) => {
    const { call, limits } = await serving(t, {
      'edge.tenant.path': perDay(2),
      'edge.tenant': perDay(1),
    })
    await limits.setConfig(
      { level: 'entity', entity: 'big:~2forders', resource: 'edge.tenant.path' },
      perDay(3),
    )
    const nested = (tenant: string) => call(ask(descriptor({ tenant, path: '/orders' })))
    // Every value has a count of its own, and a value may have a limit of its own.
    for (const [tenant, admitted] of Object.entries({ small: 2, other: 2, big: 3 })) {
      for (let i = 0; i < admitted; i++) assert.deepEqual(codes(await nested(tenant)), ['OK', 'OK'], tenant)
      assert.deepEqual(codes(await nested(tenant)), ['OVER_LIMIT', 'OVER_LIMIT'], tenant)
    }
    // The outer key alone is another limit, and so is another domain.
    assert.deepEqual(codes(await call(ask(descriptor({ tenant: 'small' })))), ['OK', 'OK'])
    const elsewhere = { domain: 'other', descriptors: [descriptor({ tenant: 'small' })] }
    assert.deepEqual(codes(await call(elsewhere)), ['OK', 'OK'])
  })

  it('maps wildcards and shared limits by rules', async (t) => {
    const grpc = {
      port: 0,
      descriptors: [
        { entries: [{ key: 'path', value: '/internal/*' }], resource: 'internal', entity: [] },
        { domain: 'edge', entries: [{ key: 'path' }, { key: 'user' }], resource: 'users', entity: ['user'] },
      ],
    }
    const { call } = await serving(t, { internal: perDay(2), users: perDay(1) }, { grpc })
    const path = (value: string) => call(ask(descriptor({ path: value })))
    assert.deepEqual(codes(await path('/internal/a')), ['OK', 'OK'])
    assert.deepEqual(codes(await path('/internal/b')), ['OK', 'OK'])
    assert.deepEqual(codes(await path('/internal/c')), ['OVER_LIMIT', 'OVER_LIMIT'])
    assert.deepEqual(codes(await path('/public')), ['OK', 'OK'])
    const user = (route: string) => call(ask(descriptor({ path: route, user: 'ann' })))
    assert.deepEqual(codes(await user('/a')), ['OK', 'OK'])
    assert.deepEqual(codes(await user('/b')), ['OVER_LIMIT', 'OVER_LIMIT'])
  })

  it('limits every value that a client may write, each by its own count', async (t) => {
    const { call } = await serving(t, { 'edge.path': perDay(1), 'edge.path.user': perDay(1) })
    const long = `/${'a'.repeat(300)}`
    // A call that failed would let the request pass.
    const values = [
      '',
      '.',
      '..',
      '~',
      '~7e',
      ':',
      'a:b',
      '/',
      long,
      `${long}b`,
      '\u{1f600}'.repeat(40),
      '\u0000',
      'x'.repeat(60_000),
    ]
    for (const path of values) {
      const asked = ask(descriptor({ path }))
      assert.deepEqual(codes(await call(asked)), ['OK', 'OK'], path.slice(0, 20))
      assert.deepEqual(codes(await call(asked)), ['OVER_LIMIT', 'OVER_LIMIT'], path.slice(0, 20))
    }
    for (const [path, user] of [
      ['a', 'b:c'],
      ['a:b', 'c'],
      ['', 'a'],
      ['a', ''],
      ['', ''],
      [long, 'a'],
      [`${long}a`, ''],
      ['.', '.'],
    ]) {
      assert.deepEqual(
        codes(await call(ask(descriptor({ path: path!, user: user! })))),
        ['OK', 'OK'],
        `${path} ${user}`,
      )
    }
  })

  it('admits exactly what is left to many callers on two servers', async (t) => {
    const shared = await open()
    const one = await serveGrpc(t, {}, shared)
    const two = shared.store === undefined ? one : await serveGrpc(t, {}, shared)
    await one.catraca.limits.setConfig(
      { level: 'resource', resource: 'edge.race' },
      {
        limits: { requests: { capacity: 20, refillPeriodSeconds: 86_400 } },
      },
    )
    two.catraca.limits.invalidateConfigCache()
    const callers = [one, two].map(({ grpcPort }) => caller(t, grpcPort!, 'limits'))
    const asked = Array.from({ length: 60 }, (_, i) => callers[i % 2]!.call(ask(descriptor({ race: 'x' }))))
    const answers = await Promise.all(asked)
    assert.equal(answers.filter(({ overall_code }) => overall_code === 'OK').length, 20)
  })
}

for (const [name, start] of Object.entries(ENGINES)) {
  describe(`ShouldRateLimit, ${name}`, () => scenarios(start().open))
}

describe('ShouldRateLimit with a clock', () => {
  it('tells when the window ends, and admits again then', async (t) => {
    const clock = manualClock(Date.UTC(2026, 0, 1, 12, 0, 0))
    const server = await serveGrpc(t, {}, { clock, sweepIntervalMs: 0 })
    const requests = { capacity: 1, refillPeriodSeconds: 60, algorithm: 'fixed-window' } as const
    await server.catraca.limits.setConfig(
      { level: 'resource', resource: 'edge.key' },
      { limits: { requests } },
    )
    const { call } = caller(t, server.grpcPort!, 'limits')
    await call(ask(descriptor({ key: 'v' })))
    clock.advance(20_000)
    const over = await call(ask(descriptor({ key: 'v' })))
    assert.deepEqual(over.statuses[0].current_limit, {
      name: 'requests',
      requests_per_unit: 1,
      unit: 'MINUTE',
    })
    assert.deepEqual(over.statuses[0].duration_until_reset, { seconds: 40, nanos: 0 })
    assert.deepEqual(
      over.response_headers_to_add.map(({ key, value }: Message) => [key, value]),
      [
        ['ratelimit-policy', '"requests";q=1;w=60'],
        ['ratelimit', '"requests";r=0;t=40'],
        ['retry-after', '40'],
      ],
    )
    clock.advance(40_000)
    assert.equal((await call(ask(descriptor({ key: 'v' })))).overall_code, 'OK')
  })
})
