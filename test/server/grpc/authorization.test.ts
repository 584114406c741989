import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'node:test'
import type { OpenOptions } from '../../../src/app/open-catraca.js'
import type { ServerOptions } from '../../../src/server/index.js'
import { inTime } from '../../support/in-time.js'
import { ENGINES } from './engines.js'
import { caller, failure, type Message, serveGrpc } from './support.js'

const VIP = { 'catraca.allowlists': 'vip' }
const FROM_2020 = 1_577_836_800

interface Asked {
  headers?: Record<string, string>
  extensions?: Record<string, string>
  claims?: Record<string, Message>
  path?: string
  host?: string
}

/** A request as Envoy describes it; claims as its filter for tokens leaves them. */
function checkOf(asked: Asked): Message {
  const { headers = {}, extensions = {}, claims, path = '/orders?page=2', host = 'shop.example' } = asked
  const fields = Object.entries(claims ?? {}).map(([name, value]) => [
    name,
    typeof value === 'number' ? { numberValue: value } : { stringValue: value },
  ])
  const payload = { fields: { jwt_payload: { structValue: { fields: Object.fromEntries(fields) } } } }
  return {
    attributes: {
      request: { http: { method: 'GET', path, host, headers } },
      context_extensions: extensions,
      ...(claims && { metadata_context: { filter_metadata: { 'envoy.filters.http.jwt_authn': payload } } }),
    },
  }
}

const alice = { 'x-customer-id': 'alice' }
const denialOf = ({ status, denied_response: { status: http, headers, body } }: Message) => ({
  code: status.code,
  http: http.code,
  type: headers.find(({ header }: Message) => header.key === 'content-type')?.header.value,
  problem: JSON.parse(body),
})

async function serving(t: TestContext, options: ServerOptions = {}, open: OpenOptions = {}) {
  const server = await serveGrpc(t, options, open)
  const { allowlists } = server.catraca
  await allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
  await allowlists.add('vip', 'alice')
  const { call } = caller(t, server.grpcPort!, 'auth')
  return { ...server, check: (asked: Asked) => call(checkOf(asked)) }
}

for (const [name, start] of Object.entries(ENGINES)) {
  describe(`Check, ${name}`, () => {
    const engine = start()

    it('lets members pass, denies others, and follows changes', async (t) => {
      const { check, catraca } = await serving(t, {}, await engine.open())
      const passed = await check({ headers: alice, extensions: VIP })
      assert.equal(passed.status.code, 0)
      assert.deepEqual(passed.ok_response.headers_to_remove, ['x-catraca-degraded'])
      const denied = denialOf(await check({ headers: { 'x-customer-id': 'bob' }, extensions: VIP }))
      assert.deepEqual(
        [denied.code, denied.http, denied.problem.code],
        [7, 'Forbidden', 'CUSTOMER_NOT_ALLOWED'],
      )
      assert.equal(denied.type, 'application/problem+json; charset=utf-8')
      await catraca.allowlists.add('vip', 'bob')
      assert.equal((await check({ headers: { 'x-customer-id': 'bob' }, extensions: VIP })).status.code, 0)
    })

    it('refuses revoked tokens', async (t) => {
      const { check, catraca } = await serving(t, {}, await engine.open())
      const expiresAt = new Date(Date.now() + 3_600_000)
      await catraca.tokens.revoke({ jti: 'stolen', expiresAt })
      await catraca.tokens.revokeSubject({ subject: 'bob', notBefore: new Date(), expiresAt })
      const extensions = { 'catraca.tokens': 'true' }
      assert.equal((await check({ extensions, claims: { jti: 'fine', sub: 'alice' } })).status.code, 0)
      for (const claims of [{ jti: 'stolen' }, { sub: 'bob', iat: FROM_2020 }]) {
        const { code, http, problem } = denialOf(await check({ extensions, claims }))
        assert.deepEqual([code, http, problem.code], [16, 'Unauthorized', 'TOKEN_REVOKED'])
      }
    })

    const { away } = engine
    if (away === undefined) return
    it('fails or lets pass while the engine is away, as the settings say', async (t) => {
      const short = { membership: { maxBytes: 0, verificationEntries: 0 }, sweepIntervalMs: 0 }
      const store = await engine.open()
      const times = {
        ...{ redis: { commandTimeoutMs: 300, connectTimeoutMs: 300 } },
        dynamodb: { ...store.dynamodb, readTimeoutMs: 300 },
      }
      const blocking = await serving(t, {}, { ...store, ...short, ...times })
      const open = await serveGrpc(t, {}, { ...store, ...short, ...times, onUnavailable: 'allow' })
      const { call } = caller(t, open.grpcPort!, 'auth')
      const asked = checkOf({ headers: alice, extensions: VIP })
      assert.equal((await call(asked)).status.code, 0)
      away.pause()
      try {
        const failed = failure(blocking.check({ headers: alice, extensions: VIP }))
        assert.deepEqual(await inTime(failed, 20_000), {
          code: 'UNAVAILABLE',
          catraca: 'ENGINE_UNAVAILABLE',
        })
        const passed = await inTime(call(asked), 20_000)
        assert.deepEqual(
          [passed.status.code, passed.ok_response.headers[0].header.key],
          [0, 'x-catraca-degraded'],
        )
      } finally {
        away.resume()
      }
    })
  })
}

