import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Checker } from '../../src/allowlist/checker.js'
import { buildIndex } from '../../src/allowlist/membership/build.js'
import { IndexedChecks } from '../../src/allowlist/membership/indexed-checks.js'
import { Indexes } from '../../src/allowlist/membership/indexes.js'
import { DEFAULT_MEMBERSHIP } from '../../src/allowlist/membership/options.js'
import { openCatraca } from '../../src/catraca.js'
import { ManualClock } from '../../src/clock.js'
import {
  addAll,
  allMembers,
  customer,
  customers,
  holds,
  NOW,
  newFixa,
  sweepAll,
} from '../../src/conformance/support.js'
import { ReverseIndex } from '../../src/engines/redis/allowlist/reverse-index.js'
import { openRedis as connect } from '../../src/engines/redis/link/open-redis.js'
import { openStores } from '../../src/engines/redis/stores.js'
import { CatracaError, isCatracaError } from '../../src/errors.js'
import { until } from '../support/redis/index.js'
import { holdsExactly, importIds, STORE_OPTIONS, watched } from '../support/redis-bulk.js'
import { oneServer } from '../support/redis-engines.js'

const { open, raw, url, server } = oneServer()

/** Stores over a connection that `interfere` may hold up or break. */
async function interfered(
  interfere: (script: string, run: () => Promise<unknown>) => Promise<unknown>,
  commands: (args: readonly unknown[]) => void = () => {},
) {
  const redis = await connect(url())
  const broken = new Proxy(watched(redis, interfere), {
    get(target, name: keyof typeof redis) {
      const value = target[name] as unknown
      if (name !== 'read' && name !== 'write') return value
      return async (key: string, args: readonly string[]) => {
        commands(args)
        return redis[name](key, args)
      }
    },
  })
  const stores = openStores(broken, STORE_OPTIONS)
  await stores.tokens.open()
  return { ...stores, close: async () => {
    stores.tokens.close()
    await redis.close()
  } }
}

/** Shards that were dropped are remembered for some minutes. */
async function nothingStays(listId: string): Promise<void> {
  for (const key of (await raw('KEYS', `*allowlist:${listId}*`)) as string[])
    assert.ok(Number(await raw('PTTL', key)) > 0, key)
}

const unknown = (error: unknown) => isCatracaError(error, 'UNKNOWN_OUTCOME')
const away = () => new CatracaError('ENGINE_UNAVAILABLE', 'Redis is not available: it is a test')

describe('a change that was made is never told as one that was not', () => {
  it('when another shard cannot be counted', async (t) => {
    const { allowlists } = await open({ initialShards: 3 })
    await newFixa(allowlists, 'a')
    let isAway = false
    const stores = await interfered((_, run) => run(), ([verb]) => {
      if (isAway && verb === 'SCARD') throw away()
    })
    t.after(stores.close)
    isAway = true
    await assert.rejects(stores.members.add('a', customer(1), {}, NOW), unknown)
    assert.equal(await holds(allowlists, 'a', customer(1)), true)
    await assert.rejects(stores.members.remove('a', customer(1), NOW), unknown)
    assert.equal(await holds(allowlists, 'a', customer(1)), false)
  })

  it('when a list was created, changed or deleted', async (t) => {
    let isAway = false
    let made = false
    const stores = await interfered(async (script, run) => {
      const reply = await run()
      if (/^allowlist-(create|update|delete)$/.test(script)) made = true
      return reply
    }, () => {
      if (isAway && made) throw away()
    })
    t.after(stores.close)
    const list = { id: 'a', name: 'A', type: 'FIXA', precision: 'exact', salt: '0'.repeat(32) } as const
    isAway = true
    await assert.rejects(stores.lists.create(list, NOW), unknown)
    made = false
    await assert.rejects(stores.lists.update('a', { name: 'B' }, NOW), unknown)
    made = false
    await assert.rejects(stores.lists.delete('a', NOW), unknown)
  })
})

