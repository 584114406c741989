import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../../src/core/clock.js'
import { failure } from '../../support/failure.js'
import { openPatiently } from '../../support/patient.js'
import { maker, openLibrary } from './library-support.js'

const START = Date.UTC(2030, 0, 1)
const clock = new ManualClock(START)
const catraca = await openLibrary({ clock })
const { allowlists } = catraca
const { fixa, wave } = maker(catraca)

const iso = (ms: number): string => new Date(ms).toISOString()
const always = { strategy: 'PERCENTAGE', percentage: 1 } as const
const NOT_IDS = ['', 'x'.repeat(300), 'a#b', 'a/b', 'a b', 'a\n', '\0', '🙂', 'ação', '.', '..']

test('a FIXA list from its creation to its deletion, and another of the same id', async () => {
  const created = await allowlists.create({ id: 'vip', name: 'Clientes VIP ⭐', type: 'FIXA' })
  assert.deepEqual(created, {
    id: 'vip',
    name: 'Clientes VIP ⭐',
    type: 'FIXA',
    precision: 'exact',
    customerCount: 0,
    version: 1,
    shardCount: 1,
    createdAt: iso(START),
    updatedAt: iso(START),
  })
  await allowlists.add('vip', 'ana')
  clock.advance(1000)
  const renamed = await allowlists.update('vip', { name: 'VIP' }, { ifVersion: 1 })
  const expected = { ...created, name: 'VIP', version: 2, customerCount: 1, updatedAt: iso(clock.now()) }
  assert.deepEqual(renamed, expected)
  assert.deepEqual(await allowlists.get('vip'), expected)

  const stale = await failure(
    allowlists.update('vip', { name: 'Other' }, { ifVersion: 1 }),
    'VERSION_MISMATCH',
  )
  assert.equal(stale.facts!.version, 2)
  await failure(allowlists.create({ id: 'vip', name: 'Again', type: 'FIXA' }), 'ALLOWLIST_EXISTS')
  assert.deepEqual(await allowlists.get('vip'), expected)

  await allowlists.delete('vip')
  await failure(allowlists.get('vip'), 'ALLOWLIST_NOT_FOUND')
  await failure(allowlists.delete('vip'), 'ALLOWLIST_NOT_FOUND')
  await failure(allowlists.add('vip', 'ana'), 'ALLOWLIST_NOT_FOUND')
  assert.equal((await allowlists.check('ana', ['vip'])).results[0]!.reason, 'ALLOWLIST_NOT_FOUND')
  assert.deepEqual((await allowlists.listsOf('ana')).items, [])
  await failure(allowlists.create({ id: 'vip', name: 'Soon', type: 'FIXA' }), 'ALLOWLIST_BEING_DELETED')

  await catraca.upkeep()
  const again = await allowlists.create({ id: 'vip', name: 'New', type: 'FIXA' })
  assert.deepEqual([again.version, again.customerCount], [1, 0])
  assert.equal((await allowlists.check('ana', ['vip'])).results[0]!.reason, 'NOT_MEMBER')
})

test('an id is made up where none is given, and lists are paged by id', async () => {
  const { id } = await allowlists.create({ name: 'Nameless', type: 'FIXA' })
  assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  for (const each of ['page-c', 'page-a', 'page-b']) await fixa(each)
  const found: string[] = []
  let cursor: string | undefined
  do {
    const page = await allowlists.list({ limit: 2, ...(cursor === undefined ? {} : { cursor }) })
    assert.ok(page.items.length <= 2)
    found.push(...page.items.map((list) => list.id))
    cursor = page.nextCursor
  } while (cursor !== undefined)
  assert.deepEqual(found, found.toSorted())
  assert.deepEqual(
    found.filter((each) => each.startsWith('page-')),
    ['page-a', 'page-b', 'page-c'],
  )
  for (const page of [{ limit: 0 }, { limit: 1001 }, { limit: 1.5 }, { cursor: 'forged' }])
    await failure(allowlists.list(page), 'INVALID_INPUT')
})