describe('Check', () => {
  it('guards by routes where the request says nothing', async (t) => {
    const routes = [
      { host: 'other.example', path: '/orders', allowlists: [] },
      { path: '/orders', allowlists: ['vip'] },
      { path: '/mine/*', allowlists: ['vip'], customer: 'claim:sub' },
      { path: '/public/*' },
    ]
    const { check } = await serving(t, { grpc: { port: 0, routes } })
    assert.equal((await check({ headers: alice })).status.code, 0)
    assert.equal((await check({ headers: { 'x-customer-id': 'bob' } })).status.code, 7)
    assert.equal((await check({ headers: {} })).status.code, 7)
    assert.equal((await check({ path: '/public/logo.png' })).status.code, 0)
    assert.equal((await check({ path: '/mine/a', claims: { sub: 'alice' } })).status.code, 0)
    // A header cannot stand for a claim, and neither can a token that nobody has verified.
    assert.equal((await check({ path: '/mine/a', headers: { ...alice, sub: 'alice' } })).status.code, 7)
    const unmatched = denialOf(await check({ path: '/elsewhere' }))
    assert.deepEqual([unmatched.code, unmatched.problem.code], [7, 'FORBIDDEN'])
    const lenient = await serving(t, { grpc: { port: 0, unmatched: 'allow' } })
    assert.equal((await lenient.check({ path: '/elsewhere' })).status.code, 0)
  })

  it('knows a host however the client writes it', async (t) => {
    const routes = [{ host: 'Shop.example', path: '/*', allowlists: ['vip'] }, { path: '/*' }]
    const { check } = await serving(t, { grpc: { port: 0, routes } })
    const bob = { 'x-customer-id': 'bob' }
    for (const host of [
      'shop.example',
      'SHOP.example',
      'shop.example:443',
      'shop.example.',
      'shop.example.:1',
    ])
      assert.equal((await check({ headers: bob, host })).status.code, 7, host)
    for (const host of ['other.example', 'shop.example.org', 'my-shop.example'])
      assert.equal((await check({ headers: bob, host })).status.code, 0, host)
  })

  it('knows a path however the client writes it', async (t) => {
    const routes = [
      { path: '/orders/*', allowlists: ['vip'] },
      { path: '/admin', allowlists: ['vip'] },
      { path: '/*' },
    ]
    const bob = { 'x-customer-id': 'bob' }
    for (const settings of [{ routes }, { routes: routes.slice(0, 2), unmatched: 'allow' as const }]) {
      const { check } = await serving(t, { grpc: { port: 0, ...settings } })
      for (const path of [
        '/public/../orders/1',
        '/public/%2e%2E/orders/1',
        '/public/..%2forders/1',
        '/public/..%5corders/1',
        '/public\\..\\orders/1',
        '/./orders/1',
        '//orders/1',
        '/%6frders/1',
        '/%256frders/1',
        '/orders%2f1',
        '/public/..;a=b/orders/1',
        '/orders;a=b/1',
        '/admin;a=b',
        '/admin#/..',
        '/public/%2e%2e/admin?x=/..',
      ]) {
        const denied = denialOf(await check({ headers: bob, path }))
        assert.deepEqual([denied.http, denied.problem.code], ['BadRequest', 'INVALID_INPUT'], path)
      }
      for (const path of ['/orders/1', '/orders/%31', '/orders/a/../b', '/admin?x=/../y'])
        assert.equal((await check({ headers: bob, path })).status.code, 7, path)
      for (const path of [
        '/public/a%20b',
        '/public//a/./b',
        '/.well-known/x',
        '/',
        '/100%',
        '/x?next=/../orders/1',
      ])
        assert.equal((await check({ headers: bob, path })).status.code, 0, path)
    }
  })

  it('is not opened by extensions that ask for nothing', async (t) => {
    const routes = [{ path: '/vip', allowlists: ['vip'] }, { path: '/public' }]
    const { check } = await serving(t, { grpc: { port: 0, routes } })
    const bob = { 'x-customer-id': 'bob' }
    // Envoy adds the extensions of a host to those of its routes.
    for (const extensions of [
      { 'catraca.customer': 'header:x-customer-id' },
      { 'catraca.tokens': 'false' },
      { other: 'x' },
    ]) {
      assert.equal((await check({ headers: bob, extensions, path: '/elsewhere' })).status.code, 7)
      assert.equal((await check({ headers: bob, extensions, path: '/vip' })).status.code, 7)
      assert.equal((await check({ headers: alice, extensions, path: '/vip' })).status.code, 0)
      assert.equal((await check({ headers: bob, extensions, path: '/public' })).status.code, 0)
    }
  })

  it('refuses tokens whose claims nobody could have revoked, and customers that a client made up', async (t) => {
    const { check, catraca } = await serving(t)
    await catraca.tokens.revoke({ jti: '7', expiresAt: new Date(Date.now() + 3_600_000) })
    const extensions = { 'catraca.tokens': 'true' }
    for (const claims of [{}, { jti: 7 }, { jti: 7, sub: 'alice' }, { jti: 'a', sub: 7 }, { jti: '' }]) {
      const denied = denialOf(await check({ extensions, claims }))
      assert.ok(['Unauthorized', 'BadRequest'].includes(denied.http), JSON.stringify(claims))
    }
    for (const headers of [
      // Headers that came twice, as Envoy joins them.
      { 'x-customer-id': 'alice,bob' },
      { 'x-customer-id': 'alice ' },
      { 'x-customer-id': 'alice\u0000' },
      { 'x-customer-id': 'Alice' },
      { 'x-customer-id': '~61lice' },
      { 'X-Customer-Id': 'alice' },
      { x_customer_id: 'alice' },
      { 'x-customer-id': '' },
      { __proto__: 'alice' } as never,
    ]) {
      assert.equal((await check({ headers, extensions: VIP })).status.code, 7, JSON.stringify(headers))
    }
  })

  it('puts nothing of the client into the headers of a denial', async (t) => {
    const { check } = await serving(t)
    const evil = 'x\r\nset-cookie: a=b'
    for (const asked of [
      { headers: { 'x-customer-id': evil, 'x-request-id': evil }, extensions: VIP },
      { headers: { 'x-customer-id': `${evil}${'y'.repeat(300)}` }, extensions: VIP },
      { path: `/${evil}/../x`, host: evil },
    ]) {
      const { denied_response } = await check(asked)
      const given = JSON.stringify(denied_response.headers)
      assert.ok(!given.includes('set-cookie'), given)
      assert.ok(!denied_response.body.includes('\n'))
    }
  })

  it('answers what the client did wrong, and fails for what the configuration does', async (t) => {
    const { check } = await serving(t)
    const long = denialOf(await check({ headers: { 'x-customer-id': 'x'.repeat(300) }, extensions: VIP }))
    assert.deepEqual([long.http, long.problem.code], ['BadRequest', 'INVALID_INPUT'])
    const noToken = denialOf(await check({ headers: alice, extensions: { 'catraca.tokens': 'true' } }))
    assert.deepEqual([noToken.http, noToken.problem.code], ['Unauthorized', 'UNAUTHENTICATED'])
    for (const extensions of [
      { 'catraca.allowlist': 'vip' },
      { 'catraca.tokens': 'yes' },
      { 'catraca.customer': 'cookie:id' },
      { 'catraca.allowlists': 'vip,' },
    ]) {
      assert.equal((await failure(check({ headers: alice, extensions }))).code, 'INVALID_ARGUMENT')
    }
    // What a failure quotes may end within a character.
    for (const name of ['catraca.x', `catraca.${'x'.repeat(55)}\u{1f600}`]) {
      assert.equal(
        (await failure(check({ headers: alice, extensions: { [name]: '' } }))).code,
        'INVALID_ARGUMENT',
      )
    }
    const missing = denialOf(await check({ headers: alice, extensions: { 'catraca.allowlists': 'none' } }))
    assert.equal(missing.problem.code, 'CUSTOMER_NOT_ALLOWED')
  })
})