describe('moves of two owners', () => {
  it('one that slept over its lease does not thaw what another has frozen', async (t) => {
    const { allowlists } = await open()
    await newFixa(allowlists, 'a')
    await addAll(allowlists, 'a', customers(0, 50))
    let wakeFirst!: () => void
    let wakeSecond!: () => void
    let firstSleeps!: () => void
    let secondSleeps!: () => void
    const asleep = [new Promise<void>((r) => (firstSleeps = r)), new Promise<void>((r) => (secondSleeps = r))]
    const first = await interfered(async (script, run) => {
      if (script === 'allowlist-reshard-freeze' && firstSleeps !== undefined) {
        firstSleeps()
        await new Promise<void>((resolve) => (wakeFirst = resolve))
      }
      if (script === 'allowlist-reshard-claim' && wakeFirst !== undefined) return ['lost']
      return run()
    })
    const second = await interfered(async (script, run) => {
      if (script === 'allowlist-reshard-switch') {
        secondSleeps()
        await new Promise<void>((resolve) => (wakeSecond = resolve))
      }
      return run()
    })
    t.after(first.close)
    t.after(second.close)
    const moving = first.resharding.reshard('a', 2, { leaseMs: 50 }).catch(() => undefined)
    await asleep[0]
    firstSleeps = undefined!
    await new Promise((resolve) => setTimeout(resolve, 200))
    const other = second.resharding.reshard('a', 3).catch((error: unknown) => error)
    await asleep[1]
    wakeFirst()
    await moving
    const adding = allowlists.members.add('a', customer(99), {}, NOW)
    await new Promise((resolve) => setTimeout(resolve, 300))
    wakeSecond()
    await other
    assert.equal((await adding).outcome, 'added')
    await holdsExactly(allowlists, 'a', [...customers(0, 50), customer(99)])
  })
})

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

  it('members that are no text are swept with their list, replaced and moved', { timeout: 20_000 }, async () => {
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
    const reverse = (await raw('KEYS', 'customer-allowlists:*')) as string[]
    assert.ok(reverse.every((key) => /^[a-z0-9:-]+$/.test(key)))
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

describe('what must not grow without end', () => {
  it('what is remembered of lists that a customer has left', async (t) => {
    const redis = await connect(url())
    t.after(() => redis.close())
    const reverse = new ReverseIndex(redis)
    const version = (i: number) => ({ listId: `list-${i}`, incarnation: i + 1, layout: 0, sequence: 1 })
    for (let i = 0; i < 300; i++) await reverse.note('eve', '+', version(i))
    const old = Date.now() - 3_600_000
    for (let i = 0; i < 300; i++) await raw('HSET', 'customer-allowlists:eve', `list-${i}`, `-${i + 1}:0:2:${old}`)
    for (let i = 300; i < 340; i++) await reverse.note('eve', '+', version(i))
    assert.ok(Number(await raw('HLEN', 'customer-allowlists:eve')) < 100)
  })

  it('shards of a move whose list was deleted', async (t) => {
    const { allowlists } = await open()
    await newFixa(allowlists, 'a')
    await addAll(allowlists, 'a', customers(0, 5))
    const stores = await interfered(async (script, run) => {
      if (script === 'allowlist-reshard-prepare' && (await allowlists.lists.delete('a', NOW))) await sweepAll(allowlists)
      return run()
    })
    t.after(stores.close)
    assert.equal((await stores.resharding.reshard('a', 3)).outcome, 'list-not-found')
    await nothingStays('a')
  })
})

describe('the index in memory', () => {
  it('does not answer for members that were replaced, beside answers of the store', async (t) => {
    const one = (await open()).allowlists
    const two = (await open()).allowlists
    const list = await newFixa(one, 'a')
    await importIds(one, 'a', ['before'], { mode: 'replace', importId: 'one' })
    const outcome = await buildIndex({
      ...{ index: two.index, changes: two.changes, clock: new ManualClock(NOW), leaseMs: 10_000 },
      list: { ...list, precision: 'exact' },
    })
    assert.equal(outcome.outcome, 'built')
    let isHeldUp = false
    const changes = new Proxy(two.changes, {
      get(target, name: keyof typeof two.changes) {
        if (name === 'read' && isHeldUp) return () => new Promise(() => {})
        const value = target[name] as unknown
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    const clock = new ManualClock(NOW)
    const indexes = new Indexes({
      ...{ index: two.index, changes, clock, options: { ...DEFAULT_MEMBERSHIP, verificationEntries: 0 } },
      build: () => Promise.resolve(),
      report: () => {},
    })
    t.after(() => indexes.close())
    await indexes.load(list)
    const checks = new IndexedChecks(two.checks, indexes, clock)
    const checker = new Checker(checks, clock)
    const answers = async () =>
      (await checker.checkMany(['before', 'behind'], ['a'], undefined)).map((one) => one.overallAllowed)
    assert.deepEqual(await answers(), [true, false])
    assert.ok(checks.counts.filtered > 0, 'memory answers')
    isHeldUp = true
    await importIds(one, 'a', ['behind'], { mode: 'replace', importId: 'two' })
    const now = await (await two.checks.view('strong')).list('a')
    await until('the other instance knows', async () => {
      const view = await two.checks.view(undefined)
      return (await view.list('a')) === now
    })
    assert.deepEqual(await answers(), [false, true])
  })
})

describe('tokens of lists with very many shards', () => {
  it('can be used', async (t) => {
    const catraca = await openCatraca({ store: `redis://127.0.0.1:${server().port}`, sweepIntervalMs: 0 })
    t.after(() => catraca.close())
    const { allowlists, resharding } = await open()
    await newFixa(allowlists, 'a')
    assert.equal((await resharding.reshard('a', 300)).outcome, 'resharded')
    const { token } = await importIds(allowlists, 'a', customers(0, 300), { mode: 'add', importId: 'i' })
    const answer = await catraca.allowlists.check(customer(1), ['a'], { atLeast: token })
    assert.equal(answer.overallAllowed, true)
  })
})
