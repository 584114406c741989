import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import {
  addAll,
  allMembers,
  countOf,
  customer,
  customers,
  holds,
  NOW,
  newFixa,
  sweepAll,
} from '../../../src/conformance/support.js'
import { ReverseIndex } from '../../../src/engines/redis/allowlist/reverse-index.js'
import { openRedis as connect } from '../../../src/engines/redis/link/open-redis.js'
import { readCustomerKey } from '../../../src/guards/allowlist/customer-key.js'
import { shardOf } from '../../../src/guards/allowlist/shard.js'
import { PATIENT_REDIS } from '../../support/patient.js'
import { until } from '../../support/redis/index.js'
import { oneServer } from '../../support/redis-engines.js'

const { open, raw, flush, url } = oneServer()

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
      const rest = keys.filter((key) => !key.startsWith('customer-allowlists:'))
      assert.deepEqual(rest.toSorted(), ['allowlists:incarnation', 'catraca:store'])
      assert.equal(keys.length - rest.length, 3000)
      for (const id of customers(0, 5)) assert.ok(Number(await raw('PTTL', `customer-allowlists:${id}`)) > 0)
      await flush()
    }
  })
})

describe('allowlists in Redis: what is mended', () => {
  it('brings to the reverse index what a writer that died has not', async () => {
    const { allowlists } = await open()
    await newFixa(allowlists, 'a')
    const file = fileURLToPath(new URL('../../support/redis-writer.js', import.meta.url))
    const child = spawn(process.execPath, [file, JSON.stringify([url(), 'a', customer(1)])], {
      stdio: 'inherit',
    })
    const [, signal] = await once(child, 'exit')
    assert.equal(signal, 'SIGKILL')
    assert.equal(await holds(allowlists, 'a', customer(1)), true)
    assert.deepEqual(await allowlists.members.listsOf(customer(1), undefined, 10), [])
    const other = (await open()).allowlists
    await sweepAll(other, NOW + 10_001)
    assert.equal((await allowlists.members.listsOf(customer(1), undefined, 10)).length, 1)
    assert.equal(await raw('EXISTS', '{allowlist:a}:unindexed'), 0)
  })

  it('does so also when the log no longer tells who was changed', async () => {
    const { allowlists } = await open()
    await newFixa(allowlists, 'a')
    for (const id of customers(0, 20)) await allowlists.members.add('a', id, {}, NOW)
    await raw('DEL', `customer-allowlists:${customer(3)}`)
    await raw('ZADD', '{allowlist:a}:unindexed', String(NOW), '4')
    await raw('XTRIM', '{allowlist:a}:log', 'MAXLEN', '1')
    await sweepAll((await open()).allowlists, NOW + 10_001)
    assert.equal((await allowlists.members.listsOf(customer(3), undefined, 10)).length, 1)
    await until('it is forgotten', async () => (await raw('EXISTS', '{allowlist:a}:unindexed')) === 0)
  })

  it('lets the reverse index know the latest change, in whatever order it hears of them', async () => {
    const { allowlists } = await open()
    const { incarnation } = await newFixa(allowlists, 'a')
    await newFixa(allowlists, 'b')
    const key = `customer-allowlists:${customer(1)}`
    await allowlists.members.add('a', customer(1), {}, NOW)
    assert.equal(await raw('HGET', key, 'a'), `+${incarnation}:0:1`)
    await allowlists.members.remove('a', customer(1), NOW)
    assert.match(String(await raw('HGET', key, 'a')), new RegExp(`^-${incarnation}:0:2:\\d+$`))
    assert.ok(Number(await raw('PTTL', key)) > 0)
    const redis = await connect(url(), PATIENT_REDIS)
    const reverse = new ReverseIndex(redis)
    const late = { listId: 'a', incarnation, layout: 0, sequence: 1 }
    await reverse.note(customer(1), '+', late)
    assert.deepEqual(await reverse.candidates(customer(1)), [])
    // What was removed long ago is forgotten at the next change.
    await raw('HSET', key, 'a', `-${incarnation}:0:2:1000`)
    await allowlists.members.add('b', customer(1), {}, NOW)
    assert.deepEqual(await raw('HKEYS', key), ['b'])
    assert.equal(await raw('PTTL', key), -1)
    await reverse.note(customer(1), '+', { ...late, incarnation: incarnation + 1 })
    assert.deepEqual(await reverse.candidates(customer(1)), ['a', 'b'])
    await redis.close()
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
