import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { getEventListeners } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import { type CatracaClient, createClient, OPERATIONS } from '../../src/client/index.js'
import { ManualClock } from '../../src/core/clock.js'
import { serve, type TestServer, until } from '../server/support.js'
import { caught } from './support.js'

const NOW = Date.UTC(2030, 0, 1)
const LIMIT = { capacity: 1, refillAmount: 1, refillPeriodSeconds: 60 }

async function start(t: TestContext) {
  const spaces = [{ name: 'things', ttlMs: 60_000 }]
  const server = await serve(t, {}, { clock: new ManualClock(NOW), sweepIntervalMs: 0, cache: { spaces } })
  return { server, client: createClient({ url: server.url }) }
}

/** What the client can do with each part of the API. */
const BY_TAG: Record<string, (client: CatracaClient, server: TestServer) => Promise<void>> = {
  allowlists: async (client) => {
    const list = await client.createAllowlist({ body: { id: 'vip', name: 'VIP', type: 'FIXA' } })
    assert.deepEqual([list.id, list.customerCount], ['vip', 0])
    const changed = await client.updateAllowlist({ id: 'vip', ifMatch: '"1"', body: { name: 'Very' } })
    assert.deepEqual([changed.name, changed.version], ['Very', 2])
    const late = await caught(client.updateAllowlist({ id: 'vip', ifMatch: '"1"', body: { name: 'X' } }))
    assert.deepEqual([late.status, late.code], [412, 'VERSION_MISMATCH'])
    assert.deepEqual(
      (await client.listAllowlists({ limit: 10 })).items.map(({ id }) => id),
      ['vip'],
    )
    assert.equal(await client.deleteAllowlist({ id: 'vip' }), undefined)
  },
  members: async (client) => {
    await client.createAllowlist({ body: { id: 'm', name: 'M', type: 'FIXA' } })
    assert.equal((await client.addMember({ id: 'm', customerId: 'a:b@c+d=' })).added, true)
    assert.equal((await client.getMember({ id: 'm', customerId: 'a:b@c+d=' })).customerId, 'a:b@c+d=')
    assert.equal((await client.removeMember({ id: 'm', customerId: 'a:b@c+d=' })).removed, true)
  },
  checks: async (client) => {
    const { results } = await client.checkCustomer({ customerId: 'ann', allowlists: ['none', 'm'] })
    assert.deepEqual(
      results.map(({ reason }) => reason),
      ['ALLOWLIST_NOT_FOUND', 'NOT_MEMBER'],
    )
    const many = await client.checkCustomers({ body: { customerIds: ['ann'], allowlists: ['m'] } })
    assert.equal(many.results[0]!.overallAllowed, false)
  },
  'import and export': async (client) => {
    async function* rows() {
      yield new TextEncoder().encode('one\n')
      yield new TextEncoder().encode('two\n')
    }
    const imported = await client.importMembers({ id: 'm', contentType: 'text/plain', body: rows() })
    assert.equal('added' in imported && imported.added, 2)
    const blob = new Blob(['customerId\nthree\n'])
    await client.importMembers({ id: 'm', contentType: 'text/csv', body: blob })
    const exported = await client.exportMembers({ id: 'm', accept: 'text/plain' })
    assert.deepEqual((await exported.text()).trim().split('\n').sort(), ['one', 'three', 'two'])
  },
  limits: async (client) => {
    await client.setResourceConfig({ resource: 'chat', body: { limits: { rpm: LIMIT } } })
    const lease = await client.acquire({ body: { entity: 'u', resource: 'chat' } })
    assert.equal(lease.limits.rpm!.remaining, 0)
    const denied = await caught(client.acquire({ body: { entity: 'u', resource: 'chat' } }))
    assert.deepEqual([denied.status, denied.code, denied.retryAfter], [429, 'QUOTA_EXCEEDED', 60])
    assert.equal((denied.body as { retryAfterMs: number }).retryAfterMs, 60_000)
    await client.releaseLease({ leaseId: lease.leaseId })
    assert.equal((await client.getLimits({ entity: 'u', resource: 'chat' })).limits.rpm!.remaining, 1)
  },
  idempotency: async (client) => {
    const at = { operation: 'PRODUCE', key: 'k' }
    const claim = await client.claimRequest({ ...at, idempotencyExpirySeconds: '3600' })
    assert.ok(claim.status === 'IN_PROGRESS')
    await client.completeRequest({ ...at, body: { token: claim.token, response: { id: 7 } } })
    const replay = await client.claimRequest(at)
    assert.deepEqual(replay, { status: 'COMPLETED', response: { id: 7 } })
  },
  codes: async (client) => {
    const address = 'ann@example.com'
    const { code } = await client.issueCode({ channel: 'email', body: { address } })
    assert.deepEqual(await client.verifyCode({ channel: 'email', body: { address, code } }), { valid: true })
  },
  tokens: async (client) => {
    await client.revokeToken({ jti: 't', body: { expiresAt: new Date(NOW + 60_000).toISOString() } })
    assert.equal((await client.checkToken({ jti: 't' })).revoked, true)
  },
  locks: async (client) => {
    const { token } = await client.acquireLock({ name: 'claim:1', body: { ttlMs: 5000 } })
    assert.equal((await client.getLock({ name: 'claim:1' })).held, true)
    await client.releaseLock({ name: 'claim:1', body: { token } })
  },
  cache: async (client) => {
    await client.setCached({ space: 'things', key: 'a', body: { value: [1] } })
    assert.deepEqual((await client.getCached({ space: 'things', key: 'a' })).value, [1])
  },
  flags: async (client) => {
    const body = { context: { targetingKey: 'one' } }
    assert.equal((await client.evaluateFlag({ key: 'm', body })).value, true)
    const missing = await caught(client.evaluateFlag({ key: 'none', body }))
    assert.equal(missing.status, 404)
    assert.equal((missing.body as { errorCode: string }).errorCode, 'FLAG_NOT_FOUND')
    assert.deepEqual((await client.evaluateFlags({ body })).flags, [])
  },
  operations: async (client) => {
    assert.deepEqual(await client.live(), { status: 'live' })
    assert.equal((await client.health()).status, 'healthy')
  },
  audit: async (client) => {
    await client.createAllowlist({ body: { id: 'audited', name: 'Audited', type: 'FIXA' } })
    const { items } = await client.listAudit({ target: 'allowlist:audited' })
    assert.deepEqual(
      items.map(({ action }) => action),
      ['allowlist.create'],
    )
  },
  keys: async (client, server) => {
    const { key } = await client.createKey({ body: { name: 'console', scopes: ['admin'] } })
    assert.equal((await caught(client.listKeys())).code, 'UNAUTHENTICATED')
    const keyed = createClient({ url: server.url, key: () => key })
    assert.deepEqual(
      (await keyed.listKeys()).items.map(({ name }) => name),
      ['console'],
    )
  },
}

