import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { bearer, knownKey, serve, until } from './support.js'

const list = { id: 'vip', name: 'VIP', type: 'FIXA' }

describe('the audit trail over HTTP', () => {
  it('keeps the reason of every change, and finds it', async (t) => {
    const server = await serve(t)
    const { call } = server
    const because = (reason: string) => ({ headers: { 'catraca-reason': encodeURIComponent(reason) } })
    await call('POST', '/allowlists', { ...because('lançamento «é»'), body: list })
    await call('PUT', '/allowlists/vip/customers/ann', because('asked by ann'))
    await call('POST', '/allowlists/vip/import', {
      headers: { ...because('batch').headers, 'content-type': 'text/plain' },
      body: 'bob\n',
    })
    await call('DELETE', '/allowlists/vip', because('line 1\nline 2'))
    await call('POST', '/allowlists', { body: list })
    const { json } = await call('GET', '/audit')
    assert.deepEqual(
      json.items.map(({ reason }: { reason?: string }) => reason),
      [undefined, 'line 1\nline 2', 'batch', 'asked by ann', 'lançamento «é»'],
    )
    const found = await call('GET', `/audit?search=${encodeURIComponent('LANÇAMENTO')}`)
    assert.equal(found.json.items.length, 1)
    for (const reason of [
      '',
      '%',
      '%E9',
      encodeURIComponent('x'.repeat(501)),
      encodeURIComponent('\u0007'),
    ]) {
      const refused = await call('DELETE', '/allowlists/vip', { headers: { 'catraca-reason': reason } })
      assert.deepEqual([refused.status, refused.json.errors[0].path], [400, 'catraca-reason'], reason)
    }
    assert.equal((await call('GET', '/allowlists/vip')).status, 200)
  })

  it('names the key and the request of every change', async (t) => {
    const server = await serve(t)
    const { call } = server
    const { key: ops, id: opsId } = await knownKey(server, 'ops', ['admin', 'limits', 'idempotency'])
    const { key: security, id: securityId } = await knownKey(server, 'security', ['tokens:revoke'])
    const as = (key: string, id: string) => ({ headers: { ...bearer(key), 'x-request-id': id } })
    const changes: [string, string, string, object | undefined, string][] = [
      [ops, 'POST', '/allowlists', list, 'allowlist.create'],
      [ops, 'PUT', '/allowlists/vip/customers/ann', {}, 'allowlist.member.add'],
      [ops, 'PATCH', '/allowlists/vip', { name: 'V' }, 'allowlist.update'],
      [ops, 'POST', '/allowlists/vip/rebuild', undefined, 'allowlist.rebuild'],
      [ops, 'DELETE', '/allowlists/vip/customers/ann', undefined, 'allowlist.member.remove'],
      [
        ops,
        'PUT',
        '/config/system/gpt',
        { limits: { rpm: { capacity: 5, refillPeriodSeconds: 60 } } },
        'limit.config.set',
      ],
      [ops, 'DELETE', '/limits/ann/gpt', undefined, 'limit.reset'],
      [ops, 'DELETE', '/config/system/gpt', undefined, 'limit.config.delete'],
      [ops, 'PUT', '/entities/ann', { parent: 'org' }, 'entity.set'],
      [security, 'PUT', '/revoked-tokens/a', { expiresAt: '2099-01-01T00:00:00Z' }, 'token.revoke'],
      [ops, 'POST', '/keys', { name: 'new', scopes: ['read'] }, 'key.create'],
      [ops, 'DELETE', '/keys/new', undefined, 'key.revoke'],
      [ops, 'DELETE', '/allowlists/vip', undefined, 'allowlist.delete'],
    ]
    for (const [i, [key, method, path, body, action]] of changes.entries()) {
      const { status, text } = await call(method, path, { ...as(key, `request-${i}`), body })
      assert.ok(status < 300, `${method} ${path}: ${text}`)
      // What is answered while it goes on is recorded when it is done.
      await until(action, async () => {
        const { json } = await call('GET', '/audit?limit=1', as(ops, 'reading'))
        return json.items[0].action === action
      })
    }
    const { status, json } = await call('GET', '/audit', as(ops, 'reading'))
    assert.equal(status, 200)
    assert.deepEqual(
      json.items
        .slice(0, changes.length)
        .reverse()
        .map(({ actor, action, requestId, requestIdFrom }: Record<string, unknown>) => ({
          actor,
          action,
          requestId,
          requestIdFrom,
        })),
      changes.map(([key, , , , action], i) => ({
        actor: {
          kind: 'key',
          ...(key === ops ? { name: 'ops', id: opsId } : { name: 'security', id: securityId }),
        },
        action,
        requestId: `request-${i}`,
        requestIdFrom: 'caller',
      })),
    )
    const byId = await call('GET', `/audit?actor=${securityId}`, as(ops, 'reading'))
    assert.deepEqual(
      byId.json.items.map(({ action }: { action: string }) => action),
      ['token.revoke'],
    )
  })

  it('tells an id of the server from one that the caller chose, also when that looks like one', async (t) => {
    const { call } = await serve(t)
    const first = await call('POST', '/allowlists', { body: list })
    const ours = first.headers['x-request-id'] as string
    const headers = { 'x-request-id': ours }
    const copied = await call('PATCH', '/allowlists/vip', { headers, body: { name: 'V' } })
    assert.notEqual(copied.headers['x-request-id'], ours)
    const { json } = await call('GET', '/audit')
    assert.deepEqual(
      json.items.map(({ requestId, requestIdFrom }: Record<string, unknown>) => [requestId, requestIdFrom]),
      [
        [copied.headers['x-request-id'], undefined],
        [ours, undefined],
      ],
    )
  })

  it('names an import, also one in the background, and nobody on a server without keys', async (t) => {
    const { call } = await serve(t)
    await call('POST', '/allowlists', { body: list })
    const headers = { 'content-type': 'text/csv', 'x-request-id': 'r-1' }
    const csv = { headers, body: 'customerId\na\nb\n' }
    assert.equal((await call('POST', '/allowlists/vip/import?importId=one&async=1', csv)).status, 202)
    let items: { actor: object; requestId: string; detail: object }[] = []
    await until('the entry', async () => {
      items = (await call('GET', '/audit?action=allowlist.import')).json.items
      return items.length > 0
    })
    assert.deepEqual(
      items.map(({ actor, requestId }) => [actor, requestId]),
      [[{ kind: 'anonymous', name: 'anonymous' }, 'r-1']],
    )
    const counts = { added: 2, unchanged: 0, removed: 0, rejected: 0, customerCount: 2 }
    assert.deepEqual(items[0]!.detail, { importId: 'one', mode: 'add', ...counts })
  })

  it('pages and filters, and refuses what is wrong by the name of the field', async (t) => {
    const { call } = await serve(t)
    await call('POST', '/allowlists', { body: list })
    for (let i = 0; i < 5; i++) await call('PUT', `/allowlists/vip/customers/c${i}`, { body: {} })
    const first = (await call('GET', '/audit?target=allowlist:vip&limit=4')).json
    assert.equal(first.items.length, 4)
    const path = `/audit?target=allowlist:vip&limit=4&cursor=${first.nextCursor}`
    const second = (await call('GET', path)).json
    assert.deepEqual(
      [...first.items, ...second.items].map(({ target }) => target.customerId),
      ['c4', 'c3', 'c2', 'c1', 'c0', undefined],
    )
    assert.equal((await call('GET', '/audit?target=customer:c3')).json.items.length, 1)
    for (const [query, field] of [
      ['target=vip', 'target'],
      ['limit=0', 'limit'],
      ['cursor=x', 'cursor'],
      ['from=soon', 'from'],
      ['who=me', 'who'],
    ]) {
      const { status, json } = await call('GET', `/audit?${query}`)
      assert.deepEqual([status, json.errors?.[0]?.path], [400, field], query)
    }
  })

  it('is for administrators, and nobody can write to it', async (t) => {
    const server = await serve(t)
    const { call } = server
    const { key } = await knownKey(server, 'reader', ['read', 'check'])
    const { key: admin } = await knownKey(server, 'admin', ['admin'])
    assert.equal((await call('GET', '/audit', { headers: bearer(key) })).status, 403)
    assert.equal((await call('GET', '/audit')).status, 401)
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      assert.equal((await call(method, '/audit', { headers: bearer(admin) })).status, 404, method)
    }
    const { text } = await call('GET', '/audit', { headers: bearer(admin) })
    assert.ok(!text.includes(key) && !text.includes(admin) && !text.includes('ctr_'))
  })

  it('does not record traffic', async (t) => {
    const { call } = await serve(t)
    await call('POST', '/locks/job', { body: { ttlMs: 1000 } })
    await call('POST', '/idempotency/PAY/k', { body: {} })
    await call('POST', '/otp/email', { body: { address: 'ann@example.com' } })
    await call('GET', '/customers/ann/check?allowlists=vip')
    assert.deepEqual((await call('GET', '/audit')).json, { items: [] })
  })
})
