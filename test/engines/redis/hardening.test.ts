import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  addAll,
  customer,
  customers,
  holds,
  NOW,
  newFixa,
  sweepAll,
} from '../../../src/conformance/support.js'
import { ManualClock } from '../../../src/core/clock.js'
import { CatracaError, isCatracaError } from '../../../src/core/errors.js'
import { Checker } from '../../../src/guards/allowlist/checker.js'
import { buildIndex } from '../../../src/guards/allowlist/membership/build.js'
import { IndexedChecks } from '../../../src/guards/allowlist/membership/indexed-checks.js'
import { Indexes } from '../../../src/guards/allowlist/membership/indexes.js'
import { DEFAULT_MEMBERSHIP } from '../../../src/guards/allowlist/membership/options.js'
import { openPatiently } from '../../support/patient.js'
import { until } from '../../support/redis/index.js'
import { holdsExactly, importIds } from '../../support/redis-bulk.js'
import { oneServer } from '../../support/redis-engines.js'
import { interfered } from '../../support/redis-interfered.js'

const { open, raw, url, server } = oneServer()

const unknown = (error: unknown) => isCatracaError(error, 'UNKNOWN_OUTCOME')
const away = () => new CatracaError('ENGINE_UNAVAILABLE', 'Redis is not available: it is a test')

describe('a change that was made is never told as one that was not', () => {
  it('when another shard cannot be counted', async (t) => {
    const { allowlists } = await open({ initialShards: 3 })
    await newFixa(allowlists, 'a')
    let isAway = false
    const stores = await interfered(
      url(),
      (_, run) => run(),
      ([verb]) => {
        if (isAway && verb === 'SCARD') throw away()
      },
    )
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
    const stores = await interfered(
      url(),
      async (script, run) => {
        const reply = await run()
        if (/^allowlist-(create|update|delete)$/.test(script)) made = true
        return reply
      },
      () => {
        if (isAway && made) throw away()
      },
    )
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
    const first = await interfered(url(), async (script, run) => {
      if (script === 'allowlist-reshard-freeze' && firstSleeps !== undefined) {
        firstSleeps()
        await new Promise<void>((resolve) => (wakeFirst = resolve))
      }
      if (script === 'allowlist-reshard-claim' && wakeFirst !== undefined) return ['lost']
      return run()
    })
    const second = await interfered(url(), async (script, run) => {
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

describe('a failover that loses the switch of a move, which the shards have followed', () => {
  for (const thawed of [true, false]) {
    it(`loses no member, ${thawed ? 'behind' : 'before'} the first change`, async () => {
      const { allowlists, resharding } = await open()
      await newFixa(allowlists, 'a')
      await addAll(allowlists, 'a', customers(0, 50))
      const meta = '{allowlist:a}:meta'
      const moving = {
        owner: 'dead',
        shards: 3,
        generation: 1,
        leaseUntil: 1,
        phase: 'frozen',
        copied: 0,
        total: 0,
      }
      assert.equal((await resharding.reshard('a', 3)).outcome, 'resharded')
      if (!thawed)
        for (const n of [0, 1, 2]) await raw('HSET', `{allowlist:a:3:${n}}:state`, 'frozen', 'dead')
      await raw(
        'HSET',
        meta,
        'shards',
        '1',
        'generation',
        '0',
        'layout',
        '0',
        'moving',
        JSON.stringify(moving),
      )
      await sweepAll(allowlists)
      const { allowlists: other } = await open()
      await holdsExactly(other, 'a', customers(0, 50))
      assert.equal((await other.members.add('a', customer(60), {}, NOW)).outcome, 'added')
    })
  }
})

describe('a failover that loses the switch of a replace, which the shards have followed', () => {
  it('does not leave the list without an answer', async () => {
    const { allowlists } = await open({ initialShards: 3 })
    await newFixa(allowlists, 'a')
    await addAll(allowlists, 'a', customers(0, 50))
    await importIds(allowlists, 'a', customers(20, 80), { mode: 'replace', importId: 'i' })
    const replacing = JSON.stringify({ importId: 'i', generation: 1 })
    await raw('HSET', '{allowlist:a}:meta', 'generation', '0', 'replacing', replacing)
    await raw('HSET', '{allowlist:a}:imports', 'i#claim', `running replace ${NOW - 1} ${NOW} ${NOW} dead`)
    await sweepAll(allowlists)
    const { allowlists: other } = await open()
    await holdsExactly(other, 'a', customers(20, 80))
    assert.equal((await other.members.add('a', customer(90), {}, NOW)).outcome, 'added')
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
    const catraca = await openPatiently({ store: `redis://127.0.0.1:${server().port}`, sweepIntervalMs: 0 })
    t.after(() => catraca.close())
    const { allowlists, resharding } = await open()
    await newFixa(allowlists, 'a')
    assert.equal((await resharding.reshard('a', 300)).outcome, 'resharded')
    const { token } = await importIds(allowlists, 'a', customers(0, 300), { mode: 'add', importId: 'i' })
    const answer = await catraca.allowlists.check(customer(1), ['a'], { atLeast: token })
    assert.equal(answer.overallAllowed, true)
  })
})