describe('the typed client', () => {
  it('is what the generator makes of the operations', () => {
    const generator = fileURLToPath(new URL('../../../scripts/generate-client.mjs', import.meta.url))
    const dist = fileURLToPath(new URL('../..', import.meta.url))
    const { status, stderr } = spawnSync(process.execPath, [generator, '--check', '--dist', dist], {
      encoding: 'utf8',
    })
    assert.deepEqual([status, stderr], [0, ''])
  })

  it('speaks to each part of a real server', async (t) => {
    const { server, client } = await start(t)
    const { paths } = (await server.call('GET', '/openapi.json')).json
    type Described = { tags: string[]; operationId: string }
    const described = Object.values<Record<string, Described>>(paths).flatMap((path) => Object.values(path))
    assert.deepEqual(Object.keys(BY_TAG).sort(), [...new Set(described.flatMap(({ tags }) => tags))].sort())
    assert.deepEqual(Object.keys(OPERATIONS).sort(), described.map(({ operationId }) => operationId).sort())
    for (const [tag, use] of Object.entries(BY_TAG)) await t.test(tag, () => use(client, server))
  })
})

describe('a call that goes wrong', () => {
  it('tells which fields were refused', async (t) => {
    const { client } = await start(t)
    const body = { id: 'no good', name: 'x', type: 'FIXA' } as const
    const error = await caught(client.createAllowlist({ body }))
    assert.deepEqual([error.status, error.code, error.errors[0]?.path], [400, 'INVALID_INPUT', 'id'])
    assert.ok(error.requestId)
  })

  it('never sends a path that would mean another route', async () => {
    const fetch = () => assert.fail('nothing may be sent')
    const client = createClient({ url: 'http://127.0.0.1:1', fetch })
    for (const id of ['', '.', '..']) {
      assert.equal((await caught(client.deleteAllowlist({ id }))).code, 'INVALID_INPUT')
    }
  })

  it('says whether the server was late, away, or not asked any more', async (t) => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1')
    t.after(() => silent.close().closeAllConnections())
    await new Promise((resolve) => silent.once('listening', resolve))
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`
    assert.equal((await caught(createClient({ url, timeoutMs: 20 }).live())).code, 'TIMEOUT')
    const gone = AbortSignal.abort()
    assert.equal((await caught(createClient({ url }).live({}, { signal: gone }))).code, 'ABORTED')
    assert.equal((await caught(createClient({ url: 'http://127.0.0.1:1' }).live())).code, 'UNREACHABLE')
  })

  it('takes a key with the end of its line, and shows none that cannot be sent', async (t) => {
    const { server } = await start(t)
    const { key } = await server.catraca.keys.create({ name: 'ops', scopes: ['read'] })
    await until('locked', () => server.keyed)
    const session = await createClient({ url: server.url, key: () => `${key}\n` }).getSession()
    assert.equal(session.name, 'ops')
    for (const wrong of [`${key}\nX-Other: 1`, `${key} …`, '']) {
      const error = await caught(createClient({ url: server.url, key: wrong }).getSession())
      assert.deepEqual([error.code, error.errors[0]?.path], ['INVALID_INPUT', 'key'])
      assert.ok(!inspect(error, { depth: 9 }).includes(key))
    }
  })

  it('leaves nothing on the signal of a stream that was refused', async (t) => {
    const { client } = await start(t)
    const { signal } = new AbortController()
    await caught(client.exportMembers({ id: 'none' }, { signal }))
    assert.equal(getEventListeners(signal, 'abort').length, 0)
  })

  it('keeps its key from wherever a redirect leads', async (t) => {
    const seen: string[] = []
    const proxy = createServer((request, response) => {
      seen.push(request.url!)
      response.writeHead(302, { location: '/elsewhere' }).end()
    }).listen(0, '127.0.0.1')
    t.after(() => proxy.close().closeAllConnections())
    await new Promise((resolve) => proxy.once('listening', resolve))
    const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/`
    assert.equal((await caught(createClient({ url, key: 'secret' }).live())).code, 'UNREACHABLE')
    assert.deepEqual(seen, ['/live'])
  })
})
