import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import { ManualClock } from '../../src/core/clock.js'
import { bearer, knownKey, serve, type TestServer } from './support.js'

const NOW = Date.UTC(2030, 0, 1)
const perMinute = (capacity: number) => ({ capacity, refillAmount: capacity, refillPeriodSeconds: 60 })
const body = { entity: 'user:1', resource: 'gpt-4' }

async function start(
  t: TestContext,
  options: Parameters<typeof serve>[1] = {},
): Promise<TestServer & { clock: ManualClock }> {
  const clock = new ManualClock(NOW)
  const server = await serve(t, options, { clock, sweepIntervalMs: 0 })
  return Object.assign(Object.create(server) as TestServer, { clock })
}

const configure = (server: TestServer, limits: object, path = '/config/system/gpt-4') =>
  server.call('PUT', path, { body: { limits } })

describe('POST /limits/acquire', () => {
  it('takes from all limits, and says what is left in body and headers', async (t) => {
    const server = await start(t)
    await configure(server, {
      rpm: perMinute(10),
      tpm: { ...perMinute(1000), burst: 1500 },
      jobs: { ...perMinute(3), algorithm: 'concurrency' },
    })
    const { status, json, headers } = await server.call('POST', '/limits/acquire', {
      body: { ...body, consume: { rpm: 1, tpm: 500 } },
    })
    assert.equal(status, 200)
    assert.match(json.leaseId, /^[\w-]{60,}$/)
    assert.deepEqual(json, {
      allowed: true,
      leaseId: json.leaseId,
      limits: {
        rpm: { limit: 10, remaining: 9, resetMs: 6000 },
        tpm: { limit: 1500, remaining: 1000, resetMs: 30_000 },
        jobs: { limit: 3, remaining: 3, resetMs: 0 },
      },
    })
    assert.equal(
      headers['ratelimit-policy'],
      '"rpm";q=10;w=60, "tpm";q=1500;w=90, "jobs";q=3;qu="concurrent-requests"',
    )
    assert.equal(headers.ratelimit, '"rpm";r=9;t=6, "tpm";r=1000;t=30, "jobs";r=3;t=0')
    assert.equal(headers['retry-after'], undefined)
  })

  it('denies with 429, which names the limits and when to come again', async (t) => {
    const server = await start(t)
    await configure(server, { rpm: perMinute(2), tpm: perMinute(1000) })
    await server.call('POST', '/limits/acquire', { body: { ...body, consume: { rpm: 2 } } })
    for (let i = 0; i < 2; i++) {
      const { status, json, headers } = await server.call('POST', '/limits/acquire', { body })
      assert.equal(status, 429)
      assert.match(headers['content-type']!, /^application\/problem\+json/)
      assert.match(json.type, /quota-exceeded$/)
      assert.deepEqual(
        [json.code, json.status, json['violated-policies'], json.retryAfterMs],
        ['QUOTA_EXCEEDED', 429, ['rpm'], 30_000],
      )
      assert.equal(headers['retry-after'], '30')
      assert.equal(headers.ratelimit, '"rpm";r=0;t=60, "tpm";r=1000;t=0')
      assert.equal(headers['ratelimit-policy'], '"rpm";q=2;w=60, "tpm";q=1000;w=60')
    }
    server.clock.advance(29_999)
    assert.equal((await server.call('POST', '/limits/acquire', { body })).headers['retry-after'], '1')
    server.clock.advance(1)
    assert.equal((await server.call('POST', '/limits/acquire', { body })).status, 200)
  })

  it('tells mistakes from missing configuration', async (t) => {
    const server = await start(t)
    const ask = (extra: object) => server.call('POST', '/limits/acquire', { body: { ...body, ...extra } })
    const missing = await ask({})
    assert.deepEqual([missing.status, missing.json.code], [404, 'LIMIT_NOT_CONFIGURED'])
    await configure(server, { rpm: perMinute(2) })
    for (const wrong of [
      { consume: { nope: 1 } },
      { consume: { rpm: 3 } },
      { consume: { rpm: -1 } },
      { consume: { rpm: '1' } },
      { consume: [] },
      { unknown: 1 },
      { entity: '..' },
      { limits: { rpm: perMinute(99) } },
    ]) {
      const { status, json } = await ask(wrong)
      assert.deepEqual([status, json.code], [400, 'INVALID_INPUT'], JSON.stringify(wrong))
    }
    assert.equal((await server.call('GET', '/limits/user:1/gpt-4')).json.limits.rpm.remaining, 2)
  })
})

