import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ManualClock } from '../../src/core/clock.js'
import { bearer, knownKey, serve, type TestServer } from './support.js'

const HOUR_MS = 3_600_000

/** The items of all pages. */
async function all(server: TestServer, path: string): Promise<Record<string, unknown>[]> {
  const items: Record<string, unknown>[] = []
  let cursor = ''
  do {
    const { status, json } = await server.call('GET', `${path}${cursor}`)
    assert.equal(status, 200, JSON.stringify(json))
    items.push(...json.items)
    cursor = json.nextCursor === undefined ? '' : `&cursor=${encodeURIComponent(json.nextCursor)}`
  } while (cursor !== '')
  return items
}

describe('explorers', () => {
  it('list locks by name and age, and never their tokens', async (t) => {
    const server = await serve(t)
    const { call } = server
    const { json: held } = await call('POST', '/locks/claim:1', { body: { ttlMs: 60_000 } })
    await call('POST', '/locks/claim:2', { body: { ttlMs: 60_000 } })
    await call('POST', '/locks/other', { body: {} })
    const found = await all(server, '/locks?prefix=claim:&limit=1')
    assert.deepEqual(
      found.map(({ name }) => name),
      ['claim:1', 'claim:2'],
    )
    assert.deepEqual([found[0]!.fence, 'token' in found[0]!], [held.fence, false])
    assert.deepEqual(await all(server, '/locks?olderThanSeconds=3600'), [])
    for (const query of ['prefix=a/b', 'olderThanSeconds=-1', 'cursor=x', 'state=held'])
      assert.equal((await call('GET', `/locks?${query}`)).status, 400, query)
  })

  it('list records by operation, status and age, and never responses or owners', async (t) => {
    const server = await serve(t)
    const { call } = server
    const { json: claim } = await call('POST', '/idempotency/PAY/a:1', { body: { leaseSeconds: 60 } })
    const { json: second } = await call('POST', '/idempotency/PAY/a:2', { body: {} })
    await call('POST', '/idempotency/PAY/a:2/complete', { body: { token: second.token, response: 'secret' } })
    await call('POST', '/idempotency/SEND/a:1', { body: {} })
    const found = await all(server, '/idempotency?operation=PAY&prefix=a&limit=1')
    assert.deepEqual(
      found.map(({ key, status }) => [key, status]),
      [
        ['a:1', 'IN_PROGRESS'],
        ['a:2', 'COMPLETED'],
      ],
    )
    const text = JSON.stringify(found)
    assert.ok(!text.includes(claim.token) && !text.includes('secret'))
    assert.equal((await all(server, '/idempotency?status=IN_PROGRESS')).length, 2)
    assert.equal((await all(server, '/idempotency?leaseEnded=true')).length, 0)
    assert.equal((await call('GET', '/idempotency?status=DONE')).status, 400)
  })

  it('list what is cached and what is limited, for keys with the scope or admin only', async (t) => {
    const server = await serve(t, {}, { cache: { spaces: [{ name: 'cards', ttlMs: 60_000 }] } })
    const { call, catraca } = server
    await call('PUT', '/cache/cards/a:1', { body: { value: { secret: 1 } } })
    await call('PUT', '/cache/cards/b:1', { body: { value: 2 } })
    const [entry, ...others] = await all(server, '/cache/cards?prefix=a')
    assert.deepEqual([entry!.key, others.length, 'value' in entry!], ['a:1', 0, false])
    assert.equal((await call('GET', '/cache/none')).status, 404)
    const limits = { rpm: { capacity: 5, refillPeriodSeconds: 3600 } }
    await catraca.limits.setConfig({ level: 'system', resource: 'gpt' }, { limits })
    await call('POST', '/limits/acquire', { body: { entity: 'org:1', resource: 'gpt', consume: { rpm: 2 } } })
    const [subject] = await all(server, '/limits?prefix=org&resource=gpt')
    assert.deepEqual(
      [subject!.entity, (subject!.limits as typeof limits & { rpm: { remaining: number } }).rpm.remaining],
      ['org:1', 3],
    )
    await catraca.limits.deleteConfig({ level: 'system', resource: 'gpt' })
    const [unconfigured] = await all(server, '/limits?prefix=org')
    assert.deepEqual(unconfigured, { entity: 'org:1', resource: 'gpt' })
    assert.equal((await call('GET', '/limits?limit=101')).status, 400)
    const { key: admin } = await knownKey(server, 'boss', ['admin'])
    const { key: reader } = await knownKey(server, 'reader', ['read'])
    for (const path of ['/locks', '/idempotency', '/cache/cards', '/limits']) {
      assert.equal((await call('GET', path, { headers: bearer(admin) })).status, 200, path)
      assert.equal((await call('GET', path, { headers: bearer(reader) })).status, 403, path)
    }
  })
})

