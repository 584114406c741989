import assert from 'node:assert/strict'
import { test } from 'node:test'
import { failure } from '../../support/failure.js'
import { ids, pausing, pieces } from './bodies.js'
import { customer, customers, maker, openLibrary } from './library-support.js'

const catraca = await openLibrary()
const { allowlists } = catraca
const { fixa } = maker(catraca)
const replace = { format: 'text', mode: 'replace' } as const

const namesOf = async (id: string): Promise<string[]> =>
  (await allowlists.members(id)).items.map(({ customerId }) => customerId)

test('checks see all of the old list or all of the new one, never some of both', async () => {
  await fixa('switched')
  await allowlists.import('switched', customers(0, 30_000), { format: 'text' })
  // From both ends of either set, because a replace goes through them in order.
  const onlyOld = [0, 7_000, 14_999].map(customer)
  const onlyNew = [30_000, 37_000, 44_999].map(customer)
  const question = { customerIds: [...onlyOld, ...onlyNew], allowlists: ['switched'] }
  const OLD = 'true,true,true,false,false,false'
  const NEW = 'false,false,false,true,true,true'
  const seen: string[] = []
  const look = async (): Promise<void> => {
    const { results } = await allowlists.checkMany(question)
    const now = results.map(({ overallAllowed }) => overallAllowed).join()
    assert.ok(now === OLD || now === NEW, now)
    if (seen.at(-1) !== now) seen.push(now)
  }
  await look()
  let running = true
  const done = allowlists.import('switched', customers(15_000, 45_000), replace).finally(() => {
    running = false
  })
  let looks = 0
  for (; running; looks++) {
    await look()
    await new Promise(setImmediate)
  }
  const { added, unchanged, removed, customerCount } = await done
  assert.deepEqual([added, unchanged, removed, customerCount], [15_000, 15_000, 15_000, 30_000])
  await look()
  assert.deepEqual(seen, [OLD, NEW])
  assert.ok(looks > 100, `${looks} looks`)

  await catraca.upkeep()
  await look()
  assert.deepEqual(seen, [OLD, NEW], 'sweeping what is left changes nothing')
  assert.equal((await allowlists.get('switched')).customerCount, 30_000)
  assert.deepEqual(catraca.litter(), [])
})

test('one replace at a time; what is changed by hand meanwhile wins over the file', async () => {
  await fixa('edited', 'ana', 'bia', 'caio')
  const { body, rest, reached } = pausing(ids('bia', 'davi'))
  const running = allowlists.import('edited', body, { ...replace, importId: 'first' })
  await reached
  const second = allowlists.import('edited', pieces(ids('x')), { ...replace, importId: 'second' })
  await failure(second, 'REPLACE_IN_PROGRESS')
  const added = await allowlists.import('edited', pieces(ids('gil')), { format: 'text' })
  assert.deepEqual([added.added, added.customerCount], [1, 4])
  await allowlists.add('edited', 'eva')
  await allowlists.remove('edited', 'bia')
  assert.deepEqual(await namesOf('edited'), ['ana', 'caio', 'eva', 'gil'])
  rest(ids('fabio'))
  const { customerCount } = await running
  assert.deepEqual(await namesOf('edited'), ['davi', 'eva', 'fabio', 'gil'])
  assert.equal(customerCount, 4)
})

test('a replace that is aborted, or holds a bad row, or finds its list gone, changes nothing', async () => {
  await fixa('same', 'ana')
  const { body, reached } = pausing(ids('bia'))
  const stop = new AbortController()
  const caught = failure(
    allowlists.import('same', body, { ...replace, importId: 'i1', signal: stop.signal }),
    'ABORTED',
  )
  await reached
  stop.abort()
  await caught
  assert.deepEqual(await namesOf('same'), ['ana'])

  const refused = await failure(
    allowlists.import('same', pieces(ids('bia', 'not an id', 'caio')), replace),
    'INVALID_INPUT',
  )
  assert.deepEqual(
    refused.errors!.map(({ path }) => path),
    ['line 2'],
  )
  assert.deepEqual(await namesOf('same'), ['ana'])

  const result = await allowlists.import('same', pieces(ids('bia')), { ...replace, importId: 'i1' })
  assert.deepEqual([result.added, result.removed, await namesOf('same')], [1, 1, ['bia']])

  const last = pausing(ids('caio'))
  const doomed = failure(allowlists.import('same', last.body, replace), 'ALLOWLIST_NOT_FOUND')
  await last.reached
  await allowlists.delete('same')
  last.rest(ids('davi'))
  await doomed
  await catraca.upkeep()
  await fixa('same')
  assert.deepEqual(await namesOf('same'), [])
  assert.deepEqual(catraca.litter(), [])
})

test('an empty file empties the list', async () => {
  await fixa('emptied', 'ana', 'bia')
  const { removed, customerCount } = await allowlists.import('emptied', pieces(''), replace)
  assert.deepEqual([removed, customerCount], [2, 0])
  assert.equal((await allowlists.check('ana', ['emptied'])).results[0]!.reason, 'NOT_MEMBER')
})