test('members are added once, keep their moment, and are removed once', async () => {
  await fixa('members')
  const addedAt = iso(clock.now())
  const first = await allowlists.add('members', 'ana', { addedBy: 'ops', metadata: { tier: 1 } })
  assert.deepEqual([first.added, first.customerCount], [true, 1])
  clock.advance(1000)
  const second = await allowlists.add('members', 'ana', { metadata: { tier: 2 } })
  assert.deepEqual([second.added, second.customerCount], [false, 1])
  const member = { customerId: 'ana', addedAt, metadata: { tier: 2 } }
  assert.deepEqual(await allowlists.member('members', 'ana'), member)
  await allowlists.add('members', 'bia')
  assert.deepEqual((await allowlists.members('members', { limit: 1 })).items, [member])
  assert.deepEqual((await allowlists.listsOf('ana')).items, [
    { allowlistId: 'members', name: 'List members', addedAt },
  ])

  assert.deepEqual([(await allowlists.remove('members', 'ana')).removed], [true])
  const { removed, customerCount } = await allowlists.remove('members', 'ana')
  assert.deepEqual([removed, customerCount], [false, 1])
  await failure(allowlists.member('members', 'ana'), 'MEMBER_NOT_FOUND')
  assert.equal((await allowlists.check('ana', ['members'])).overallAllowed, false)
})

test('many adds and removals of the same customer at once count it once', async () => {
  await fixa('busy')
  const adds = await Promise.all(Array.from({ length: 40 }, () => allowlists.add('busy', 'ana')))
  assert.equal(adds.filter(({ added }) => added).length, 1)
  const others = Array.from({ length: 40 }, (_, i) => allowlists.add('busy', `c${i % 10}`))
  const removals = Array.from({ length: 40 }, () => allowlists.remove('busy', 'ana'))
  await Promise.all(others)
  assert.equal((await Promise.all(removals)).filter(({ removed }) => removed).length, 1)
  assert.equal((await allowlists.get('busy')).customerCount, 10)
})

test('ids that mean something to JavaScript are ids like all others', async () => {
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'prototype', 'valueOf']
  for (const name of names) {
    assert.equal((await allowlists.check('x', [name])).results[0]!.reason, 'ALLOWLIST_NOT_FOUND')
    await fixa(name)
    await allowlists.add(name, '__proto__')
    await wave(`wave-${name}`, { strategy: 'EXPLICIT_LIST', customerIds: [name] })
  }
  const { results } = await allowlists.checkMany({ customerIds: names, allowlists: names })
  for (const { customerId, results: each, overallAllowed } of results) {
    assert.deepEqual(
      each.map(({ allowlistId }) => allowlistId),
      names,
    )
    assert.equal(overallAllowed, customerId === '__proto__', customerId)
    const waves = await allowlists.check(
      customerId,
      names.map((name) => `wave-${name}`),
    )
    const admitting = waves.results.filter(({ allowed }) => allowed).map((one) => one.allowlistId)
    assert.deepEqual(admitting, [`wave-${customerId}`])
  }
  assert.deepEqual(
    (await allowlists.listsOf('__proto__')).items.map((item) => item.allowlistId),
    names.toSorted(),
  )
  const metadata = JSON.parse('{"__proto__":{"admin":true}}') as Record<string, unknown>
  await failure(allowlists.add('constructor', 'ana', { metadata }), 'INVALID_INPUT')
  await allowlists.add('constructor', 'ana', { metadata: { constructor: 1 } })
  assert.deepEqual((await allowlists.member('constructor', 'ana')).metadata, { constructor: 1 })
})