describe('why a customer may not pass', () => {
  it('says it of all lists at once, with the facts for a sentence', async (t) => {
    const clock = new ManualClock(Date.parse('2030-01-01T00:00:00Z'))
    const server = await serve(t, {}, { clock })
    const { call } = server
    const at = clock.now() + HOUR_MS
    const wave = (id: string, config: object) =>
      call('POST', '/allowlists', { body: { id, name: `Wave ${id}`, type: 'ONDA', config } })
    await call('POST', '/allowlists', { body: { id: 'base', name: 'Base', type: 'FIXA' } })
    await call('PUT', '/allowlists/base/customers/bob', {
      body: { expiresAt: new Date(clock.now() + 60_000).toISOString() },
    })
    clock.advance(120_000)
    await wave('w-closed', { strategy: 'PERCENTAGE', percentage: 0 })
    await wave('w-soon', { strategy: 'PERCENTAGE', percentage: 0, ramp: [{ at, percentage: 1 }] })
    await wave('w-based', { strategy: 'PERCENTAGE', percentage: 1, base: 'base' })
    await wave('w-without', { strategy: 'PERCENTAGE', percentage: 1, exclude: ['w-open'] }).then(
      ({ status }) => assert.equal(status, 400),
    )
    await wave('w-open', { strategy: 'PERCENTAGE', percentage: 1 })
    await wave('w-without', { strategy: 'PERCENTAGE', percentage: 1, exclude: ['w-open'] })
    await wave('w-later', { strategy: 'TIME_WINDOW', startTime: at })
    await wave('w-paused', { strategy: 'PERCENTAGE', percentage: 1 })
    await call('POST', '/allowlists/w-paused/pause')
    const results = new Map<string, Record<string, unknown>>()
    let next: string | undefined = '/customers/bob/explain?limit=3'
    while (next !== undefined) {
      const {
        status,
        json,
      }: { status: number; json: { results: Record<string, unknown>[]; nextCursor?: string } } = await call(
        'GET',
        next,
      )
      assert.equal(status, 200)
      for (const result of json.results) results.set(result.allowlistId as string, result)
      next = json.nextCursor && `/customers/bob/explain?limit=3&cursor=${json.nextCursor}`
    }
    const why = (id: string) => results.get(id)!.why as Record<string, unknown>
    const soon = new Date(at).toISOString()
    assert.deepEqual([results.size, results.get('base')!.name], [8, 'Base'])
    assert.deepEqual(why('base'), { expiredAt: '2030-01-01T00:01:00.000Z' })
    const { place, ...closed } = why('w-closed')
    assert.ok((place as number) >= 0 && (place as number) < 1)
    assert.deepEqual(closed, { share: 0, neverReached: true })
    const { place: _, ...reached } = why('w-soon')
    assert.deepEqual(reached, { share: 0, reachesAt: soon })
    assert.deepEqual(why('w-based'), { decidedBy: 'base' })
    assert.deepEqual(why('w-without'), { decidedBy: 'w-open' })
    assert.deepEqual(why('w-later'), { opensAt: soon })
    const { place: __, ...paused } = why('w-paused')
    assert.deepEqual(paused, { pausedAt: new Date(clock.now()).toISOString(), share: 0 })
    assert.equal(results.get('w-open')!.allowed, true)
    const { json: denied } = await call('GET', '/customers/bob/explain?outcome=allowed&type=ONDA')
    assert.deepEqual(
      denied.results.map(({ allowlistId }: { allowlistId: string }) => allowlistId),
      ['w-open'],
    )
    // A page is filled with lists of the type, and ends where there are no more.
    const waves: string[][] = []
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const path = `/customers/bob/explain?type=ONDA&limit=2${cursor && `&cursor=${cursor}`}`
      const { json }: { json: { results: { allowlistId: string }[]; nextCursor?: string } } = await call(
        'GET',
        path,
      )
      waves.push(json.results.map(({ allowlistId }) => allowlistId))
      cursor = json.nextCursor
    }
    assert.deepEqual(
      waves.slice(0, -1).map(({ length }) => length),
      waves.slice(0, -1).map(() => 2),
    )
    assert.ok(waves.at(-1)!.length > 0)
    assert.equal(
      new Set(waves.flat()).size,
      [...results.values()].filter(({ type }) => type === 'ONDA').length,
    )
    for (const query of ['allowlists=base&outcome=denied', 'limit=201', 'outcome=maybe'])
      assert.equal((await call('GET', `/customers/bob/explain?${query}`)).status, 400, query)
  })

  it('counts which lists and limits deny most', async (t) => {
    const server = await serve(t)
    const { call, catraca } = server
    await catraca.allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
    await catraca.allowlists.create({ id: 'quiet', name: 'Quiet', type: 'FIXA' })
    for (let i = 0; i < 3; i++) await call('GET', `/customers/c${i}/check?allowlists=vip`)
    const { json } = await call('GET', '/stats/denials?limit=5')
    assert.deepEqual(json.lists, [{ allowlistId: 'vip', denied: 3, allowed: 0 }])
    assert.deepEqual(json.limits, [])
    assert.equal((await call('GET', '/stats/denials?limit=0')).status, 400)
  })
})

