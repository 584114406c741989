import assert from 'node:assert/strict'
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { describe, it, type TestContext } from 'node:test'
import { pino } from 'pino'
import type { Catraca } from '../../src/app/open-catraca.js'
import { ManualClock } from '../../src/core/clock.js'
import { isCatracaError } from '../../src/core/errors.js'
import { hashKey } from '../../src/guards/access/index.js'
import type { KeyRecord, StoredKeys } from '../../src/guards/access/port.js'
import { SCOPES, type Scope } from '../../src/guards/access/scopes.js'
import { Gate } from '../../src/server/access/gate.js'
import { isLoopbackHost } from '../../src/server/access/loopback.js'
import { KeyRegistry, MAX_KEY_AGE_MS, OPERATOR_KEY_AGE_MS } from '../../src/server/access/registry.js'
import { startServer } from '../../src/server/index.js'
import { openPatiently } from '../support/patient.js'
import { bearer, oneConnection, send, serve, serveAll, until } from './support.js'

const CHECK = '/customers/ana/check?allowlists=vip'

describe('a server without keys', () => {
  const keyless = serveAll()
  const paths = [
    CHECK,
    `${CHECK}&consistency=strong`,
    '/allowlists',
    '/health',
    '/',
    '/docs',
    '/openapi.json',
  ]

  it('answers this machine, by any of its names', async () => {
    const server = keyless()
    for (const host of ['localhost', 'LOCALHOST:8080', '127.0.0.1', '127.9.8.7:1', '[::1]', '[::1]:8080']) {
      for (const path of paths) {
        assert.equal((await server.call('GET', path, { headers: { host } })).status, 200, `${host} ${path}`)
      }
    }
  })

  const strangers: [string, OutgoingHttpHeaders][] = [
    ['another Host', { host: 'catraca.example' }],
    ['a Host that begins like ours', { host: '127.0.0.1.example' }],
    ['a Host that ends like ours', { host: 'evil-localhost' }],
    ['a Host with a name and our address', { host: 'localhost@example.com' }],
    ['a private address as Host', { host: '10.0.0.1:8080' }],
    ['0.0.0.0 as Host', { host: '0.0.0.0' }],
    ['a foreign Origin', { origin: 'https://example.com' }],
    ['a foreign Origin with our name in front', { origin: 'http://localhost.example.com' }],
    ['no Origin that can be named', { origin: 'null' }],
    ['an Origin of another scheme', { origin: 'file://localhost' }],
    ['a page from another site', { 'sec-fetch-site': 'cross-site' }],
    ['a page of another port', { host: 'localhost:8080', origin: 'http://localhost:3000' }],
    ['a page of the port that the scheme implies', { host: 'localhost:8080', origin: 'http://localhost' }],
    ['a page of another name of this machine', { host: '127.0.0.1:8080', origin: 'http://localhost:8080' }],
    ['a page of another scheme', { host: 'localhost:8080', origin: 'https://localhost:8080' }],
    ['a picture for a page of another port', { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors' }],
  ]
  for (const [name, headers] of strangers) {
    it(`refuses ${name}`, async () => {
      const server = keyless()
      for (const path of paths) {
        const { status, json } = await server.call('GET', path, { headers })
        assert.deepEqual([status, json?.code], [403, 'FORBIDDEN_ORIGIN'], path)
      }
      const body = { name: 'VIP', type: 'FIXA' }
      assert.equal((await server.call('POST', '/allowlists', { headers, body })).status, 403)
      assert.deepEqual((await server.catraca.allowlists.list()).items, [])
      for (const path of ['/live', '/ready']) {
        assert.equal((await server.call('GET', path, { headers })).status, 200, path)
      }
    })
  }

  it('refuses a simple import by a page of another port', async () => {
    const server = keyless()
    await server.catraca.allowlists.create({ id: 'open', name: 'Open', type: 'FIXA' })
    const headers = { host: 'localhost:8080', origin: 'http://localhost:3000', 'content-type': 'text/plain' }
    const answer = await server.call('POST', '/allowlists/open/import', { headers, body: 'mallory\n' })
    assert.deepEqual([answer.status, answer.json.code], [403, 'FORBIDDEN_ORIGIN'])
    assert.equal((await server.catraca.allowlists.get('open')).customerCount, 0)
    await server.catraca.allowlists.delete('open')
  })

  it('lets its own pages in, and people who follow a link', async () => {
    const server = keyless()
    const welcome = [
      { host: 'localhost:3000', origin: 'http://localhost:3000' },
      { host: 'LOCALHOST:80', origin: 'http://localhost' },
      { host: '[::1]:8080', origin: 'http://[::1]:8080' },
      { host: '127.0.0.1:8080', origin: 'http://127.0.0.1:8080', 'sec-fetch-site': 'same-origin' },
      { 'sec-fetch-site': 'none' },
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' },
    ]
    for (const headers of welcome) {
      assert.equal((await server.call('GET', '/docs', { headers })).status, 200, JSON.stringify(headers))
    }
    const submitted = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }
    assert.equal((await server.call('POST', '/allowlists', { headers: submitted })).status, 403)
  })

  it('refuses a key, since nobody gave one out', async () => {
    const server = keyless()
    for (const path of [CHECK, '/allowlists']) {
      assert.equal((await server.call('GET', path, { headers: bearer('ctr_old') })).status, 401, path)
    }
  })

  it('does not listen beyond this machine', async (t) => {
    const catraca = await openPatiently({ store: 'memory:' })
    t.after(() => catraca.close())
    for (const host of ['0.0.0.0', '::', '10.1.2.3', 'example.com']) {
      await assert.rejects(startServer(catraca, { host, port: 0 }), (error) => {
        assert.ok(isCatracaError(error, 'CONFIG_INVALID'))
        assert.match(error.message, /catraca key create/)
        return true
      })
    }
    await catraca.keys.create({ name: 'ops', scopes: ['admin'] })
    const server = await startServer(catraca, { host: '0.0.0.0', port: 0 })
    await server.stop()
  })
})

describe('a server with keys', () => {
  it('takes them from configuration, and reads them again', async (t) => {
    let scopes: Scope[] = ['check']
    const bootstrapKeys = () => [{ name: 'boot', scopes, hash: hashKey('secret-key') }]
    const server = await serve(t, { bootstrapKeys })
    assert.equal(server.keyed, true)
    const ask = () => server.call('GET', '/allowlists', { headers: bearer('secret-key') })
    assert.equal((await ask()).status, 403)
    scopes = ['read']
    await until('the new scope', async () => (await ask()).status === 200)
  })

  it('asks for one, and says how', async (t) => {
    const server = await serve(t)
    await server.catraca.keys.create({ name: 'ops', scopes: ['admin'] })
    await until('keyed', () => server.keyed)
    const wrong: OutgoingHttpHeaders[] = [
      {},
      bearer('ctr_wrong'),
      bearer(''),
      { authorization: 'Basic b3BzOm9wcw==' },
      { authorization: 'Bearer' },
      { authorization: 'ctr_wrong' },
      bearer('x'.repeat(5000)),
    ]
    for (const headers of wrong) {
      for (const path of [CHECK, `${CHECK}&consistency=strong`, '/allowlists', '/health', '/keys']) {
        const answer = await server.call('GET', path, { headers })
        assert.deepEqual([answer.status, answer.json.code], [401, 'UNAUTHENTICATED'], path)
        assert.equal(answer.headers['www-authenticate'], 'Bearer')
      }
    }
    for (const path of ['/live', '/ready', '/', '/docs', '/openapi.json']) {
      const headers = { host: 'catraca.example', origin: 'https://example.com' }
      assert.equal((await server.call('GET', path, { headers })).status, 200, path)
    }
  })

  it('gives each key what its scopes say, and nothing else', async (t) => {
    const server = await serve(t)
    await server.catraca.allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
    const keyOf = new Map<Scope, string>()
    for (const scope of SCOPES) {
      const name = scope.replace(':', '-')
      keyOf.set(scope, (await server.catraca.keys.create({ name, scopes: [scope] })).key)
    }
    const newest = bearer(keyOf.get(SCOPES.at(-1)!)!)
    await until('known', async () => (await server.call('GET', '/keys', { headers: newest })).status === 403)
    const routes: [string, string, Scope[]][] = [
      ['GET', CHECK, ['check', 'admin']],
      ['GET', `${CHECK}&consistency=strong`, ['check', 'admin']],
      ['POST', '/check', ['check', 'admin']],
      ['GET', '/allowlists', ['read', 'admin']],
      ['GET', '/allowlists/vip/customers', ['read', 'admin']],
      ['GET', '/customers/ana/allowlists', ['read', 'admin']],
      ['GET', '/health', ['read', 'admin']],
      ['GET', '/allowlists/vip/export', ['admin']],
      ['PUT', '/allowlists/vip/customers/ana', ['admin']],
      ['GET', '/keys', ['admin']],
      ['GET', '/locks/claim', ['locks', 'admin']],
      ['GET', '/revoked-tokens/jti', ['tokens:check', 'admin']],
    ]
    for (const [method, path, allowed] of routes) {
      for (const [scope, key] of keyOf) {
        const { status, json } = await server.call(method, path, { headers: bearer(key) })
        const context = `${scope} ${method} ${path}: ${status}`
        if (allowed.includes(scope)) assert.notEqual(status, 403, context)
        else assert.deepEqual([status, json.code], [403, 'FORBIDDEN'], context)
      }
    }
  })

  it('makes, lists and revokes them over HTTP', async (t) => {
    const server = await serve(t)
    const first = await server.call('POST', '/keys', { body: { name: 'ops', scopes: ['admin'] } })
    assert.equal(first.status, 201)
    assert.match(first.json.key, /^ctr_/)
    const { key } = first.json
    const headers = bearer(key)
    assert.equal((await server.call('GET', '/keys')).status, 401, 'the first key locks the server at once')

    const twice = await server.call('POST', '/keys', { headers, body: { name: 'ops', scopes: ['check'] } })
    assert.deepEqual([twice.status, twice.json.code], [409, 'KEY_EXISTS'])
    for (const scopes of [[], ['everything'], 'check', undefined]) {
      const { status } = await server.call('POST', '/keys', { headers, body: { name: 'x', scopes } })
      assert.equal(status, 400, JSON.stringify(scopes))
    }
    const second = await server.call('POST', '/keys', { headers, body: { name: 'app', scopes: ['check'] } })
    const listed = await server.call('GET', '/keys', { headers })
    const names = listed.json.items.map(({ name }: { name: string }) => name).sort()
    assert.deepEqual(names, ['app', 'ops'])
    assert.equal(listed.text.includes(key) || listed.text.includes(hashKey(key)), false)

    const app = bearer(second.json.key)
    assert.equal((await server.call('GET', CHECK, { headers: app })).status, 200)
    assert.equal((await server.call('DELETE', '/keys/app', { headers })).status, 204)
    assert.equal((await server.call('GET', CHECK, { headers: app })).status, 401)
    assert.equal((await server.call('DELETE', '/keys/app', { headers })).status, 404)
  })

  it('changes scopes and expiry, tells who made a key and when it was last used, and refuses an expired one', async (t) => {
    const clock = new ManualClock(Date.parse('2030-01-01T00:00:00Z'))
    const server = await serve(t, { keyRefreshMs: 20 }, { clock })
    const admin = (await server.call('POST', '/keys', { body: { name: 'ops', scopes: ['admin'] } })).json
    const headers = bearer(admin.key)
    const call = (method: string, path: string, body?: object) => server.call(method, path, { headers, body })
    const past = { name: 'late', scopes: ['check'], expiresAt: '2029-12-31T23:59:59Z' }
    assert.deepEqual((await call('POST', '/keys', past)).json.errors[0].path, 'expiresAt')
    const expiresAt = '2030-01-31T00:00:00.000Z'
    const made = (await call('POST', '/keys', { name: 'app', scopes: ['check'], expiresAt })).json
    assert.deepEqual([made.createdBy, made.expiresAt], ['ops', expiresAt])
    // One connection, which remembers the key that was verified.
    const agent = oneConnection(t)
    const ask = async () => (await server.call('GET', CHECK, { agent, headers: bearer(made.key) })).status
    assert.equal(await ask(), 200)
    const find = async () =>
      (await call('GET', '/keys')).json.items.find((key: { name: string }) => key.name === 'app')
    await until('the use is recorded', async () => (await find()).usedAt === '2030-01-01T00:00:00.000Z')

    assert.equal((await call('PATCH', '/keys/app', { scopes: ['read'] })).status, 200)
    assert.equal(await ask(), 403)
    assert.equal(
      (await call('PATCH', '/keys/app', { scopes: ['check'], expiresAt: null })).json.expiresAt,
      undefined,
    )
    assert.equal(await ask(), 200)
    assert.equal((await call('PATCH', '/keys/app', {})).status, 400)
    assert.equal((await call('PATCH', '/keys/none', { scopes: ['read'] })).status, 404)
    const [entry] = (await call('GET', '/audit?action=key.update&limit=1')).json.items
    assert.deepEqual([entry.before.expiresAt, entry.after.scopes], [expiresAt, ['check']])

    await call('PATCH', '/keys/app', { expiresAt })
    clock.advance(29 * 86_400_000)
    assert.equal(await ask(), 200)
    clock.advance(86_400_000)
    await until('the key is refused', async () => (await ask()) === 401)
    assert.equal((await find()).expiresAt, expiresAt, 'it is still listed')
  })

  it('sees a revocation made elsewhere, also on a connection that is open', async (t) => {
    const server = await serve(t)
    const { keys } = server.catraca
    const { key } = await keys.create({ name: 'app', scopes: ['check'] })
    await keys.create({ name: 'other', scopes: ['check'] })
    const agent = oneConnection(t)
    const ask = () => server.call('GET', CHECK, { agent, headers: bearer(key) })
    await until('known', async () => (await ask()).status === 200)
    assert.equal((await ask()).status, 200)
    assert.equal((await ask()).status, 200)
    await keys.revoke('app')
    await until('revoked', async () => (await ask()).status === 401)
  })

  it('tells keys apart on one connection', async (t) => {
    const server = await serve(t)
    const { key } = await server.catraca.keys.create({ name: 'app', scopes: ['check'] })
    await until('keyed', () => server.keyed)
    const agent = oneConnection(t)
    const ask = (given: string) => server.call('GET', CHECK, { agent, headers: bearer(given) })
    assert.equal((await ask(key)).status, 200)
    const last = key.at(-1) === 'A' ? 'B' : 'A'
    for (const other of [`${key.slice(0, -1)}${last}`, `${key}x`, key.slice(0, -1), key.toUpperCase()]) {
      assert.equal((await ask(other)).status, 401, other)
    }
    assert.equal((await ask(key)).status, 200)
  })

  it('refuses two of them in one request: who is asking?', async (t) => {
    const keys = ['ctr_one', 'ctr_other']
    const bootstrapKeys = () =>
      keys.map((key) => ({ name: key.slice(4), scopes: ['check' as const], hash: hashKey(key) }))
    for (const checkFastPath of ['connection', 'off'] as const) {
      const server = await serve(t, { bootstrapKeys, checkFastPath })
      const headers = { Authorization: keys.map((key) => `Bearer ${key}`) }
      const { status, json } = await server.call('GET', CHECK, { headers })
      assert.deepEqual([status, json.errors?.[0].path], [400, 'Authorization'], checkFastPath)
      assert.equal((await server.call('GET', CHECK, { headers: bearer(keys[0]!) })).status, 200)
    }
  })

  it('keeps the names of the configuration for its keys', async (t) => {
    const bootstrapKeys = () => [{ name: 'boot', scopes: ['admin' as const], hash: hashKey('secret-key') }]
    const server = await serve(t, { bootstrapKeys })
    const headers = bearer('secret-key')
    const body = { name: 'boot', scopes: ['admin'] }
    const twice = await server.call('POST', '/keys', { headers, body })
    assert.deepEqual([twice.status, twice.json.code], [409, 'KEY_EXISTS'])
    const revoked = await server.call('DELETE', '/keys/boot', { headers })
    assert.deepEqual([revoked.status, revoked.json.code], [409, 'KEY_CONFIGURED'])
    assert.equal((await server.call('GET', '/keys', { headers })).status, 200)
  })

  it('refuses a stored key that was made under a name of the configuration', async (t) => {
    let configured: Scope[] | undefined
    const bootstrapKeys = () =>
      configured === undefined ? [] : [{ name: 'ops', scopes: configured, hash: hashKey('secret-key') }]
    const server = await serve(t, { bootstrapKeys })
    const { key } = await server.catraca.keys.create({ name: 'ops', scopes: ['admin'] })
    const status = async (given: string) =>
      (await server.call('GET', '/keys', { headers: bearer(given) })).status
    await until('known', async () => (await status(key)) === 200)
    configured = ['admin']
    await until('the one of the configuration holds', async () => (await status('secret-key')) === 200)
    assert.equal(await status(key), 401)
  })

  it('stays locked when the last key is revoked, also after a restart, until the lock is lifted', async (t) => {
    const server = await serve(t)
    const { keys } = server.catraca
    const { key } = await keys.create({ name: 'only', scopes: ['admin'] })
    await until('keyed', () => server.keyed)
    await keys.revoke('only')
    await until(
      'revoked',
      async () => (await server.call('GET', CHECK, { headers: bearer(key) })).status === 401,
    )
    const again = await restarted(t, server.catraca)
    for (const { call } of [server, again]) {
      for (const path of [CHECK, '/allowlists']) {
        const { status, json } = await call('GET', path)
        assert.equal(status, 401, path)
        assert.match(json.detail, /catraca key unlock --store/)
      }
    }
    await keys.unlock()
    for (const { call } of [server, again, await restarted(t, server.catraca)]) {
      await until('unlocked', async () => (await call('GET', CHECK)).status === 200)
    }
  })

  it('leaves no mark of keys that were never stored', async (t) => {
    let given = [{ name: 'boot', scopes: ['read' as const], hash: hashKey('secret-key') }]
    const server = await serve(t, { bootstrapKeys: () => given })
    given = []
    await until(
      'it is gone',
      async () => (await server.call('GET', '/allowlists', { headers: bearer('secret-key') })).status === 401,
    )
    assert.equal((await server.call('GET', '/allowlists')).status, 401, 'this process had a key')
    const { call } = await restarted(t, server.catraca)
    assert.equal((await call('GET', '/allowlists')).status, 200)
  })
})

/** Another server over the same store, as after a restart. */
async function restarted(t: TestContext, catraca: Catraca) {
  const server = await startServer(catraca, { port: 0, logger: pino({ level: 'silent' }), keyRefreshMs: 20 })
  t.after(() => server.stop())
  return { call: (method: string, path: string) => send(server.url, method, path) }
}

describe('isLoopbackHost', () => {
  it('wants a whole name of this machine', () => {
    for (const host of ['localhost', 'localhost:1', '127.0.0.1:65535', '[::1]', '127.255.255.255']) {
      assert.equal(isLoopbackHost(host), true, host)
    }
    const others = [
      undefined,
      '',
      ':80',
      '127.1',
      '127.0.0.256',
      '[::2]',
      '::1:',
      'localhost:80:80',
      '127.0.0.1:x',
    ]
    for (const host of [...others, 'localhost.', 'localhost ', '[::1', '2130706433', '0x7f.0.0.1']) {
      assert.equal(isLoopbackHost(host), false, host)
    }
  })
})

describe('KeyRegistry', () => {
  const record = (name: string): KeyRecord => ({ name, scopes: ['check'], hash: hashKey(name), createdAt: 0 })

  function registry(readRecords: () => Promise<KeyRecord[]>, maxStaleMs = MAX_KEY_AGE_MS) {
    const clock = new ManualClock(1_000_000)
    const read = async (): Promise<StoredKeys> => {
      const records = await readRecords()
      return { records, lock: records.length > 0 ? 'locked' : 'never' }
    }
    const options = { read, bootstrap: () => [], refreshMs: 60_000, maxStaleMs, clock }
    return { clock, keys: new KeyRegistry(options) }
  }

  it('trusts what it read for 5 s and no longer', async () => {
    let down = false
    const { clock, keys } = registry(async () => {
      if (down) throw new Error('down')
      return [record('a')]
    })
    assert.equal(keys.isStale(), true, 'nothing was read yet')
    await keys.refresh()
    down = true
    await assert.rejects(keys.refresh())
    clock.advance(MAX_KEY_AGE_MS)
    assert.equal(keys.isStale(), false)
    clock.advance(1)
    assert.equal(keys.isStale(), true)
    down = false
    await keys.refresh()
    assert.equal(keys.isStale(), false)
  })

  it('trusts it for longer where that is wanted, and for 15 minutes for those who operate', async () => {
    const { clock, keys } = registry(async () => [record('a')], 60_000)
    await keys.refresh()
    const key = keys.find(hashKey('a')) ?? assert.fail()
    clock.advance(60_000)
    assert.deepEqual([keys.isStale(), keys.trusts(key, false), keys.trusts(key, true)], [false, true, true])
    clock.advance(1)
    assert.deepEqual([keys.isStale(), keys.trusts(key, false), keys.trusts(key, true)], [true, false, true])
    clock.advance(OPERATOR_KEY_AGE_MS - 60_001)
    assert.equal(keys.trusts(key, true), true)
    clock.advance(1)
    assert.equal(keys.trusts(key, true), false)
  })

  it('finds a key by one look-up, however many there are', async () => {
    const many = Array.from({ length: 5_000 }, (_, i) => record(`key-${i}`))
    const { keys } = registry(async () => many)
    await keys.refresh()
    const unknown = hashKey('unknown')
    // A walk over all of them, so often, would take many minutes.
    const startedMs = performance.now()
    for (let i = 0; i < 100_000; i++) assert.ok(keys.find(unknown) === undefined)
    assert.ok(performance.now() - startedMs < 30_000)
    assert.equal(keys.find(hashKey('key-4321'))?.name, 'key-4321')
  })

  it('waits for the first read as long as the engine does, and for later ones not', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    let release = () => {}
    const { keys } = registry(async () => {
      await new Promise<void>((resolve) => (release = resolve))
      return [record('a')]
    })
    const first = keys.refresh()
    t.mock.timers.tick(60_000)
    release()
    await first
    const second = assert.rejects(keys.refresh(), /no answer within 1500 ms/)
    t.mock.timers.tick(1500)
    await second
  })

  it('counts the age from the beginning of a read, which may be slow', async () => {
    const { clock, keys } = registry(async () => {
      clock.advance(3_000)
      return [record('a')]
    })
    await keys.refresh()
    clock.advance(2_001)
    assert.equal(keys.isStale(), true)
  })

  it('begins an epoch only when something changed', async () => {
    let records = [record('a')]
    const { keys } = registry(async () => structuredClone(records))
    await keys.refresh()
    const { epoch } = keys
    await keys.refresh()
    assert.equal(keys.epoch, epoch)
    records = [{ ...record('a'), scopes: ['read'] }]
    await keys.refresh()
    assert.equal(keys.epoch, epoch + 1)
  })

  it('refuses an expired key while the store is silent, and stays locked when the last one has expired', async () => {
    let now = 0
    let isDown = false
    const records = [{ ...record('a'), expiresAt: 1000 }]
    const read = async (): Promise<StoredKeys> => {
      if (isDown) throw new Error('down')
      return { records, lock: 'locked' }
    }
    const keys = new KeyRegistry({ read, bootstrap: () => [], refreshMs: 60_000, now: () => now })
    await keys.refresh()
    assert.ok(keys.find(hashKey('a')))
    isDown = true
    now = 1000
    await assert.rejects(keys.refresh())
    assert.equal(keys.find(hashKey('a')), undefined)
    assert.equal(keys.keyed, true)
  })

  it('answers a refresh with what was there after the call', async () => {
    let records: KeyRecord[] = []
    let release = () => {}
    let slow = true
    const { keys } = registry(async () => {
      const seen = records
      if (slow) await new Promise<void>((resolve) => (release = resolve))
      return seen
    })
    const first = keys.refresh()
    records = [record('new')]
    slow = false
    const second = keys.refresh()
    release()
    await Promise.all([first, second])
    assert.equal(keys.find(hashKey('new'))?.name, 'new')
  })

  /** From now on the store does not tell of its keys, and some time has passed since it did. */
  function fallsSilent(t: TestContext, { keys }: Catraca): { after(ms: number): void } {
    t.mock.method(keys, 'stored', async () => {
      throw new Error('down')
    })
    const clock = t.mock.method(performance, 'now')
    const real = performance.now()
    return { after: (ms) => clock.mock.mockImplementation(() => real + ms) }
  }

  it('shuts the gate when the store stays silent, and lets operators look', async (t) => {
    const server = await serve(t)
    const { key } = await server.catraca.keys.create({ name: 'ops', scopes: ['admin'] })
    const { key: app } = await server.catraca.keys.create({ name: 'app', scopes: ['check'] })
    const status = async (path: string, given: string) => {
      const { status, json } = await server.call('GET', path, { headers: bearer(given) })
      return json?.code === 'ENGINE_UNAVAILABLE' ? 'silent' : status
    }
    await until('known', async () => (await status(CHECK, app)) === 200)
    const silence = fallsSilent(t, server.catraca)
    silence.after(MAX_KEY_AGE_MS + 10_000)
    for (const path of [CHECK, '/allowlists']) {
      for (const given of ['any', key, app]) assert.equal(await status(path, given), 'silent', path)
      assert.equal((await server.call('GET', path)).status, 401, path)
    }
    for (const path of ['/health', '/metrics']) {
      assert.deepEqual([await status(path, key), await status(path, app)], [200, 403], path)
    }
    assert.equal((await server.call('GET', '/live')).status, 200)

    silence.after(OPERATOR_KEY_AGE_MS + 10_000)
    assert.equal(await status('/metrics', key), 'silent')
    const { status: code, json } = await server.call('GET', '/health', { headers: bearer(key) })
    assert.deepEqual([code, json.engines], [503, [{ name: 'embedded', status: 'healthy' }]])
  })

  it('stays open on a server whose store never had keys', async (t) => {
    const server = await serve(t)
    fallsSilent(t, server.catraca).after(24 * 3_600_000)
    for (const path of [CHECK, '/allowlists', '/health', '/metrics']) {
      assert.equal((await server.call('GET', path)).status, 200, path)
    }
  })

  it('takes keys of the configuration while the store is silent, and their changes too', async (t) => {
    let given = [{ name: 'boot', scopes: ['read' as const], hash: hashKey('secret-key') }]
    const server = await serve(t, { bootstrapKeys: () => given })
    fallsSilent(t, server.catraca).after(24 * 3_600_000)
    const ask = async () =>
      (await server.call('GET', '/allowlists', { headers: bearer('secret-key') })).status
    assert.equal(await ask(), 200)
    given = []
    await until('it is gone', async () => (await ask()) === 503)
  })

  it('says 503 before the keys were ever read', async () => {
    const { keys } = registry(async () => {
      throw new Error('down')
    })
    await assert.rejects(keys.refresh())
    assert.equal(
      new Gate(keys).refusal({ headers: {} } as IncomingMessage, 'check')?.code,
      'ENGINE_UNAVAILABLE',
    )
  })
})
