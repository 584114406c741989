import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ManualClock } from '../../src/core/clock.js'
import { serve } from './support.js'

describe('/allowlists', () => {
  it('makes, reads, changes and deletes a list', async (t) => {
    const server = await serve(t)
    const body = { id: 'vip', name: 'VIP — ouro', type: 'FIXA' }
    const made = await server.call('POST', '/allowlists', { body })
    assert.equal(made.status, 201)
    assert.deepEqual([made.headers.location, made.headers.etag], ['/allowlists/vip', '"1"'])
    const { createdAt, updatedAt, ...rest } = made.json
    const facts = { precision: 'exact', customerCount: 0, version: 1, shardCount: 1 }
    assert.deepEqual(rest, { ...body, ...facts })
    assert.match(createdAt, /^\d{4}-\d\d-\d\dT.*Z$/)
    assert.equal(updatedAt, createdAt)

    const read = await server.call('GET', '/allowlists/vip')
    assert.deepEqual([read.status, read.headers.etag, read.json], [200, '"1"', made.json])
    const again = await server.call('POST', '/allowlists', { body })
    assert.deepEqual([again.status, again.json.code], [409, 'ALLOWLIST_EXISTS'])

    const changed = await server.call('PATCH', '/allowlists/vip', { body: { name: 'Gold' } })
    assert.deepEqual([changed.status, changed.headers.etag, changed.json.name], [200, '"2"', 'Gold'])
    const deleted = await server.call('DELETE', '/allowlists/vip')
    assert.deepEqual([deleted.status, deleted.text], [204, ''])
    for (const method of ['GET', 'DELETE']) {
      const gone = await server.call(method, '/allowlists/vip')
      assert.deepEqual([gone.status, gone.json.code], [404, 'ALLOWLIST_NOT_FOUND'], method)
    }
  })

  it('gives a list an id when none is asked for', async (t) => {
    const server = await serve(t)
    const { json } = await server.call('POST', '/allowlists', { body: { name: 'x', type: 'FIXA' } })
    assert.match(json.id, /^[0-9a-f-]{36}$/)
  })

  it('sends the whole rule of a wave', async (t) => {
    const server = await serve(t)
    const config = {
      strategy: 'PERCENTAGE',
      percentage: 0.25,
      startTime: 1_700_000_000_000,
      endTime: 1_800_000_000_000,
      ramp: [{ at: 1_700_000_100_000, percentage: 0.5 }],
      base: 'base',
      exclude: ['not'],
    }
    for (const id of ['base', 'not']) await server.catraca.allowlists.create({ id, name: id, type: 'FIXA' })
    const body = { id: 'w', name: 'W', type: 'ONDA', config }
    assert.deepEqual((await server.call('POST', '/allowlists', { body })).json.config, config)
    assert.deepEqual((await server.call('GET', '/allowlists/w')).json.config, config)
    const inUse = await server.call('DELETE', '/allowlists/base')
    assert.deepEqual([inUse.status, inUse.json.code], [409, 'ALLOWLIST_IN_USE'])
  })

  it('changes only the version that was meant', async (t) => {
    const server = await serve(t)
    await server.catraca.allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
    const patch = (ifMatch: string) =>
      server.call('PATCH', '/allowlists/vip', { body: { name: ifMatch }, headers: { 'if-match': ifMatch } })
    const right: [string, number][] = [
      ['"1"', 2],
      ['2', 3],
      ['W/"3"', 4],
      ['*', 5],
    ]
    for (const [ifMatch, version] of right) {
      const { status, json } = await patch(ifMatch)
      assert.deepEqual([status, json.version], [200, version], ifMatch)
    }
    for (const ifMatch of ['"1"', '4', 'W/"6"', '"abc"']) {
      const { status, json } = await patch(ifMatch)
      assert.deepEqual([status, json.code], [412, 'VERSION_MISMATCH'], ifMatch)
    }
    for (const ifMatch of ['abc', '"1", "2"', '"5', '-1', '1.5']) {
      const { status, json } = await patch(ifMatch)
      assert.deepEqual([status, json.errors?.[0].path], [400, 'If-Match'], ifMatch)
    }
    assert.equal((await server.call('GET', '/allowlists/vip')).json.version, 5)
  })

  it('pauses a wave whatever its version, and resumes it', async (t) => {
    const server = await serve(t)
    const config = { strategy: 'PERCENTAGE', percentage: 0.5 }
    await server.call('POST', '/allowlists', { body: { id: 'w', name: 'W', type: 'ONDA', config } })
    const stale = { 'if-match': '"9"' }
    const paused = await server.call('POST', '/allowlists/w/pause', { headers: stale })
    assert.deepEqual([paused.status, paused.headers.etag], [200, '"2"'])
    assert.deepEqual([paused.json.config.percentage, paused.json.paused.config], [0, config])
    assert.equal((await server.call('POST', '/allowlists/w/resume', { headers: stale })).status, 412)
    const resumed = await server.call('POST', '/allowlists/w/resume', { headers: { 'if-match': '"2"' } })
    assert.deepEqual([resumed.status, resumed.json.config, resumed.json.paused], [200, config, undefined])
    const again = await server.call('POST', '/allowlists/w/resume')
    assert.deepEqual([again.status, again.json.code], [409, 'WAVE_NOT_PAUSED'])
  })

  it('resumes with the later steps of the ramp moved by the time paused', async (t) => {
    const clock = new ManualClock(Date.parse('2030-01-01T00:00:00Z'))
    const server = await serve(t, {}, { clock })
    const at = (hours: number) => clock.now() + hours * 3_600_000
    const ramp = [
      { at: at(-1), percentage: 0.1 },
      { at: at(2), percentage: 0.5 },
      { at: at(4), percentage: 1 },
    ]
    const config = { strategy: 'PERCENTAGE', ramp }
    await server.call('POST', '/allowlists', { body: { id: 'w', name: 'W', type: 'ONDA', config } })
    await server.call('POST', '/allowlists/w/pause')
    clock.advance(3 * 3_600_000)
    for (const body of [{ shift: 'yes' }, { later: true }])
      assert.equal((await server.call('POST', '/allowlists/w/resume', { body })).status, 400)
    const { json } = await server.call('POST', '/allowlists/w/resume', { body: { shift: true } })
    const [first, second, third] = ramp
    assert.deepEqual(json.config, {
      ...config,
      ramp: [first, { ...second, at: second!.at + 10_800_000 }, { ...third, at: third!.at + 10_800_000 }],
    })
    const nextStep = { at: '2030-01-01T05:00:00.000Z', turn: 'ramp', share: 0.5 }
    assert.deepEqual(json.wave, { state: 'partial', share: 0.1, nextStep })
    const { json: trail } = await server.call('GET', '/audit?action=allowlist.resume')
    assert.deepEqual(trail.items[0].detail, { shiftedMs: 10_800_000 })
  })

  it('labels lists, and finds them by their labels, their beginning and their state', async (t) => {
    const server = await serve(t)
    const { call } = server
    const at = Date.now() + 3_600_000
    const bodies = [
      {
        id: 'vip',
        name: 'Clientes',
        type: 'FIXA',
        tags: ['b', 'a', 'b'],
        owner: ' Ana ',
        description: 'x\ny',
      },
      {
        id: 'wave',
        name: 'VIPs',
        type: 'ONDA',
        tags: ['a'],
        config: { strategy: 'PERCENTAGE', percentage: 0.01, base: 'vip', ramp: [{ at, percentage: 1 }] },
      },
      {
        id: 'off',
        name: 'Off',
        type: 'ONDA',
        config: { strategy: 'PERCENTAGE', percentage: 0, exclude: ['vip'] },
      },
    ]
    for (const body of bodies) assert.equal((await call('POST', '/allowlists', { body })).status, 201)
    const { json: vip } = await call('GET', '/allowlists/vip')
    assert.deepEqual([vip.tags, vip.owner, vip.description, vip.wave], [['a', 'b'], 'Ana', 'x\ny', undefined])
    const soon = new Date(at + 1).toISOString()
    const queries: [string, string[]][] = [
      ['tag=a', ['vip', 'wave']],
      ['tag=a&type=ONDA', ['wave']],
      ['owner=ana', ['vip']],
      ['prefix=vi', ['vip', 'wave']],
      ['prefix=ip', []],
      ['search=ana', ['vip']],
      ['state=partial', ['wave']],
      ['state=closed', ['off']],
      [`nextStepBefore=${soon}`, ['wave']],
      [`nextStepBefore=${new Date(at).toISOString()}`, []],
      ['sort=nextStepAt', ['wave', 'off', 'vip']],
    ]
    for (const [query, ids] of queries) {
      const { json } = await call('GET', `/allowlists?${query}`)
      assert.deepEqual(
        json.items.map(({ id }: { id: string }) => id),
        ids,
        query,
      )
      const pages = []
      let next = `/allowlists?${query}&limit=1`
      for (let i = 0; i < ids.length; i++) {
        const { json: page } = await call('GET', next)
        pages.push(...page.items.map(({ id }: { id: string }) => id))
        next = `/allowlists?${query}&limit=1&cursor=${page.nextCursor}`
      }
      assert.deepEqual(pages, ids, query)
    }
    const uses = [
      { allowlistId: 'off', name: 'Off', as: 'exclude' },
      { allowlistId: 'wave', name: 'VIPs', as: 'base' },
    ]
    assert.deepEqual((await call('GET', '/allowlists/vip/used-by')).json, { items: uses })
    assert.equal((await call('GET', '/allowlists/none/used-by')).status, 404)
    const { json: cleared } = await call('PATCH', '/allowlists/vip', { body: { tags: [], owner: '' } })
    assert.deepEqual([cleared.tags, cleared.owner, cleared.description], [undefined, undefined, 'x\ny'])
    const wrong: [object, string][] = [
      [{ tags: ['a b'] }, 'tags[0]'],
      [{ tags: Array(21).fill('a') }, 'tags'],
      [{ owner: 'a\nb' }, 'owner'],
      [{ description: 'x'.repeat(2001) }, 'description'],
    ]
    for (const [body, path] of wrong) {
      const { status, json } = await call('PATCH', '/allowlists/vip', { body })
      assert.deepEqual([status, json.errors?.[0].path], [400, path])
    }
    for (const query of ['state=half', 'nextStepBefore=soon', 'colour=red', `tag=${'x'.repeat(257)}`])
      assert.equal((await call('GET', `/allowlists?${query}`)).status, 400, query)
  })

  it('lets exactly one of many win a version', async (t) => {
    const server = await serve(t)
    await server.catraca.allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
    const patches = Array.from({ length: 8 }, (_, i) =>
      server.call('PATCH', '/allowlists/vip', { body: { name: `n${i}` }, headers: { 'if-match': '"1"' } }),
    )
    const statuses = (await Promise.all(patches)).map(({ status }) => status).sort()
    assert.deepEqual(statuses, [200, ...Array(7).fill(412)])
  })

  it('pages', async (t) => {
    const server = await serve(t)
    for (const id of ['a', 'b', 'c', 'd', 'e'])
      await server.catraca.allowlists.create({ id, name: id, type: 'FIXA' })
    const seen: string[] = []
    let query = '?limit=2'
    for (let page = 0; page < 5 && query !== ''; page++) {
      const { json } = await server.call('GET', `/allowlists${query}`)
      assert.ok(json.items.length <= 2)
      seen.push(...json.items.map(({ id }: { id: string }) => id))
      query = json.nextCursor === undefined ? '' : `?limit=2&cursor=${encodeURIComponent(json.nextCursor)}`
    }
    assert.deepEqual(seen, ['a', 'b', 'c', 'd', 'e'])
  })
})

