import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  addAll,
  allMembers,
  countOf,
  customer,
  customers,
  fixa,
  holds,
  NOW,
  newFixa,
  sweepAll,
} from '../../../src/conformance/support.js'
import { readCustomerKey } from '../../../src/guards/allowlist/customer-key.js'
import { shardOf } from '../../../src/guards/allowlist/shard.js'
import { failure } from '../../support/failure.js'
import { oneServer } from '../../support/redis-engines.js'

const { open, raw, flush } = oneServer()

describe('allowlists in Redis: what is stored', () => {
  it('keeps members in a set that other programs know, and braces only around it in further keys', async () => {
    const { allowlists } = await open()
    await newFixa(allowlists, '123')
    await allowlists.members.add('123', customer(0), { expiresAt: NOW + 5, addedBy: 'x' }, NOW)
    await allowlists.members.add('123', customer(1), {}, NOW)
    assert.deepEqual(await raw('SISMEMBER', 'allowlist:123', customer(1)), 1)
    assert.deepEqual(
      ((await raw('SMEMBERS', 'allowlist:123')) as string[]).toSorted(),
      customers(0, 2).toSorted(),
    )
    assert.equal(
      await raw('HGET', '{allowlist:123}:attributes', customer(0)),
      `${NOW},${NOW + 5} {"addedBy":"x"}`,
    )
    const keys = (await raw('KEYS', '*')) as string[]
    for (const key of keys.filter((each) => each.includes('{')))
      assert.match(key, /^\{allowlist:123\}:[a-z:]+$/)
    assert.deepEqual(await raw('ZRANGE', 'allowlists', '0', '-1'), ['123'])
    assert.deepEqual(await raw('ZRANGE', 'allowlists:due', '0', '-1'), ['123'])
  })

  it('takes a member that another program put into the set', async () => {
    const { allowlists } = await open()
    const list = await newFixa(allowlists, 'a')
    await allowlists.members.add('a', customer(1), {}, NOW)
    await raw('SADD', 'allowlist:a', 'foreign', 'not an identifier')
    for (let i = 0; i < 2; i++) assert.equal(await holds(allowlists, 'a', 'foreign'), true)
    assert.equal(await holds(allowlists, 'a', customer(1)), true)
    assert.equal(await holds(allowlists, 'a', customer(2)), false)
    assert.equal((await allowlists.members.get('a', 'foreign'))?.customerId, 'foreign')
    assert.deepEqual((await allMembers(allowlists, 'a')).toSorted(), [customer(1), 'foreign'].toSorted())
    assert.equal(await countOf(allowlists, 'a'), 3)
    const scanned: string[] = []
    for await (const { bytes, ends, count } of allowlists.index.scan(list)) {
      for (let i = 0, start = 0; i < count; start = ends[i++]!)
        scanned.push(readCustomerKey(bytes, start, ends[i]!))
    }
    assert.deepEqual(scanned.toSorted(), [customer(1), 'foreign'].toSorted())
    assert.equal((await allowlists.members.add('a', 'foreign', {}, NOW)).outcome, 'replaced')
    assert.equal((await allowlists.members.remove('a', 'foreign', NOW)).outcome, 'removed')
    assert.equal(await holds(allowlists, 'a', 'foreign'), false)
  })

  it('cuts a list over shards by the rule of the source, and mends a shard that lost its state', async () => {
    const { allowlists } = await open({ initialShards: 3 })
    const list = await newFixa(allowlists, 'a')
    await addAll(allowlists, 'a', customers(0, 30))
    for (const id of customers(0, 30)) {
      assert.equal(await raw('SISMEMBER', `allowlist:a:3:${shardOf(id, 3)}`, id), 1)
    }
    const before = (await allowlists.changes.position(list))!
    await raw('DEL', '{allowlist:a:3:1}:state')
    assert.equal((await allowlists.members.add('a', customer(30), {}, NOW)).outcome, 'added')
    for (const id of customers(31, 40)) await allowlists.members.add('a', id, {}, NOW)
    assert.deepEqual((await allMembers(allowlists, 'a')).toSorted(), customers(0, 40).toSorted())
    assert.equal((await allowlists.members.get('a', customer(3)))?.addedAt, NOW)
    assert.equal(await allowlists.changes.read(list, before), 'gap')
    for (const id of customers(0, 40)) await allowlists.members.remove('a', id, NOW)
    await raw('DEL', '{allowlist:a:3:1}:state')
    for (const id of customers(0, 40)) await allowlists.members.add('a', id, {}, NOW)
    for (const id of customers(0, 40)) {
      assert.equal((await allowlists.members.listsOf(id, undefined, 10)).length, 1, id)
    }
  })

  it('leaves nothing of a deleted list but notes that pass away', async () => {
    for (const initialShards of [1, 3]) {
      const { allowlists } = await open({ initialShards })
      const list = await newFixa(allowlists, 'a')
      await addAll(allowlists, 'a', customers(0, 3000))
      await allowlists.index.claim(list, 'x', 1000, NOW)
      await allowlists.index.putPage(list, 'x', 'p', Uint8Array.of(1))
      await allowlists.lists.delete('a', NOW)
      await sweepAll(allowlists)
      const keys = (await raw('KEYS', '*')) as string[]
      assert.deepEqual(keys.toSorted(), ['allowlists:incarnation', 'catraca:store'])
      await flush()
    }
  })
})

