import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { addAll, customer, newFixa, sorted, sweepAll } from '../../../src/conformance/support.js'
import { CatracaError } from '../../../src/core/errors.js'
import { openRedis, type RedisEngine } from '../../../src/engines/redis/index.js'
import { openRedis as connect } from '../../../src/engines/redis/link/open-redis.js'
import type { Redis } from '../../../src/engines/redis/link/redis.js'
import { openStores } from '../../../src/engines/redis/stores.js'
import type { SortedCustomers } from '../../../src/guards/allowlist/port.js'
import { PATIENT_REDIS } from '../../support/patient.js'
import { type RedisServers, startSingle } from '../../support/redis/index.js'
import {
  customers,
  holdsExactly,
  importIds,
  isReversed,
  LEASE_MS,
  NOW,
  STORE_OPTIONS,
  watched,
} from '../../support/redis-bulk.js'

let servers: RedisServers
let one: RedisEngine
let two: RedisEngine
before(async () => {
  servers = await startSingle()
})
after(async () => {
  await Promise.all([one?.close(), two?.close()])
  await servers.stop()
})

async function fresh(shards: number, members: string[]): Promise<void> {
  await Promise.all([one?.close(), two?.close()])
  await servers.flush()
  one = await openRedis(servers.url, { ...PATIENT_REDIS, initialShards: shards })
  two = await openRedis(servers.url, PATIENT_REDIS)
  await newFixa(one.allowlists, 'a')
  await addAll(one.allowlists, 'a', members)
}

/** Stores whose scripts are done, but every third answer of those named gets lost. */
async function withLostAnswers(
  scripts: string[],
  use: (stores: ReturnType<typeof openStores>) => Promise<void>,
) {
  let calls = 0
  let lost = 0
  const redis: Redis = await connect(servers.url, PATIENT_REDIS)
  const forgetful = watched(redis, async (script, run) => {
    const reply = await run()
    if (!scripts.includes(script) || ++calls % 3 !== 0) return reply
    lost++
    throw new CatracaError('UNKNOWN_OUTCOME', 'the answer was lost')
  })
  const stores = openStores(forgetful, STORE_OPTIONS)
  await stores.tokens.open()
  try {
    await use(stores)
    assert.ok(lost > 0, 'answers were lost')
  } finally {
    stores.tokens.close()
    await redis.close()
  }
}

for (const shards of [1, 3]) {
  describe(`imports with ${shards} shard(s)`, () => {
    it('parts whose outcome is unknown are sent again and counted once', async () => {
      await fresh(shards, customers(0, 700))
      const rows = customers(0, 5000)
      const scripts = ['allowlist-import-begin', 'allowlist-import-add', 'allowlist-import-checkpoint']
      await withLostAnswers(scripts, async (stores) => {
        const result = await importIds(stores, 'a', rows, { mode: 'add', importId: 'i' })
        assert.deepEqual([result.added, result.unchanged, result.customerCount], [4300, 700, 5000])
      })
      await holdsExactly(one.allowlists, 'a', rows)
      await sweepAll(one.allowlists, NOW + LEASE_MS)
      await isReversed(
        one.allowlists,
        rows.filter((_, i) => i % 11 === 0),
        ['a'],
      )
    })

    it('a replace whose answers get lost switches once', async () => {
      await fresh(shards, customers(4000, 6000))
      const rows = customers(0, 5000)
      const scripts = [
        'allowlist-replace-put',
        'allowlist-switch-one',
        'allowlist-switch-meta',
        'allowlist-activate',
      ]
      await withLostAnswers([...scripts, 'allowlist-import-finish'], async (stores) => {
        const result = await importIds(stores, 'a', rows, { mode: 'replace', importId: 'i' })
        assert.deepEqual([result.added, result.unchanged, result.removed], [4000, 1000, 1000])
      })
      await holdsExactly(one.allowlists, 'a', rows)
      await sweepAll(one.allowlists, NOW + LEASE_MS)
      await isReversed(
        one.allowlists,
        rows.filter((_, i) => i % 11 === 0),
        ['a'],
      )
      await isReversed(one.allowlists, customers(5000, 5040), [])
    })

    it('a server that hangs for longer than the timeout costs time, and nothing else', async () => {
      await fresh(shards, customers(0, 700))
      const rows = customers(0, 20_000)
      const slow = await openRedis(servers.url, { commandTimeoutMs: 150 })
      try {
        const importing = importIds(slow.allowlists, 'a', rows, { mode: 'add', importId: 'i' })
        while (((await two.allowlists.bulk.status('a', 'i', NOW))?.added ?? 0) < 2000);
        servers.servers[0]!.pause()
        await new Promise((resolve) => setTimeout(resolve, 400))
        servers.servers[0]!.resume()
        const { added, unchanged } = await importing
        assert.deepEqual([added, unchanged], [19_300, 700])
        await holdsExactly(two.allowlists, 'a', rows)
      } finally {
        await slow.close()
      }
    })

    it('changes by hand on two instances win over the file of a replace that runs meanwhile', async () => {
      await fresh(shards, customers(0, 2000))
      const rows = customers(1000, 3000)
      const byHand = new Map<string, boolean>()
      let isOver = false
      const change = async (engine: RedisEngine, n: number) => {
        for (let i = n; !isOver; i += 2) {
          const id = customer((i * 7919) % 4000)
          const adds = i % 3 !== 0
          byHand.set(id, adds)
          if (adds) await engine.allowlists.members.add('a', id, { addedBy: 'hand' }, NOW)
          else await engine.allowlists.members.remove('a', id, NOW)
        }
      }
      const request = { listId: 'a', importId: 'r', mode: 'replace', owner: 'o', leaseMs: LEASE_MS } as const
      const begun = await one.allowlists.bulk.begin(request, NOW)
      assert.ok('session' in begun)
      const changing = [change(one, 0), change(two, 1)]
      async function* runs(): AsyncGenerator<SortedCustomers> {
        const all = sorted(rows)
        for (let at = 0; at < all.count; at += 100) {
          yield { ...all, count: 100, start: (i) => all.start(at + i), end: (i) => all.end(at + i) }
          while (byHand.size < at / 10) await new Promise((resolve) => setImmediate(resolve))
        }
      }
      const checkpoint = { rowsAcknowledged: 0, inputDigest: '', rejected: 0, firstErrors: [] }
      const outcome = await one.allowlists.bulk.replace(
        begun.session,
        runs(),
        (counts) => ({ ...checkpoint, ...counts }),
        () => NOW,
      )
      isOver = true
      await Promise.all(changing)
      assert.equal(outcome.outcome, 'replaced')
      assert.ok(byHand.size > 50, `${byHand.size} customers were changed`)
      const expected = new Set(rows)
      for (const [id, isMember] of byHand) {
        if (isMember) expected.add(id)
        else expected.delete(id)
      }
      await holdsExactly(two.allowlists, 'a', [...expected])
      await sweepAll(two.allowlists, NOW + LEASE_MS)
      await holdsExactly(one.allowlists, 'a', [...expected])
      await isReversed(
        one.allowlists,
        [...expected].filter((_, i) => i % 29 === 0),
        ['a'],
      )
    })
  })
}

