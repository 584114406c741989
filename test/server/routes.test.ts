import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it, type TestContext } from 'node:test'
import Fastify from 'fastify'
import { SCOPES } from '../../src/guards/access/scopes.js'
import { buildServer } from '../../src/server/app.js'
import type { ServerContext } from '../../src/server/http/context.js'
import { addHooks } from '../../src/server/http/hooks.js'
import type { App } from '../../src/server/http/instance.js'
import { renderRouteTable } from '../../src/server/http/routes-page.js'
import { openPatiently } from '../support/patient.js'
import { serve } from './support.js'

/** What callers do, by scopes of their own. */
const CALLED: [RegExp, string][] = [
  [/ \/ofrep\//, 'check'],
  [/ \/(limits|leases)\//, 'limits'],
  [/ \/cache\//, 'cache'],
  [/ \/idempotency\//, 'idempotency'],
  [/ \/otp\/:channel$/, 'codes:issue'],
  [/ \/otp\/:channel\/verify$/, 'codes:verify'],
  [/ \/revoked-(tokens|subjects)/, 'tokens:revoke'],
  // To take it from its holder is administration.
  [/^POST \/locks\//, 'locks'],
  // It ends the session that comes with it, if one does.
  [/^POST \/sign-out$/, 'open'],
]
const OPEN = [
  '/',
  '/live',
  '/ready',
  '/openapi.json',
  '/docs',
  '/docs/',
  '/console',
  '/console/*',
  '/sign-in/offer',
  '/sign-out',
]

async function build(t: TestContext) {
  const catraca = await openPatiently({ store: 'memory:' })
  t.after(() => catraca.close())
  const server = await buildServer(catraca, {})
  t.after(() => server.app.close())
  return server
}

describe('routes', () => {
  it('each have a scope, or are among the few that are open', async (t) => {
    const { routes } = await build(t)
    assert.ok(routes.length > 25, `${routes.length} routes`)
    for (const { method, path, scope } of routes) {
      if (scope === 'open') assert.ok(OPEN.includes(path) || path.startsWith('/docs/'), `${method} ${path}`)
      else if (scope === 'any') assert.equal(path, '/session')
      else assert.ok(SCOPES.includes(scope), `${method} ${path}`)
    }
  })

  it('are all known to the router and listed', async (t) => {
    const { app, routes } = await build(t)
    for (const { method, path } of routes) {
      assert.ok(app.hasRoute({ method: method as 'GET', url: path }), `${method} ${path}`)
    }
    const expected = [
      'GET /customers/:customerId/check',
      'POST /check',
      'POST /allowlists',
      'GET /allowlists',
    ]
    const one = ['GET /allowlists/:id', 'PATCH /allowlists/:id', 'DELETE /allowlists/:id']
    const member = ['PUT', 'DELETE', 'GET'].map((verb) => `${verb} /allowlists/:id/customers/:customerId`)
    const bulk = [
      'POST /allowlists/:id/import',
      'GET /allowlists/:id/imports/:importId',
      'GET /allowlists/:id/export',
    ]
    const listed = new Set(routes.map(({ method, path }) => `${method} ${path}`))
    for (const route of [...expected, ...one, ...member, ...bulk]) assert.ok(listed.has(route), route)
  })

  it('need the scope that lets no reader take everything, and no checker read', async (t) => {
    const { routes } = await build(t)
    const scopeOf = (method: string, path: string) =>
      routes.find((route) => route.method === method && route.path === path)?.scope
    assert.equal(scopeOf('GET', '/allowlists/:id/export'), 'admin')
    assert.equal(scopeOf('GET', '/customers/:customerId/check'), 'check')
    assert.equal(scopeOf('POST', '/check'), 'check')
    assert.equal(scopeOf('GET', '/health'), 'read')
    for (const { method, path, scope } of routes) {
      const writes = !['GET', 'HEAD'].includes(method) && path !== '/check'
      // What a limited caller does is no administration; what it is held to is.
      const needed = CALLED.find(([pattern]) => pattern.test(`${method} ${path}`))?.[1] ?? 'admin'
      if (writes) assert.equal(scope, needed, `${method} ${path}`)
    }
  })

  it('without a scope cannot be registered', () => {
    const app = Fastify() as unknown as App
    addHooks(app, {} as ServerContext)
    assert.throws(() => app.get('/forgotten', () => 'x'), /GET \/forgotten has no scope/)
    app.get('/remembered', { config: { scope: 'read' } }, () => 'x')
  })

  it('are in docs/reference/routes.md as they are', async (t) => {
    const { routes } = await build(t)
    const page = readFileSync(new URL('../../../docs/reference/routes.md', import.meta.url), 'utf8')
    assert.equal(page, renderRouteTable(routes))
  })
})

describe('documentation', () => {
  it('describes every route, with its answers and problems', async (t) => {
    const { app, routes } = await build(t)
    const { paths } = app.swagger() as unknown as {
      paths: Record<string, Record<string, { responses: object }>>
    }
    const documented = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    )
    const hidden = (path: string) =>
      path.startsWith('/docs') || path.startsWith('/console') || ['/', '/openapi.json'].includes(path)
    const expected = routes
      .filter(({ method, path }) => method !== 'HEAD' && !hidden(path))
      .map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`)
    assert.deepEqual(documented.sort(), expected.sort())
    for (const [path, methods] of Object.entries(paths)) {
      for (const [method, { responses }] of Object.entries(methods)) {
        const statuses = Object.keys(responses)
        assert.ok(
          statuses.some((status) => status.startsWith('2')),
          `${method} ${path}`,
        )
        assert.ok(statuses.includes('4XX'), `${method} ${path} documents problems`)
      }
    }
  })

  it('refers only to schemas that are there', async (t) => {
    const server = await serve(t)
    const { status, json, text } = await server.call('GET', '/openapi.json')
    assert.equal(status, 200)
    assert.match(json.openapi, /^3\.1/)
    const references = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map((match) => match[1]!)
    assert.ok(references.length > 10)
    for (const reference of references) {
      const name = /^#\/components\/schemas\/(\w+)$/.exec(reference)?.[1]
      assert.ok(name !== undefined && name in json.components.schemas, reference)
    }
  })

  it('is a page that needs no other host', async (t) => {
    const server = await serve(t)
    const page = await server.call('GET', '/docs/')
    assert.equal(page.status, 200)
    assert.match(page.headers['content-type']!, /^text\/html/)
    const policy = String(page.headers['content-security-policy'])
    assert.match(policy, /default-src 'none'/)
    assert.doesNotMatch(policy, /https?:|\*/)
    const assets = [...page.text.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1]!)
    assert.ok(assets.length >= 5)
    for (const asset of assets) {
      assert.doesNotMatch(asset, /^(?:https?:)?\/\//)
      const { status } = await server.call('GET', new URL(asset, `${server.url}/docs/`).pathname)
      assert.equal(status, 200, asset)
    }
    const initializer = await server.call('GET', '/docs/static/swagger-initializer.js')
    assert.match(initializer.text, /"validatorUrl":null/)
  })

  it('is linked from the root', async (t) => {
    const server = await serve(t)
    const { json } = await server.call('GET', '/')
    assert.equal(json.name, 'catraca')
    for (const path of Object.values(json.links) as string[]) {
      assert.equal((await server.call('GET', path)).status, 200, path)
    }
  })
})
