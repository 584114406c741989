import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { SCOPES } from '../../src/guards/access/scopes.js'
import { WIRE } from '../../src/wire/index.js'
import type { Operation } from '../../src/wire/operation.js'
import { openSignInScene, type SignInScene, type TestBrowser } from '../support/oidc.js'

const ROLES = [
  { name: 'all', groups: ['platform'], scopes: ['admin'] },
  { name: 'team-a', groups: ['team-a'], scopes: SCOPES, lists: ['team-a-*'], resources: ['team-a-*'] },
  { name: 'reader-b', groups: ['sees-b'], scopes: ['read'], lists: ['team-b-*', 'shared'] },
  { name: 'checks', groups: ['checks'], scopes: ['check'], resources: ['x'] },
] as const

/** Every way to a list or resource by which somebody could reach those of others. */
describe('a role that is limited to some lists and resources', () => {
  let scene: SignInScene & { close(): Promise<void> }
  let bob: TestBrowser
  let carol: TestBrowser
  before(async () => {
    scene = await openSignInScene({ signIn: { roles: ROLES } })
    scene.provider.people.set('bob', { groups: ['team-a'] })
    scene.provider.people.set('carol', { groups: ['team-a', 'sees-b'] })
    scene.provider.people.set('dan', { groups: ['checks'] })
    const { allowlists, limits, audit } = scene.servers[0]!.catraca
    for (const id of ['team-a-one', 'team-b-one', 'team-c-one', 'shared']) {
      await audit.as({ name: 'setup' }, () => allowlists.create({ id, name: id, type: 'FIXA' }))
      await allowlists.add(id, 'alice')
    }
    for (const resource of ['team-a-api', 'team-b-api']) {
      const config = { limits: { rpm: { capacity: 1, refillAmount: 1, refillPeriodSeconds: 60 } } }
      await limits.setConfig({ level: 'resource', resource }, config)
      for (let i = 0; i < 3; i++) await limits.acquire({ entity: 'e', resource })
    }
    bob = scene.browser()
    carol = scene.browser()
    await bob.signIn('bob')
    await carol.signIn('carol')
  })
  after(() => scene.close())

  const status = async (who: TestBrowser, method: string, path: string, body?: unknown) =>
    (await who.call(method, path, body)).status

  it('may do in its lists what its scopes permit', async () => {
    assert.equal(await status(bob, 'GET', '/allowlists/team-a-one'), 200)
    assert.equal(await status(bob, 'PUT', '/allowlists/team-a-one/customers/zoe', {}), 201)
    assert.equal(await status(bob, 'POST', '/allowlists', { id: 'team-a-two', name: 'T', type: 'FIXA' }), 201)
    assert.equal(await status(bob, 'DELETE', '/allowlists/team-a-two'), 204)
    assert.equal(await status(bob, 'GET', '/customers/alice/check?allowlists=team-a-one'), 200)
    assert.equal(await status(bob, 'POST', '/limits/acquire', { entity: 'f', resource: 'team-a-api' }), 200)
    assert.equal(await status(bob, 'GET', '/health'), 200)
  })

  it('shows who is in a wave only with the list that it rests on', async () => {
    const { allowlists } = scene.servers[0]!.catraca
    for (const [id, base] of [
      ['team-a-own', 'team-a-one'],
      ['team-a-on-c', 'team-c-one'],
    ] as const) {
      const config = { strategy: 'PERCENTAGE', percentage: 1, base } as const
      await allowlists.create({ id, name: id, type: 'ONDA', config })
    }
    for (const [id, expected] of [
      ['team-a-own', 200],
      ['team-a-on-c', 403],
    ] as const) {
      assert.equal(await status(bob, 'GET', `/allowlists/${id}/sample`), expected)
      assert.equal(await status(bob, 'GET', `/allowlists/${id}/export`), expected)
      await allowlists.delete(id)
    }
  })

  it('is told of a check nothing of the lists of others that a wave rests on', async () => {
    const { allowlists } = scene.servers[0]!.catraca
    const id = 'team-a-mixed'
    const config = { strategy: 'PERCENTAGE', percentage: 1, base: 'team-a-one' } as const
    await allowlists.create({ id, name: id, type: 'ONDA', config: { ...config, exclude: ['team-c-one'] } })
    const { results } = (await bob.call('GET', `/customers/alice/explain?allowlists=${id}`)).json
    assert.deepEqual([results[0].reason, results[0].why.decidedBy], ['EXCLUDED', undefined])
    assert.doesNotMatch(JSON.stringify(results), /team-c/)
    await allowlists.update(id, { config })
    const own = (await bob.call('GET', `/customers/alice/explain?allowlists=${id}`)).json.results[0]
    assert.ok(own.steps.some(({ detail }: { detail?: string }) => detail === 'team-a-one: MEMBER'))
    await allowlists.delete(id)
  })

  it('reaches none of another team, by any operation, and none that say nothing of lists', async () => {
    const outside = { id: 'team-c-one', key: 'team-c-one', resource: 'team-b-api' }
    const bodies: Record<string, unknown> = {
      createAllowlist: { id: 'team-c-two', name: 'T', type: 'FIXA' },
      updateAllowlist: { name: 'mine' },
      reshardAllowlist: { shards: 10 },
      checkCustomers: { customerIds: ['alice'], allowlists: ['team-c-one'] },
      acquire: { entity: 'e', resource: 'team-b-api' },
      changeAllowlists: {
        changes: [
          { id: 'team-a-one', ifVersion: 1 },
          { id: 'team-c-one', ifVersion: 1 },
        ],
      },
      changeConfigs: { changes: [{ level: 'resource', resource: 'team-b-api' }] },
      changeEntities: { changes: [] },
      createKey: { name: 'k', scopes: ['admin'] },
      evaluateFlag: { context: { targetingKey: 'alice' } },
      evaluateFlags: { context: { targetingKey: 'alice' } },
      setEntity: { parent: 'p' },
      setLogLevel: { level: 'debug' },
    }
    let tried = 0
    for (const [id, operation] of Object.entries(WIRE) as [string, Operation][]) {
      const { scope, route, reach, body } = operation
      if (scope === 'open' || scope === 'any' || reach === 'no-target' || reach === 'filtered') continue
      const [method, pattern] = route.split(' ') as [string, string]
      const filled = pattern.replaceAll(
        /:(\w+)/g,
        (_, name) => (outside as Record<string, string>)[name] ?? 'some',
      )
      const query = /check$|explain$/.test(pattern) && method === 'GET' ? '?allowlists=team-c-one' : ''
      const asked = /usage$|resolve$/.test(pattern) && !pattern.includes(':') ? '?resource=team-b-api' : query
      const answer = await bob.call(
        method,
        filled + asked,
        bodies[id] ?? (body === undefined ? undefined : {}),
      )
      // Bodies are validated first, which tells nothing of what is stored.
      const expected = id in bodies || body === undefined ? [403] : [400, 403]
      assert.ok(expected.includes(answer.status), `${route}: ${answer.status} ${answer.text}`)
      tried++
    }
    assert.ok(tried > 50, `${tried} operations`)
  })

  it('cannot name others in a check of many lists, in a rule, or in another spelling', async () => {
    const checks = [
      'team-a-one,team-b-one',
      'team-b-one',
      'team-a-one,team-a-one,shared',
      'TEAM-A-ONE',
      'team-a',
    ]
    for (const lists of checks) {
      assert.equal(await status(bob, 'GET', `/customers/alice/check?allowlists=${lists}`), 403, lists)
      assert.equal(await status(bob, 'GET', `/customers/alice/explain?allowlists=${lists}`), 403, lists)
    }
    const both = { customerIds: ['alice'], allowlists: ['team-a-one', 'team-b-one'] }
    assert.equal(await status(bob, 'POST', '/check', both), 403)
    const config = { strategy: 'PERCENTAGE', percentage: 1 }
    for (const rule of [{ base: 'team-b-one' }, { exclude: ['team-a-one', 'team-b-one'] }]) {
      const wave = { id: 'team-a-wave', name: 'W', type: 'ONDA', config: { ...config, ...rule } }
      assert.equal(await status(bob, 'POST', '/allowlists', wave), 403, JSON.stringify(rule))
    }
    const wave = { id: 'team-a-wave', name: 'W', type: 'ONDA', config: { ...config, base: 'team-a-one' } }
    assert.equal(await status(bob, 'POST', '/allowlists', wave), 201)
    assert.equal(
      await status(bob, 'PATCH', '/allowlists/team-a-wave', { config: { ...config, base: 'team-b-one' } }),
      403,
    )
    assert.equal(await status(bob, 'POST', '/allowlists', { name: 'no id', type: 'FIXA' }), 403)
    assert.equal(await status(bob, 'GET', '/allowlists/team-a%2Done'), 200)
    assert.equal(await status(bob, 'GET', '/allowlists/team%2Db-one'), 403)
  })

  it('sees only its own in lists of things', async () => {
    const lists = (await bob.call('GET', '/allowlists?limit=1')).json
    assert.deepEqual(
      lists.items.map((list: { id: string }) => list.id),
      ['team-a-one'],
    )
    const all = (await bob.call('GET', '/allowlists?search=o&sort=name')).json
    assert.ok(
      all.items.length > 0 && all.items.every((list: { id: string }) => list.id.startsWith('team-a-')),
    )
    assert.equal(all.total, undefined)
    const hidden = /team-b|team-c|shared/
    const readable = (cursor: string) => Buffer.from(cursor, 'base64url').toString('latin1')
    const [path, seen] = ['/allowlists?limit=2', [] as string[]]
    for (let cursor = ''; ; ) {
      const page = (await bob.call('GET', path + cursor)).json
      seen.push(...page.items.map((list: { id: string }) => list.id))
      if (page.nextCursor === undefined) break
      assert.doesNotMatch(readable(page.nextCursor), hidden, 'a cursor names what is left out')
      cursor = `&cursor=${page.nextCursor}`
    }
    assert.ok(seen.includes('team-a-one') && seen.every((id) => id.startsWith('team-a-')), `${seen}`)
    const made = Buffer.from('1team-b-one').toString('base64url')
    assert.equal(await status(bob, 'GET', `/allowlists?cursor=${made}`), 400)
    const of = (await bob.call('GET', '/customers/alice/allowlists?limit=1')).json
    assert.deepEqual(
      of.items.map((one: { allowlistId: string }) => one.allowlistId),
      ['team-a-one'],
    )
    for (const path of ['/config/resources', '/limits/denied']) {
      const { items } = (await bob.call('GET', path)).json
      assert.deepEqual(
        [...new Set(items.map((one: { resource: string }) => one.resource))],
        ['team-a-api'],
        path,
      )
    }
    for (const id of ['team-a-one', 'team-b-one'])
      await scene.servers[0]!.catraca.allowlists.check('nobody', [id])
    const denials = (await bob.call('GET', '/stats/denials')).json
    assert.deepEqual(
      denials.lists.map((one: { allowlistId: string }) => one.allowlistId),
      ['team-a-one'],
    )
    assert.deepEqual(
      denials.limits.map((one: { resource: string }) => one.resource),
      ['team-a-api'],
    )
    const { items } = (await bob.call('GET', '/audit?limit=2')).json
    assert.ok(items.length > 0)
    for (let cursor = ''; ; ) {
      const page = (await bob.call('GET', `/audit?limit=2${cursor}`)).json
      for (const { target } of page.items) assert.match(target.id, /^team-a-/)
      if (page.nextCursor === undefined) break
      cursor = `&cursor=${encodeURIComponent(page.nextCursor)}`
    }
  })

  it('keeps the scopes of one role within the limits of that role', async () => {
    assert.equal(await status(carol, 'GET', '/allowlists/team-b-one'), 200)
    assert.equal(await status(carol, 'GET', '/allowlists/shared'), 200)
    assert.equal(await status(carol, 'GET', '/allowlists/sharedx'), 403)
    assert.equal(await status(carol, 'PUT', '/allowlists/team-b-one/customers/zoe', {}), 403)
    assert.equal(await status(carol, 'GET', '/customers/alice/check?allowlists=team-b-one'), 403)
    assert.equal(await status(carol, 'GET', '/allowlists/team-b-one/export'), 403)
    assert.equal(await status(carol, 'PATCH', '/allowlists/team-a-one', { name: 'A' }), 200)
    const dan = scene.browser()
    await dan.signIn('dan')
    assert.equal(
      await status(dan, 'GET', '/customers/alice/check?allowlists=team-a-one'),
      403,
      'resources only',
    )
  })

  it('says of itself what it reaches, and not where the data is', async () => {
    const { json } = await bob.call('GET', '/session')
    assert.deepEqual(json.limits, { lists: ['team-a-*'], resources: ['team-a-*'] })
    assert.equal(json.store, undefined)
  })
})