describe('who is in a wave', () => {
  it('is named as a sample and as an export, where there is a base', async (t) => {
    const server = await serve(t)
    const { call, catraca } = server
    const { allowlists } = catraca
    await allowlists.create({ id: 'base', name: 'Base', type: 'FIXA' })
    const ids = Array.from({ length: 300 }, (_, i) => `c${i}`)
    await call('POST', '/allowlists/base/import', {
      headers: { 'content-type': 'text/plain' },
      body: ids.join('\n'),
    })
    const config = { strategy: 'PERCENTAGE', percentage: 0.3, base: 'base' } as const
    await allowlists.create({ id: 'w', name: 'W', type: 'ONDA', config })
    await allowlists.create({
      id: 'above',
      name: 'Above',
      type: 'ONDA',
      config: { ...config, percentage: 1, base: 'w' },
    })
    const { results } = await allowlists.checkMany({ customerIds: ids, allowlists: ['w'] })
    const expected = results
      .filter(({ overallAllowed }) => overallAllowed)
      .map(({ customerId }) => customerId)
    assert.ok(expected.length > 40 && expected.length < 160, `${expected.length} are in`)
    for (const id of ['w', 'above']) {
      const { text } = await call('GET', `/allowlists/${id}/export`, { headers: { accept: 'text/plain' } })
      assert.deepEqual(text.trim().split('\n').sort(), expected.toSorted())
    }
    const { json: few } = await call('GET', '/allowlists/w/sample?limit=5')
    assert.deepEqual([few.items.length, few.more], [5, true])
    assert.ok(few.items.every(({ customerId }: { customerId: string }) => expected.includes(customerId)))
    await allowlists.update('w', { config: { ...config, percentage: 0 } })
    assert.deepEqual((await call('GET', '/allowlists/w/sample')).json, {
      items: [],
      examined: 300,
      more: false,
    })
    await allowlists.create({
      id: 'all',
      name: 'All',
      type: 'ONDA',
      config: { strategy: 'PERCENTAGE', percentage: 1 },
    })
    for (const path of ['/allowlists/all/sample', '/allowlists/all/export', '/allowlists/base/sample']) {
      const { status, json } = await call('GET', path)
      assert.deepEqual([status, json.code], [409, 'WRONG_ALLOWLIST_TYPE'], path)
    }
  })
})

describe('the audit trail for readers', () => {
  it('says what differs, field by field, and exports it', async (t) => {
    const server = await serve(t)
    const { call } = server
    const config = { strategy: 'PERCENTAGE', percentage: 0.25 }
    await call('POST', '/allowlists', { body: { id: 'w', name: 'W', type: 'ONDA', config } })
    const headers = { 'catraca-reason': encodeURIComponent('=too many "errors"') }
    await call('PATCH', '/allowlists/w', {
      headers,
      body: { config: { ...config, percentage: 0.5, endTime: 9 }, owner: 'ana' },
    })
    const { json } = await call('GET', '/audit')
    assert.deepEqual(json.items[0].changes, [
      { field: 'config.percentage', before: 0.25, after: 0.5 },
      { field: 'config.endTime', after: 9 },
      { field: 'owner', after: 'ana' },
    ])
    const exported = await call('GET', '/audit/export?action=allowlist.update')
    assert.match(String(exported.headers['content-type']), /^text\/csv/)
    const [head, row, end] = exported.text.split('\n')
    assert.ok(head!.startsWith('at,actor,action,target,reason,'))
    assert.ok(
      row!.includes('anonymous:anonymous,allowlist.update,allowlist:w,"\'=too many ""errors""",'),
      row,
    )
    assert.ok(
      row!.includes('config.percentage: 0.25 -> 0.5; config.endTime: (none) -> 9; owner: (none) -> ana'),
      row,
    )
    assert.equal(end, '')
    assert.equal((await call('GET', '/audit/export?limit=3')).status, 400)
  })
})