describe('limits of a request', () => {
  const ask = (server: TestServer, rpm?: object, consume = 1) =>
    server.call('POST', '/limits/acquire', {
      body: { ...body, consume: { rpm: consume }, ...(rpm && { limits: { rpm } }) },
    })

  it('only deny more where they may tighten, whatever they say', async (t) => {
    const server = await start(t, { inlineLimits: 'tighten' })
    assert.equal((await ask(server, perMinute(5))).status, 404, 'nobody configures the resource')
    await configure(server, { rpm: perMinute(10) })
    const first = await ask(server, perMinute(2), 2)
    assert.deepEqual(
      [first.status, first.json.limits.rpm.remaining, first.json.limits['rpm*'].remaining],
      [200, 8, 0],
    )
    const { status, json } = await ask(server, perMinute(2))
    assert.deepEqual([status, json['violated-policies']], [429, ['rpm*']])
    assert.equal((await ask(server, { capacity: 1000, burst: 9000, mode: 'shadow' }, 8)).status, 200)
    for (const rpm of [undefined, perMinute(1000), { ...perMinute(1), algorithm: 'fixed-window' }]) {
      const denied = await ask(server, rpm)
      assert.equal(denied.status, 429)
      assert.ok(denied.json['violated-policies'].includes('rpm'))
    }
    const path = `/leases/${first.json.leaseId}`
    await server.call('POST', `${path}/adjust`, { body: { delta: { rpm: -1 } } })
    const left = await server.call('GET', '/limits/user:1/gpt-4')
    assert.equal(left.json.limits.rpm.remaining, 1)
    const given = `?limits=${encodeURIComponent(JSON.stringify({ rpm: perMinute(2) }))}`
    const looked = await server.call('GET', `/limits/user:1/gpt-4${given}`)
    assert.deepEqual(Object.keys(looked.json.limits), ['rpm', 'rpm*'])
    assert.equal((await server.call('GET', '/limits/user:1/gpt-4?limits=x')).status, 400)
  })

  it('win where any may, and are refused by name where none may', async (t) => {
    const any = await start(t, { inlineLimits: 'any' })
    assert.equal((await ask(any, perMinute(5), 5)).status, 200)
    assert.equal((await ask(any, perMinute(5))).status, 429)
    const never = await start(t)
    await configure(never, { rpm: perMinute(10) })
    const { status, json } = await ask(never, perMinute(5))
    assert.deepEqual([status, json.errors[0].path], [400, 'limits'])
    assert.match(json.detail, /limits\.inline/)
  })
})

describe('leases', () => {
  it('are adjusted and given back once', async (t) => {
    const server = await start(t)
    await configure(server, { tpm: perMinute(1000) })
    const { json } = await server.call('POST', '/limits/acquire', {
      body: { ...body, consume: { tpm: 500 } },
    })
    const path = `/leases/${json.leaseId}`
    const left = async () => (await server.call('GET', '/limits/user:1/gpt-4')).json.limits.tpm.remaining
    const adjusted = await server.call('POST', `${path}/adjust`, { body: { delta: { tpm: -120 } } })
    assert.deepEqual([adjusted.status, adjusted.json, await left()], [200, { applied: true }, 620])
    await server.call('POST', `${path}/adjust`, { body: { delta: { tpm: 5000 } } })
    assert.equal(await left(), 0)
    assert.equal((await server.call('DELETE', path)).status, 204)
    assert.equal((await server.call('DELETE', path)).status, 204)
    assert.equal(await left(), 1000)
    const unknown = await server.call('DELETE', '/leases/AAAA')
    assert.deepEqual([unknown.status, unknown.json.code], [404, 'LEASE_NOT_FOUND'])
    const wrong = await server.call('POST', `${path}/adjust`, { body: { delta: { rpm: 1 } } })
    assert.equal(wrong.status, 400)
  })
})