describe('what followers are told of a replace', () => {
  it('few differences one by one, many as a reset', async () => {
    await fresh(1, customers(0, 2000))
    const list = { id: 'a', incarnation: (await one.allowlists.lists.get('a'))!.incarnation }
    const replaceBy = async (ids: string[], importId: string) => {
      const before = (await one.allowlists.changes.position(list))!
      await importIds(one.allowlists, 'a', ids, { mode: 'replace', importId })
      const told = await two.allowlists.changes.read(list, before)
      assert.ok(told !== 'gap')
      return told.entries.map(({ bytes }) => bytes)
    }
    const few = await replaceBy([...customers(5, 2000), 'new'], 'few')
    assert.equal(few.length, 1)
    assert.ok(few[0]!.length > 20 && few[0]!.length < 200, `${few[0]!.length} bytes`)
    assert.deepEqual(await replaceBy([...customers(5, 2000), 'new'], 'none'), [])
    assert.deepEqual(
      (await replaceBy(customers(20_000, 31_000), 'many')).map((bytes) => bytes[0]),
      [0xff],
    )
  })

  for (const shards of [1, 3]) {
    it(`and processes of version 0.1.0 whatever it changes, in ${shards} shards: their index misses it`, async () => {
      const { servers: own } = servers
      const say = (...args: string[]) => own[0]!.say(...args)
      await fresh(shards, [])
      await importIds(one.allowlists, 'a', customers(0, 20_000), { mode: 'add', importId: 'first' })
      const tags = shards === 1 ? ['{allowlist:a}'] : [0, 1, 2].map((i) => `{allowlist:a:3:${i}}`)
      for (const ids of [customers(5, 20_000), customers(30_000, 45_000)]) {
        for (const tag of tags) await say('DEL', `${tag}:unindexed`)
        await importIds(one.allowlists, 'a', ids, { mode: 'replace', importId: `to ${ids.length}` })
        for (const tag of tags) {
          const last = String(await say('HGET', `${tag}:state`, 'sequence'))
          assert.notEqual(await say('ZSCORE', `${tag}:unindexed`, last), null, tag)
        }
      }
    })
  }

  it('records of imports that are long over are forgotten', async () => {
    await fresh(1, [])
    await importIds(one.allowlists, 'a', customers(0, 10), { mode: 'add', importId: 'old' })
    await sweepAll(one.allowlists, NOW + LEASE_MS)
    assert.ok(await one.allowlists.bulk.status('a', 'old', NOW))
    await sweepAll(one.allowlists, NOW + 8 * 24 * 3600 * 1000)
    assert.equal(await one.allowlists.bulk.status('a', 'old', NOW), undefined)
    assert.deepEqual(await servers.servers[0]!.say('KEYS', '*:imports'), [])
  })
})
