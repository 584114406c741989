import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { addAll, customer, holds, newFixa, sweepAll } from '../../../src/conformance/support.js'
import { openRedis, type RedisEngine } from '../../../src/engines/redis/index.js'
import { openRedis as connect } from '../../../src/engines/redis/link/open-redis.js'
import { openStores } from '../../../src/engines/redis/stores.js'
import { ViewChanged } from '../../../src/guards/allowlist/port.js'
import { PATIENT_REDIS } from '../../support/patient.js'
import { type RedisServers, startCluster, startSingle, until } from '../../support/redis/index.js'
import {
  customers,
  type Death,
  dies,
  holdsExactly,
  importIds,
  isReversed,
  NOW,
  STORE_OPTIONS,
  watched,
} from '../../support/redis-bulk.js'

let servers: RedisServers
let one: RedisEngine
let two: RedisEngine

async function fresh(members: string[], shards = 1): Promise<void> {
  await servers.flush()
  const engines = [one, two].map((engine) => engine?.close())
  await Promise.all(engines)
  one = await openRedis(servers.url, { ...PATIENT_REDIS, initialShards: shards })
  two = await openRedis(servers.url, PATIENT_REDIS)
  await newFixa(one.allowlists, 'a')
  await addAll(one.allowlists, 'a', members)
}

async function ask(engine: RedisEngine, id: string, freshness: 'strong' | undefined): Promise<boolean> {
  for (;;) {
    try {
      const view = await engine.allowlists.checks.view(freshness)
      const list = await view.list('a')
      assert.ok(list, 'the list is there')
      return (await view.member(list, id)) !== undefined
    } catch (error) {
      if (!(error instanceof ViewChanged)) throw error
    }
  }
}

/** Changes its own customers at random and checks, by the other instance, that each answer is the right one. */
class Writer {
  readonly held = new Set<string>()
  private isOver = false
  private checks = 0

  constructor(
    private readonly ids: readonly string[],
    members: Iterable<string>,
  ) {
    this.held = new Set(members)
  }

  stop(): void {
    this.isOver = true
  }

  async run(): Promise<number> {
    for (let i = 0; !this.isOver; i++) {
      const id = this.ids[(i * 7919) % this.ids.length]!
      const [writer, checker] = i % 2 === 0 ? [one, two] : [two, one]
      const wasHeld = this.held.has(id)
      const outcome = wasHeld
        ? await writer.allowlists.members.remove('a', id, NOW)
        : await writer.allowlists.members.add('a', id, { addedBy: 'writer' }, NOW)
      assert.equal(outcome.outcome, wasHeld ? 'removed' : 'added')
      if (wasHeld) this.held.delete(id)
      else this.held.add(id)
      assert.equal(await ask(checker, id, 'strong'), !wasHeld, `${id} after a change`)
      this.checks++
    }
    return this.checks
  }
}

/** Customers that nobody changes: members always, and never. */
async function watchStable(isOver: () => boolean, members: string[], strangers: string[]): Promise<number> {
  let checks = 0
  for (; !isOver(); checks += 4) {
    const [member, stranger] = [members[checks % members.length]!, strangers[checks % strangers.length]!]
    for (const engine of [one, two]) {
      assert.equal(await ask(engine, member, undefined), true, member)
      assert.equal(await ask(engine, stranger, undefined), false, stranger)
    }
  }
  return checks
}