describe('configuration', () => {
  it('is set, read, resolved and deleted on each level', async (t) => {
    const server = await start(t)
    const paths = ['/config/system/gpt-4', '/config/resources/gpt-4', '/config/entities/user:1/gpt-4']
    for (const [i, path] of paths.entries()) {
      assert.equal((await server.call('GET', path)).json.code, 'LIMIT_CONFIG_NOT_FOUND')
      const config = {
        limits: { rpm: { ...perMinute(10 * (i + 1)), algorithm: 'fixed-window' } },
        onUnavailable: 'allow',
      }
      const { status, json } = await server.call('PUT', path, { body: config })
      assert.deepEqual([status, json], [200, config])
      assert.deepEqual((await server.call('GET', path)).json, config)
      const resolved = await server.call('GET', '/config/resolve?entity=user:1&resource=gpt-4')
      assert.equal(resolved.json.limits.rpm.capacity, 10 * (i + 1))
      assert.equal(resolved.json.levels.limits.rpm.capacity, ['system', 'resource', 'entity'][i])
      assert.equal(resolved.json.levels.onUnavailable, ['system', 'resource', 'entity'][i])
    }
    for (const path of paths) {
      assert.equal((await server.call('DELETE', path)).status, 204)
      assert.equal((await server.call('DELETE', path)).status, 404)
    }
    const wrong = await server.call('PUT', paths[1]!, {
      body: { limits: { rpm: perMinute(1) }, autoUpdate: true },
    })
    assert.deepEqual(
      [wrong.status, wrong.json.errors],
      [400, [{ path: 'autoUpdate', message: 'belongs to the system level' }]],
    )
    const strict = { limits: { rpm: perMinute(1) }, autoUpdate: true, strictVersion: true }
    assert.deepEqual((await server.call('PUT', paths[0]!, { body: strict })).json, strict)
  })

  it('knows parents, from which calls take too', async (t) => {
    const server = await start(t)
    await configure(server, { rpm: perMinute(4) })
    const put = await server.call('PUT', '/entities/user:1', { body: { parent: 'org', cascade: true } })
    assert.deepEqual([put.status, put.json], [200, { id: 'user:1', parent: 'org', cascade: true }])
    await server.call('PUT', '/entities/user:2', { body: { parent: 'org' } })
    await server.call('POST', '/limits/acquire', { body: { ...body, consume: { rpm: 3 } } })
    const over = await server.call('POST', '/limits/acquire', {
      body: { ...body, entity: 'user:2', consume: { rpm: 2 } },
    })
    assert.deepEqual([over.status, over.json.violations[0].entity], [429, 'org'])
    assert.equal((await server.call('GET', '/limits/user:2/gpt-4')).json.limits.rpm.remaining, 4)
    assert.equal((await server.call('DELETE', '/entities/user:2')).status, 204)
    assert.equal((await server.call('GET', '/entities/user:2')).json.code, 'ENTITY_NOT_FOUND')
  })

  it('resets, and tells usage', async (t) => {
    const server = await start(t)
    await configure(server, { rpm: perMinute(4) })
    await server.call('POST', '/limits/acquire', { body: { ...body, consume: { rpm: 4 } } })
    await server.call('POST', '/limits/acquire', { body })
    assert.equal((await server.call('DELETE', '/limits/user:1/gpt-4')).status, 204)
    assert.equal((await server.call('POST', '/limits/acquire', { body })).status, 200)
    const { json } = await server.call('GET', '/limits/user:1/gpt-4/usage?step=day')
    assert.deepEqual(json, {
      items: [{ limit: 'rpm', start: '2030-01-01T00:00:00.000Z', admitted: 5, denied: 1 }],
    })
  })

  it('needs its scopes', async (t) => {
    const server = await start(t)
    const keys: Record<string, string> = {}
    for (const scope of ['admin', 'limits', 'read'] as const)
      keys[scope] = (await knownKey(server, scope, [scope])).key
    const asks: [string, string, string][] = [
      ['POST', '/limits/acquire', 'limits'],
      ['DELETE', '/leases/AAAA', 'limits'],
      ['GET', '/limits/a/b', 'limits'],
      // Operators free who is limited.
      ['DELETE', '/limits/a/b', 'limits or admin'],
      ['GET', '/config/system/b', 'read'],
      ['DELETE', '/config/system/b', 'admin'],
      ['DELETE', '/entities/a', 'admin'],
    ]
    for (const [method, path, needed] of asks) {
      for (const [scope, key] of Object.entries(keys)) {
        const { status } = await server.call(method, path, { headers: bearer(key) })
        const passes = needed.includes(scope) || (scope === 'admin' && needed === 'read')
        assert.equal(status !== 403, passes, `${scope} at ${method} ${path}: ${status}`)
      }
    }
  })
})