describe('allowlists in Redis: what is mended', () => {
  it('finds the lists of a customer without an index, page by page, deleted and foreign ones included', async () => {
    const { allowlists } = await open()
    for (const id of ['a', 'b', 'c', 'd']) await newFixa(allowlists, id)
    for (const id of ['a', 'b', 'd']) await allowlists.members.add(id, customer(1), {}, NOW)
    await raw('SADD', 'allowlist:c', customer(1))
    await allowlists.lists.delete('b', NOW)
    const other = (await open()).allowlists
    const idsOf = async (after: string | undefined, limit: number) =>
      (await other.members.listsOf(customer(1), after, limit)).map(({ list }) => list.id)
    assert.deepEqual(await idsOf(undefined, 10), ['a', 'c', 'd'])
    assert.deepEqual(await idsOf(undefined, 2), ['a', 'c'])
    assert.deepEqual(await idsOf('a', 10), ['c', 'd'])
    assert.deepEqual(await idsOf('d', 10), [])
    assert.deepEqual(await raw('KEYS', 'customer-allowlists:*'), [])
  })

  it('tells processes of version 0.1.0 what their index misses, in bounded memory and not for long', async () => {
    const { allowlists } = await open()
    await newFixa(allowlists, 'a')
    for (const id of customers(0, 30)) await allowlists.members.add('a', id, {}, NOW)
    const key = '{allowlist:a}:unindexed'
    assert.equal(await raw('ZCARD', key), 30)
    assert.ok(Number(await raw('PTTL', key)) > 0)
    const many = "for i = 1, 2000 do redis.call('ZADD', KEYS[1], i, 'old' .. i) end"
    await raw('EVAL', many, '1', key)
    await allowlists.members.add('a', customer(99), {}, NOW)
    assert.equal(await raw('ZCARD', key), 1000)
    assert.notEqual(await raw('ZSCORE', key, '31'), null)
  })

  it('puts a list that is used into the registry, and takes out what is none', async () => {
    await newFixa((await open()).allowlists, 'a')
    await raw('ZREM', 'allowlists', 'a')
    await raw('ZADD', 'allowlists', '0', 'nobody')
    const { allowlists } = await open()
    assert.deepEqual(await allowlists.lists.page(undefined, 10), [])
    assert.equal((await allowlists.lists.get('a'))?.id, 'a')
    await sweepAll(allowlists)
    assert.deepEqual(await raw('ZRANGE', 'allowlists', '0', '-1'), ['a'])
  })

  it('sweeps a deleted list that nobody noted as due', async () => {
    await newFixa((await open()).allowlists, 'a')
    await raw('HSET', '{allowlist:a}:meta', 'deleted', String(NOW))
    await sweepAll((await open()).allowlists)
    assert.deepEqual(await raw('ZRANGE', 'allowlists', '0', '-1'), [])
    assert.equal(await raw('EXISTS', '{allowlist:a}:meta'), 0)
  })
})

describe('a set of changes of lists in Redis', () => {
  it('is made whole by one of many who change the same lists', async () => {
    const { allowlists } = await open()
    for (const id of ['a', 'b', 'c']) await newFixa(allowlists, id)
    const outcomes = await Promise.all(
      Array.from({ length: 12 }, async (_, i) => {
        const engine = await open()
        const ids = i % 2 === 0 ? ['a', 'b', 'c'] : ['c', 'b', 'a']
        const steps = ids.map((id) => ({ step: 'update', id, ifVersion: 1, name: `n${i}` }) as const)
        return engine.allowlists.lists.changeAll(steps, NOW)
      }),
    )
    for (const outcome of outcomes)
      assert.ok(outcome.outcome === 'changed' || outcome.changed === 0, JSON.stringify(outcome))
    assert.equal(outcomes.filter(({ outcome }) => outcome === 'changed').length, 1)
    const lists = await allowlists.lists.page(undefined, 10)
    assert.equal(new Set(lists.map(({ name, version }) => `${name} ${version}`)).size, 1)
  })

  it('changes nothing if another program has put something else in a place', async () => {
    const { allowlists } = await open()
    await newFixa(allowlists, 'a')
    await raw('SET', '{allowlist:b}:state', 'something')
    const steps = [
      { step: 'update', id: 'a', ifVersion: 1, name: 'New' },
      { step: 'create', list: fixa('b') },
    ] as const
    await failure(allowlists.lists.changeAll(steps, NOW), 'STORE_CORRUPT')
    assert.equal((await allowlists.lists.get('a'))?.name, 'List a')
  })

  it('may be of very many lists', async () => {
    const { allowlists } = await open()
    const ids = Array.from({ length: 3000 }, (_, i) => `l${String(i).padStart(4, '0')}`)
    const made = ids.map((id) => ({ step: 'create', list: fixa(id) }) as const)
    assert.deepEqual(await allowlists.lists.changeAll(made, NOW), { outcome: 'changed' })
    const gone = ids.map((id) => ({ step: 'delete', id, ifVersion: 1 }) as const)
    assert.deepEqual(await allowlists.lists.changeAll(gone, NOW), { outcome: 'changed' })
    assert.deepEqual(await allowlists.lists.page(undefined, 10), [])
  })
})