function movesWhileServing(start: () => Promise<RedisServers>): void {
  before(async () => {
    servers = await start()
    await servers.calm()
  })
  after(async () => {
    await Promise.all([one?.close(), two?.close()])
    await servers.stop()
  })

  it('from 1 to 4 to 10 and back to 1 shard while it is changed and checked', async () => {
    const stable = customers(0, 1200)
    const changing = customers(3000, 3600)
    await fresh([...stable, ...changing])
    const token = await one.allowlists.members.add('a', 'with-all', { addedBy: 'x', metadata: { a: 1 } }, NOW)
    const writers = [0, 1, 2].map((n) => {
      const ids = changing.filter((_, i) => i % 3 === n)
      return new Writer(ids, ids)
    })
    let over = false
    const running = writers.map((writer) => writer.run())
    const watching = watchStable(() => over, stable, customers(9000, 9300))
    const phases = new Set<string>()
    for (const shards of [4, 10, 1]) {
      const outcome = await two.resharding.reshard('a', shards, {
        onProgress: ({ phase }) => phases.add(phase),
      })
      assert.equal(outcome.outcome, 'resharded')
      assert.equal((await one.allowlists.lists.get('a'))?.shardCount, shards)
    }
    over = true
    for (const writer of writers) writer.stop()
    for (const checks of [...(await Promise.all(running)), await watching])
      assert.ok(checks > 20, `${checks}`)
    assert.deepEqual([...phases], ['copying', 'following', 'frozen'])
    const expected = [...stable, ...writers.flatMap(({ held }) => [...held]), 'with-all']
    await holdsExactly(one.allowlists, 'a', expected)
    assert.deepEqual(await two.allowlists.members.get('a', 'with-all'), {
      ...{ customerId: 'with-all', addedAt: NOW, addedBy: 'x', metadata: { a: 1 } },
    })
    const read = one.allowlists.checks.readToken((token as { token: string }).token)
    assert.equal(read.isIn([{ sequence: 0, mark: 0 }]), true, 'a token from before is in every image')
    await isReversed(two.allowlists, [...stable.slice(0, 20), ...writers[0]!.held].slice(0, 60), ['a'])
  })

  it('members go on to expire, and images of the list are loaded anew', async () => {
    await fresh(customers(0, 100))
    const list = { id: 'a', incarnation: (await one.allowlists.lists.get('a'))!.incarnation }
    for (let i = 0; i < 50; i++) {
      await one.allowlists.members.add('a', customer(i), { expiresAt: NOW + 500 }, NOW)
    }
    const position = (await one.allowlists.changes.position(list))!
    assert.equal((await one.resharding.reshard('a', 3)).outcome, 'resharded')
    assert.equal(await two.allowlists.changes.read(list, position), 'gap')
    assert.equal((await two.allowlists.changes.position(list))?.length, 3)
    await sweepAll(two.allowlists, NOW + 500)
    await holdsExactly(one.allowlists, 'a', customers(50, 100))
  })

  it('an image from before a move there and back is not taken for one of today', async () => {
    await fresh([])
    const list = { id: 'a', incarnation: (await one.allowlists.lists.get('a'))!.incarnation }
    const empty = (await one.allowlists.changes.position(list))!
    await one.resharding.reshard('a', 2)
    await addAll(one.allowlists, 'a', customers(0, 10))
    await one.resharding.reshard('a', 1)
    const told = await two.allowlists.changes.read(list, empty)
    assert.ok(told === 'gap' || told.entries.some(({ bytes }) => bytes[0] === 0xff))
  })

  it('an import that is running goes on in the new shards, and counts each row once', async () => {
    await fresh(customers(0, 1000))
    const rows = customers(0, 4000)
    const importing = importIds(one.allowlists, 'a', rows, { mode: 'add', importId: 'i' })
    for (const shards of [3, 5]) {
      assert.equal((await two.resharding.reshard('a', shards)).outcome, 'resharded')
    }
    const { added, unchanged, customerCount } = await importing
    assert.deepEqual([added, unchanged, customerCount], [3000, 1000, 4000])
    await holdsExactly(two.allowlists, 'a', rows)
  })
}

describe('moves on one server', () => movesWhileServing(startSingle))
describe('moves on a cluster', () => movesWhileServing(startCluster))

