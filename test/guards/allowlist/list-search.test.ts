import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { Catraca } from '../../../src/app/open-catraca.js'
import { ManualClock } from '../../../src/core/clock.js'
import { CatracaError } from '../../../src/core/errors.js'
import type { AllowlistQuery } from '../../../src/guards/allowlist/types.js'
import { openPatiently } from '../../support/patient.js'
import { type RedisServers, startSingle } from '../../support/redis/index.js'

const NOW = Date.UTC(2030, 0, 1)

/** Names out of the order of the ids, some the same, sizes that differ, one wave. */
async function fill({ allowlists }: Catraca, clock: ManualClock): Promise<void> {
  const names = ['Órbita', 'beta 10', 'Beta 9', 'alpha', 'alpha', 'zeta']
  for (const [i, name] of names.entries()) {
    clock.advance(1000)
    await allowlists.create({ id: `list-${i}`, name, type: 'FIXA' })
  }
  clock.advance(1000)
  const config = { strategy: 'PERCENTAGE', percentage: 0.5 } as const
  await allowlists.create({ id: 'Wave', name: 'Late beta', type: 'ONDA', config })
  await allowlists.add('list-5', 'ann')
  await allowlists.add('list-5', 'bob')
  await allowlists.add('list-2', 'ann')
}

async function idsOf({ allowlists }: Catraca, query: AllowlistQuery): Promise<string[]> {
  return (await allowlists.list(query)).items.map(({ id }) => id)
}

async function allPages({ allowlists }: Catraca, query: AllowlistQuery): Promise<string[]> {
  const ids: string[] = []
  let cursor: string | undefined
  do {
    const page = await allowlists.list({ ...query, limit: 2, ...(cursor !== undefined && { cursor }) })
    assert.equal(page.total, 7)
    assert.ok(page.items.length > 0)
    ids.push(...page.items.map(({ id }) => id))
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return ids
}

describe('searching and sorting lists', () => {
  let redis: RedisServers
  before(async () => {
    redis = await startSingle()
  })
  after(() => redis.stop())

  for (const engine of ['memory', 'redis']) {
    it(`finds and sorts on ${engine}`, async (t) => {
      const clock = new ManualClock(NOW)
      const store = engine === 'redis' ? redis.storeUrl : 'memory:'
      const catraca = await openPatiently({ store, clock, sweepIntervalMs: 0 })
      t.after(() => catraca.close())
      await fill(catraca, clock)
      assert.deepEqual(await idsOf(catraca, { search: 'BETA' }), ['Wave', 'list-1', 'list-2'])
      assert.deepEqual(await idsOf(catraca, { search: 'LIST-3' }), ['list-3'])
      for (const search of ['orbita', 'ÓRBITA'])
        assert.deepEqual(await idsOf(catraca, { search }), ['list-0'])
      assert.deepEqual(await idsOf(catraca, { search: 'nothing like it' }), [])
      assert.deepEqual(await idsOf(catraca, { type: 'ONDA' }), ['Wave'])
      const byName = ['list-3', 'list-4', 'list-2', 'list-1', 'Wave', 'list-0', 'list-5']
      assert.deepEqual(await allPages(catraca, { sort: 'name' }), byName)
      assert.deepEqual(await allPages(catraca, { sort: 'name', order: 'desc' }), byName.toReversed())
      const largest = await idsOf(catraca, { sort: 'customerCount', order: 'desc', limit: 2 })
      assert.deepEqual(largest, ['list-5', 'list-2'])
      assert.equal((await idsOf(catraca, { sort: 'updatedAt' }))[0], 'list-0')
      assert.equal((await allPages(catraca, { order: 'desc' }))[0], 'list-5')
    })
  }

  it('sees at once what was changed here, and gives whole lists', async (t) => {
    const catraca = await openPatiently({ store: 'memory:', sweepIntervalMs: 0 })
    t.after(() => catraca.close())
    const { allowlists } = catraca
    const config = { strategy: 'EXPLICIT_LIST' as const, customerIds: ['ann'] }
    assert.deepEqual(await allowlists.list({ sort: 'name' }), { items: [], total: 0 })
    await allowlists.create({ id: 'a', name: 'first', type: 'ONDA', config })
    const found = await allowlists.list({ search: 'FIRST' })
    assert.deepEqual(found, { items: [await allowlists.get('a')], total: 1 })
    await allowlists.update('a', { name: 'second' })
    assert.equal((await allowlists.list({ search: 'first' })).total, 0)
    await allowlists.delete('a')
    assert.equal((await allowlists.list({ search: 'second' })).total, 0)
  })

  it('refuses what it does not know, and cursors of another order', async (t) => {
    const clock = new ManualClock(NOW)
    const catraca = await openPatiently({ store: 'memory:', clock, sweepIntervalMs: 0 })
    t.after(() => catraca.close())
    await fill(catraca, clock)
    const { nextCursor } = await catraca.allowlists.list({ sort: 'name', limit: 1 })
    const refused = async (query: object, path: string) =>
      assert.rejects(catraca.allowlists.list(query as AllowlistQuery), (error: unknown) => {
        assert.ok(error instanceof CatracaError)
        assert.deepEqual([error.code, error.errors?.[0]?.path], ['INVALID_INPUT', path])
        return true
      })
    await refused({ sort: 'id', cursor: nextCursor }, 'cursor')
    await refused({ sort: 'name', order: 'desc', cursor: nextCursor }, 'cursor')
    for (const cursor of ['x', '', 'W10', Buffer.from('["name","asc",1,"a"]').toString('base64url')]) {
      await refused({ sort: 'name', cursor }, 'cursor')
    }
    await refused({ sort: 'salt' }, 'sort')
    await refused({ order: 'up' }, 'order')
    await refused({ type: 'X' }, 'type')
    await refused({ search: 'x'.repeat(257) }, 'search')
    await refused({ sort: 'id', limit: 1001 }, 'limit')
  })
})