test('a UUID is one customer, and one list, whatever its case', async () => {
  const lower = '0a1b2c3d-0000-4000-8000-abcdefabcdef'
  const upper = lower.toUpperCase()
  const listId = 'FFFFFFFF-0000-4000-8000-00000000000A'
  await fixa(listId)
  await failure(
    allowlists.create({ id: listId.toLowerCase(), name: 'Same', type: 'FIXA' }),
    'ALLOWLIST_EXISTS',
  )
  assert.deepEqual(
    [(await allowlists.add(listId, upper)).added, (await allowlists.add(listId.toLowerCase(), lower)).added],
    [true, false],
  )
  for (const spelling of [lower, upper, `0A1B${lower.slice(4)}`]) {
    const answer = await allowlists.check(spelling, [listId])
    assert.deepEqual([answer.customerId, answer.overallAllowed], [lower, true])
    assert.equal((await allowlists.member(listId, spelling)).customerId, lower)
  }
  assert.equal((await allowlists.members(listId)).items.length, 1)
  await wave('of-uuids', { strategy: 'EXPLICIT_LIST', customerIds: [upper], base: listId })
  assert.equal((await allowlists.check(lower, ['of-uuids'])).overallAllowed, true)
  const { removed, customerCount } = await allowlists.remove(listId, upper)
  assert.deepEqual([removed, customerCount], [true, 0])

  await fixa('not-uuids', 'Ana')
  assert.equal((await allowlists.check('ana', ['not-uuids'])).overallAllowed, false)
})

test('what is no identifier is refused by every call', async () => {
  await fixa('strict')
  for (const bad of NOT_IDS) {
    const calls = [
      allowlists.create({ id: bad, name: 'Bad', type: 'FIXA' }),
      allowlists.get(bad),
      allowlists.delete(bad),
      allowlists.add('strict', bad),
      allowlists.add(bad, 'ana'),
      allowlists.remove('strict', bad),
      allowlists.member('strict', bad),
      allowlists.listsOf(bad),
      allowlists.check(bad, ['strict']),
      allowlists.check('ana', ['strict', bad]),
      allowlists.checkMany({ customerIds: ['ana', bad], allowlists: ['strict'] }),
      allowlists.importStatus('strict', bad),
    ]
    for (const call of calls) await failure(call, 'INVALID_INPUT')
  }
  await failure(allowlists.create({ id: 'a:b', name: 'Bad', type: 'FIXA' }), 'INVALID_INPUT')
  await allowlists.add('strict', 'a:b')
  for (const name of ['', ' ', 'a\nb', 'x'.repeat(257), undefined as never])
    await failure(allowlists.create({ name, type: 'FIXA' }), 'INVALID_INPUT')
  await failure(allowlists.create({ name: 'x', type: 'BOTH' as never }), 'INVALID_INPUT')
  assert.equal((await allowlists.get('strict')).customerCount, 1)
})

test('members belong to FIXA lists, rules to ONDA lists, trust to FIXA lists', async () => {
  await wave('rule', always)
  await failure(allowlists.add('rule', 'ana'), 'WRONG_ALLOWLIST_TYPE')
  await failure(allowlists.remove('rule', 'ana'), 'WRONG_ALLOWLIST_TYPE')
  await failure(allowlists.members('rule'), 'WRONG_ALLOWLIST_TYPE')
  await failure(allowlists.create({ name: 'x', type: 'FIXA', config: always }), 'INVALID_INPUT')
  await failure(allowlists.create({ name: 'x', type: 'ONDA' }), 'INVALID_INPUT')
  const trusted = { name: 'x', type: 'ONDA', config: always, precision: 'trusted' } as const
  await failure(allowlists.create(trusted), 'INVALID_INPUT')
})

test('a trusted list takes no member that expires', async () => {
  const created = await allowlists.create({ id: 'sure', name: 'Sure', type: 'FIXA', precision: 'trusted' })
  assert.equal(created.precision, 'trusted')
  const refused = await failure(
    allowlists.add('sure', 'ana', { expiresAt: '2031-01-01T00:00:00Z' }),
    'INVALID_INPUT',
  )
  assert.deepEqual(refused.errors, [{ path: 'expiresAt', message: 'cannot be given on a trusted list' }])
  assert.equal((await allowlists.add('sure', 'ana', { addedBy: 'ops' })).customerCount, 1)
})

test('a closed library answers nothing any more, and says so', async () => {
  const other = await openPatiently({ store: 'memory:' })
  await other.allowlists.create({ id: 'gone', name: 'Gone', type: 'FIXA' })
  await other.close()
  async function* body(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('a\n')
  }
  for (const call of [
    other.allowlists.check('ana', ['gone']),
    other.allowlists.get('gone'),
    other.allowlists.add('gone', 'ana'),
    other.allowlists.import('gone', body()),
  ])
    await failure(call, 'CLOSED')
  await other.close()
})