describe('what stops a move', () => {
  before(async () => {
    servers = await startSingle()
  })
  after(async () => {
    await Promise.all([one?.close(), two?.close()])
    await servers.stop()
  })

  const deaths: Death[] = [
    { script: 'allowlist-reshard-claim', nth: 1, when: 'after' },
    { script: 'allowlist-reshard-put', nth: 5, when: 'after' },
    { script: 'allowlist-reshard-freeze', nth: 1, when: 'after' },
    { script: 'allowlist-reshard-switch', nth: 1, when: 'before' },
    { script: 'allowlist-reshard-switch', nth: 1, when: 'after' },
    { script: 'allowlist-reshard-drop', nth: 1, when: 'after' },
  ]
  for (const death of deaths) {
    it(`killed ${death.when} call ${death.nth} of ${death.script}, nothing is lost and it can be done again`, async () => {
      const members = customers(0, 2500)
      await fresh(members, 2)
      const ids = new Set(members)
      await dies({ url: servers.url, job: 'reshard', listId: 'a', shards: 4, death })
      for (const engine of [one, two]) {
        for (const id of [customer(1), customer(2)]) assert.equal(await ask(engine, id, undefined), true)
      }
      // Waits for the lease where the shards are frozen.
      for (const id of customers(4000, 4020)) {
        assert.equal((await two.allowlists.members.add('a', id, {}, NOW)).outcome, 'added')
        ids.add(id)
      }
      await holdsExactly(one.allowlists, 'a', [...ids])
      await until('the lease of the dead mover is over', async () => {
        await sweepAll(one.allowlists)
        return (await one.resharding.progress('a')) === undefined
      })
      assert.notEqual((await one.resharding.reshard('a', 3)).outcome, 'reshard-running')
      await holdsExactly(two.allowlists, 'a', [...ids])
      const sets = (await servers.servers[0]!.say('KEYS', 'allowlist:a*')) as string[]
      assert.deepEqual(sets.toSorted(), ['allowlist:a:3:0', 'allowlist:a:3:1', 'allowlist:a:3:2'])
    })
  }

  it('one move at a time, and none beside a replace', async () => {
    await fresh(customers(0, 3000))
    const outcomes = await Promise.all([one.resharding.reshard('a', 3), two.resharding.reshard('a', 3)])
    assert.deepEqual(outcomes.map(({ outcome }) => outcome).toSorted(), ['reshard-running', 'resharded'])
    assert.equal((await two.resharding.reshard('a', 3)).outcome, 'unchanged')
    assert.equal((await two.resharding.reshard('none', 3)).outcome, 'list-not-found')
    const request = { listId: 'a', importId: 'r', mode: 'replace', owner: 'o', leaseMs: 1000 } as const
    assert.equal((await one.allowlists.bulk.begin(request, NOW)).outcome, 'begun')
    assert.equal((await two.resharding.reshard('a', 5)).outcome, 'replace-running')
  })

  it('a batch that a move meets half-way goes on behind it, and nothing is counted twice', async () => {
    await fresh(customers(0, 200))
    let parts = 0
    const redis = await connect(servers.url, PATIENT_REDIS)
    const stores = openStores(
      watched(redis, async (script, run) => {
        // The part before it is stored, and the checkpoint of the batch is not.
        if (script === 'allowlist-import-add' && (++parts === 2 || parts === 9)) {
          const shards = parts === 2 ? 3 : 2
          assert.equal((await two.resharding.reshard('a', shards)).outcome, 'resharded')
        }
        return run()
      }),
      STORE_OPTIONS,
    )
    await stores.tokens.open()
    try {
      const rows = customers(0, 4000)
      const { added, unchanged } = await importIds(stores, 'a', rows, { mode: 'add', importId: 'i' })
      assert.deepEqual([added, unchanged], [3800, 200])
      await holdsExactly(one.allowlists, 'a', rows)
    } finally {
      stores.tokens.close()
      await redis.close()
    }
  })

  it('given up by its caller, it leaves the list as it was', async () => {
    await fresh(customers(0, 3000))
    const stop = new AbortController()
    const moving = one.resharding.reshard('a', 4, {
      signal: stop.signal,
      onProgress: () => stop.abort(new Error('no more')),
    })
    await assert.rejects(moving, /no more/)
    assert.equal(await two.resharding.progress('a'), undefined)
    assert.equal((await two.allowlists.members.add('a', 'since', {}, NOW)).outcome, 'added')
    await holdsExactly(one.allowlists, 'a', [...customers(0, 3000), 'since'])
  })

  it('of a list that is deleted meanwhile nothing stays', async () => {
    await fresh(customers(0, 3000))
    const moving = one.resharding.reshard('a', 4, {
      onProgress: ({ phase, copied }) => {
        if (phase === 'copying' && copied === 0) void two.allowlists.lists.delete('a', NOW)
      },
    })
    assert.equal((await moving).outcome, 'list-not-found')
    await sweepAll(two.allowlists)
    const keys = (await servers.servers[0]!.say('KEYS', 'allowlist:a*')) as string[]
    assert.deepEqual(keys, [])
  })

  it('upkeep moves a list whose shards have become too large', async () => {
    await fresh(customers(0, 900))
    const keeper = await openRedis(servers.url, { ...PATIENT_REDIS, shardAbove: 500 })
    try {
      await until('the list has more shards', async () => {
        await keeper.allowlists.upkeep.sweep(NOW)
        return (await two.allowlists.lists.get('a'))!.shardCount === 4
      })
      await holdsExactly(two.allowlists, 'a', customers(0, 900))
      assert.equal(await holds(one.allowlists, 'a', customer(5)), true)
    } finally {
      await keeper.close()
    }
  })
})