describe('/allowlists/{id}/customers', () => {
  it('adds, replaces, reads and removes a member', async (t) => {
    const server = await serve(t)
    await server.catraca.allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
    const path = '/allowlists/vip/customers/ana'
    const added = await server.call('PUT', path)
    assert.deepEqual([added.status, added.json.added, added.json.customerCount], [201, true, 1])
    const body = {
      addedBy: 'crm',
      metadata: { tier: 'gold', deep: { list: [1, null] } },
      expiresAt: '2099-01-01T00:00:00.000Z',
    }
    const replaced = await server.call('PUT', path, { body })
    assert.deepEqual([replaced.status, replaced.json.added, replaced.json.customerCount], [200, false, 1])
    const { json } = await server.call('GET', path)
    const { addedAt, ...rest } = json
    assert.deepEqual(rest, { customerId: 'ana', ...body })
    assert.match(addedAt, /Z$/)
    assert.deepEqual((await server.call('GET', '/allowlists/vip/customers')).json, { items: [json] })

    const lists = await server.call('GET', '/customers/ana/allowlists')
    const item = { allowlistId: 'vip', name: 'VIP', addedAt, expiresAt: body.expiresAt }
    assert.deepEqual(lists.json, { items: [item] })
    const removed = await server.call('DELETE', path)
    assert.deepEqual([removed.status, removed.json.removed, removed.json.customerCount], [200, true, 0])
    const again = await server.call('DELETE', path)
    assert.deepEqual([again.status, again.json.removed], [200, false])
    const gone = await server.call('GET', path)
    assert.deepEqual([gone.status, gone.json.code], [404, 'MEMBER_NOT_FOUND'])
  })

  it('accepts an empty body under a content type', async (t) => {
    const server = await serve(t)
    await server.catraca.allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
    const headers = { 'content-type': 'application/json' }
    assert.equal((await server.call('PUT', '/allowlists/vip/customers/ana', { headers })).status, 201)
  })

  it('refuses what a member cannot have', async (t) => {
    const server = await serve(t)
    await server.catraca.allowlists.create({ id: 'vip', name: 'VIP', type: 'FIXA' })
    const wrong = [
      { expiresAt: 'tomorrow' },
      { expiresAt: 1_700_000_000_000 },
      { metadata: [] },
      { metadata: { text: 'x'.repeat(5000) } },
      { addedBy: '' },
      { color: 'red' },
    ]
    for (const body of wrong) {
      const { status, json } = await server.call('PUT', '/allowlists/vip/customers/ana', { body })
      assert.deepEqual([status, json.code], [400, 'INVALID_INPUT'], JSON.stringify(body).slice(0, 50))
    }
    assert.equal((await server.call('GET', '/allowlists/vip')).json.customerCount, 0)
  })

  it('belongs to FIXA lists that are there', async (t) => {
    const server = await serve(t)
    const config = { strategy: 'PERCENTAGE', percentage: 1 } as const
    await server.catraca.allowlists.create({ id: 'wave', name: 'W', type: 'ONDA', config })
    const wave = await server.call('PUT', '/allowlists/wave/customers/ana')
    assert.deepEqual([wave.status, wave.json.code], [409, 'WRONG_ALLOWLIST_TYPE'])
    for (const path of [
      '/allowlists/no/customers/ana',
      '/allowlists/no/customers',
      '/allowlists/no/export',
    ]) {
      const { status, json } = await server.call('GET', path)
      assert.deepEqual([status, json.code], [404, 'ALLOWLIST_NOT_FOUND'], path)
    }
  })
})
