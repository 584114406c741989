import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../../src/core/clock.js'
import { failure } from '../../support/failure.js'
import { maker, openLibrary } from './library-support.js'

const NOW = Date.UTC(2030, 0, 1)
const clock = new ManualClock(NOW)
const catraca = await openLibrary({ clock })
const { allowlists } = catraca
const { fixa, wave } = maker(catraca)

const iso = (ms: number): string => new Date(ms).toISOString()
const names = (count: number, prefix: string): string[] =>
  Array.from({ length: count }, (_, i) => `${prefix}${i}`)

test('every reason, in the order asked, and what all of them together mean', async () => {
  await fixa('in', 'ana')
  await fixa('out')
  await fixa('was')
  await allowlists.add('was', 'ana', { expiresAt: iso(NOW + 1000) })
  await wave('open', { strategy: 'PERCENTAGE', percentage: 1 })
  await wave('shut', { strategy: 'PERCENTAGE', percentage: 0 })
  await wave('later', { strategy: 'TIME_WINDOW', startTime: NOW + 5000 })
  await wave('without', { strategy: 'PERCENTAGE', percentage: 1, exclude: ['in'] })
  clock.set(NOW + 1000)

  const expected = [
    ['in', true, 'FIXA', 'MEMBER'],
    ['out', false, 'FIXA', 'NOT_MEMBER'],
    ['was', false, 'FIXA', 'MEMBER_EXPIRED'],
    ['open', true, 'ONDA', 'IN_WAVE'],
    ['shut', false, 'ONDA', 'OUT_OF_WAVE'],
    ['later', false, 'ONDA', 'OUTSIDE_WINDOW'],
    ['without', false, 'ONDA', 'EXCLUDED'],
    ['never', false, null, 'ALLOWLIST_NOT_FOUND'],
  ] as const
  const asked = expected.map(([id]) => id)
  const answer = await allowlists.check('ana', asked)
  const checkedAt = iso(NOW + 1000)
  const results = expected.map(([allowlistId, allowed, type, reason]) => {
    const result = { allowlistId, allowed, type, reason, checkedAt }
    return reason.startsWith('MEMBER') ? { ...result, addedAt: iso(NOW) } : result
  })
  assert.deepEqual(answer, { customerId: 'ana', results, overallAllowed: false })
  assert.deepEqual(await allowlists.check('ana', asked.toReversed()), {
    customerId: 'ana',
    results: results.toReversed(),
    overallAllowed: false,
  })
  assert.equal((await allowlists.check('ana', ['in', 'open'])).overallAllowed, true)
  assert.equal((await allowlists.check('ana', ['in', 'open', 'never'])).overallAllowed, false)
  assert.equal((await allowlists.check('ana', ['in', 'in'])).results.length, 2)
})

test('an expired member is denied from its moment on, and swept later', async () => {
  await fixa('short')
  const now = clock.now()
  await allowlists.add('short', 'ana', { expiresAt: iso(now + 100) })
  const reason = async (): Promise<string> => (await allowlists.check('ana', ['short'])).results[0]!.reason
  clock.set(now + 99)
  assert.equal(await reason(), 'MEMBER')
  clock.set(now + 100)
  assert.equal(await reason(), 'MEMBER_EXPIRED')
  assert.equal((await allowlists.get('short')).customerCount, 1)
  await catraca.upkeep()
  assert.equal(await reason(), 'NOT_MEMBER')
  assert.equal((await allowlists.get('short')).customerCount, 0)
  assert.deepEqual(
    (await allowlists.listsOf('ana')).items.filter((item) => item.allowlistId === 'short'),
    [],
  )

  await allowlists.add('short', 'ana', { expiresAt: iso(now + 200) })
  clock.set(now + 200)
  const again = await allowlists.add('short', 'ana')
  assert.deepEqual([again.added, again.customerCount], [true, 1], 'it begins anew before it is swept')
  assert.equal((await allowlists.member('short', 'ana')).addedAt, iso(now + 200))
  await catraca.upkeep()
  assert.equal(await reason(), 'MEMBER')
})

test('many customers at once get what each gets alone, in the order asked', async () => {
  await fixa('evens')
  const customers = names(300, 'customer-')
  await Promise.all(customers.filter((_, i) => i % 2 === 0).map((id) => allowlists.add('evens', id)))
  await wave('half', { strategy: 'PERCENTAGE', percentage: 0.5 })
  const lists = ['half', 'evens', 'nowhere', ...names(10, 'none-')]
  const { results } = await allowlists.checkMany({ customerIds: customers, allowlists: lists })
  assert.equal(results.length, 300)
  for (const [i, answer] of results.entries()) {
    assert.deepEqual(answer, await allowlists.check(customers[i]!, lists))
    assert.equal(answer.results[1]!.allowed, i % 2 === 0)
  }
})

test('a question has 1 to 100 lists, 1 to 1000 customers, and at most 20,000 pairs', async () => {
  await fixa('limit')
  const check = (customers: number, lists: number) =>
    allowlists.checkMany({ customerIds: names(customers, 'c'), allowlists: names(lists, 'l') })
  assert.equal((await check(200, 100)).results.length, 200)
  assert.equal((await check(1000, 20)).results.length, 1000)
  assert.equal((await allowlists.check('c', names(100, 'l'))).results.length, 100)

  // 339 × 59 is 20,001.
  for (const [customers, lists] of [
    [339, 59],
    [201, 100],
    [1001, 1],
    [1, 101],
    [0, 1],
    [1, 0],
    [0, 0],
  ] as const)
    await failure(check(customers, lists), 'INVALID_INPUT')
  const tooMany = await failure(allowlists.check('c', names(101, 'l')), 'INVALID_INPUT')
  assert.deepEqual(tooMany.errors, [{ path: 'allowlists', message: 'must name 1 to 100 allowlists' }])
  await failure(allowlists.check('c', []), 'INVALID_INPUT')
  await failure(allowlists.check('c', 'limit' as never), 'INVALID_INPUT')
})

test('a write is seen by whoever asks with its token, and by a strong check', async () => {
  await fixa('fresh')
  const { token } = await allowlists.add('fresh', 'ana')
  for (const options of [{ atLeast: token }, { consistency: 'strong' } as const, undefined])
    assert.equal((await allowlists.check('ana', ['fresh'], options)).overallAllowed, true)
  const removal = await allowlists.remove('fresh', 'ana')
  const answer = await allowlists.checkMany(
    { customerIds: ['ana'], allowlists: ['fresh'] },
    { atLeast: removal.token },
  )
  assert.equal(answer.results[0]!.overallAllowed, false)

  const other = await openLibrary()
  await other.allowlists.create({ id: 'fresh', name: 'Fresh', type: 'FIXA' })
  const foreign = (await other.allowlists.add('fresh', 'ana')).token
  for (const atLeast of ['', 'x', `${token}.1`, 'x'.repeat(513), foreign, 7 as never])
    await failure(allowlists.check('ana', ['fresh'], { atLeast }), 'INVALID_INPUT')
  await failure(allowlists.check('ana', ['fresh'], { consistency: 'weak' as never }), 'INVALID_INPUT')
})
