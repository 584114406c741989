import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  addAll,
  allMembers,
  customer,
  customers,
  NOW,
  newFixa,
  sweepAll,
} from '../../../src/conformance/support.js'
import { isCatracaError } from '../../../src/core/errors.js'
import { until } from '../../support/redis/index.js'
import { importIds } from '../../support/redis-bulk.js'
import { oneServer } from '../../support/redis-engines.js'
import { interfered } from '../../support/redis-interfered.js'

const { open, raw, url } = oneServer()

/** Shards that were dropped are remembered for some minutes. */
async function nothingStays(listId: string): Promise<void> {
  for (const key of (await raw('KEYS', `*allowlist:${listId}*`)) as string[])
    assert.ok(Number(await raw('PTTL', key)) > 0, key)
}

describe('what operators and other programs do', () => {
  it('a log that was trimmed by hand grows again', async () => {
    const { allowlists } = await open({ maxLogBytes: 2000 })
    const list = await newFixa(allowlists, 'a')
    for (const id of customers(0, 200)) await allowlists.members.add('a', id, {}, NOW)
    const kept = Number(await raw('XLEN', '{allowlist:a}:log'))
    await raw('XTRIM', '{allowlist:a}:log', 'MAXLEN', '0')
    for (const id of customers(200, 205)) await allowlists.members.add('a', id, {}, NOW)
    const position = (await allowlists.changes.position(list))!
    for (const id of customers(205, 215)) await allowlists.members.add('a', id, {}, NOW)
    const part = await allowlists.changes.read(list, position)
    assert.ok(part !== 'gap', 'the log goes on from where it was')
    assert.equal(part.entries.length, 10)
    for (const id of customers(300, 500)) await allowlists.members.add('a', id, {}, NOW)
    const now = Number(await raw('XLEN', '{allowlist:a}:log'))
    assert.ok(Math.abs(now - kept) <= 5, `${now} entries, ${kept} before`)
  })

  it('members that are no text are swept with their list, replaced and moved', {
    timeout: 20_000,
  }, async () => {
    const { allowlists, resharding } = await open()
    await newFixa(allowlists, 'a')
    await addAll(allowlists, 'a', customers(0, 10))
    const strange = ['EVAL', "for i = 128, 140 do redis.call('SADD', KEYS[1], string.char(i, 255)) end", '1']
    await raw(...strange, 'allowlist:a')
    assert.equal((await resharding.reshard('a', 3)).outcome, 'resharded')
    assert.equal((await allowlists.lists.get('a'))?.customerCount, 23)
    assert.equal((await resharding.reshard('a', 1)).outcome, 'resharded')
    const ids = customers(5, 15)
    await importIds(allowlists, 'a', ids, { mode: 'replace', importId: 'one' })
    await importIds(allowlists, 'a', ids, { mode: 'replace', importId: 'two' })
    assert.deepEqual((await allMembers(allowlists, 'a')).toSorted(), ids.toSorted())
    await raw(...strange, 'allowlist:a')
    await allowlists.lists.delete('a', NOW)
    await sweepAll(allowlists)
    await nothingStays('a')
  })

  it('a damaged list keeps upkeep from no other', async () => {
    const { allowlists } = await open()
    for (const id of ['bad', 'good']) await newFixa(allowlists, id)
    await raw('SET', '{allowlist:bad}:expiries', '1')
    await allowlists.members.add('good', customer(1), { expiresAt: NOW + 5 }, NOW)
    await raw('DEL', 'allowlists:due')
    await assert.rejects(allowlists.upkeep.sweep(NOW + 10))
    assert.equal(await raw('SCARD', 'allowlist:good'), 0)
  })

  it('many damaged lists that are due keep upkeep from no other', async () => {
    const { allowlists } = await open()
    await newFixa(allowlists, 'good')
    for (let i = 0; i < 25; i++) {
      await newFixa(allowlists, `bad-${i}`)
      await raw('SET', `{allowlist:bad-${i}}:expiries`, '1')
      await raw('ZADD', 'allowlists:due', String(NOW - 100 + i), `bad-${i}`)
    }
    await allowlists.members.add('good', customer(1), { expiresAt: NOW + 5 }, NOW)
    await raw('DEL', 'allowlists')
    for (let i = 0; i < 3; i++) await allowlists.upkeep.sweep(NOW + 10).catch(() => {})
    assert.equal(await raw('SCARD', 'allowlist:good'), 0)
  })
})

describe('a server that is full, or was written to', () => {
  it('lists can be deleted to make room', async (t) => {
    const { allowlists } = await open()
    await newFixa(allowlists, 'a')
    await addAll(allowlists, 'a', customers(0, 50))
    await raw('CONFIG', 'SET', 'maxmemory', '1000')
    t.after(() => raw('CONFIG', 'SET', 'maxmemory', '0'))
    await assert.rejects(allowlists.members.add('a', 'x', {}, NOW), (error) =>
      isCatracaError(error, 'STORE_FULL'),
    )
    assert.equal(await allowlists.lists.delete('a', NOW), true)
    assert.equal(await allowlists.lists.get('a'), undefined)
    await until('upkeep has come to it on its walk', async () => {
      await sweepAll(allowlists)
      return ((await raw('KEYS', '*allowlist:a*')) as string[]).length === 0
    })
  })

  it('a list whose set was overwritten is in no other list’s way, and can be deleted', async () => {
    const { allowlists } = await open()
    await newFixa(allowlists, 'a')
    await newFixa(allowlists, 'b')
    await raw('SET', 'allowlist:a', 'something else')
    const page = await allowlists.lists.page(undefined, 10)
    assert.deepEqual(
      page.map(({ id }) => id),
      ['a', 'b'],
    )
    assert.equal(await allowlists.lists.delete('a', NOW), true)
    await sweepAll(allowlists)
    assert.deepEqual(await raw('KEYS', '*allowlist:a*'), [])
    await newFixa(allowlists, 'a')
  })
})

describe('what must not grow without end', () => {
  it('shards of a move whose list was deleted', async (t) => {
    const { allowlists } = await open()
    await newFixa(allowlists, 'a')
    await addAll(allowlists, 'a', customers(0, 5))
    const stores = await interfered(url(), async (script, run) => {
      if (script === 'allowlist-reshard-prepare' && (await allowlists.lists.delete('a', NOW)))
        await sweepAll(allowlists)
      return run()
    })
    t.after(stores.close)
    assert.equal((await stores.resharding.reshard('a', 3)).outcome, 'list-not-found')
    await nothingStays('a')
  })
})
