import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { bucket, cost, lease, of, remaining, ruleOf } from '../../../src/conformance/rate-limit/support.js'
import { parallel } from '../../../src/conformance/support.js'
import type { Item } from '../../../src/engines/dynamodb/client/attributes.js'
import { decide, type SubjectState } from '../../../src/guards/rate-limit/decide.js'
import type { LimitStore } from '../../../src/guards/rate-limit/port.js'
import { ALGORITHMS, compileRule } from '../../../src/guards/rate-limit/rule.js'
import { LimitsServer } from '../../support/dynamodb-limits.js'
import { startDynamo } from '../../support/dynamodb-server.js'
import { decidesAlike } from '../../support/random-limits.js'

const limits = new LimitsServer(await startDynamo())
const table = await limits.table()
const START = 1_900_000_000_000
const SEEDS = 4
const engines = [limits.open(table), limits.open(table)] as const
const [one, two] = engines

async function itemOf(entity: string, resource = 'gpt-4'): Promise<Item | undefined> {
  const Key = { PK: { S: `SUBJECT#${entity}#${resource}` }, SK: { S: 'STATE' } }
  return limits.server.client().getItem('test', { TableName: table, Key, ConsistentRead: true })
}

describe('what DynamoDB decides', () => {
  const counters = [one.counters, two.counters] as const

  for (const algorithm of ALGORITHMS) {
    it(`is what TypeScript decides: ${algorithm}, in any order of calls, clocks and rules`, async () => {
      await Promise.all(
        Array.from({ length: SEEDS }, (_, seed) => decidesAlike(counters, algorithm, seed + 1)),
      )
    })
  }

  it('is what TypeScript decides also when a limit gets another algorithm', async () => {
    await Promise.all(Array.from({ length: SEEDS }, (_, seed) => decidesAlike(counters, undefined, seed + 1)))
  })

  it('is exact where a double is not', async () => {
    // 999,999,937 units come back each millisecond: the moment of being full has 22 digits.
    const limit = { algorithm: 'token-bucket', capacity: 1000, burst: 1000 } as const
    const fine = compileRule('x', { ...limit, refillAmount: 999_999_937, refillPeriodSeconds: 60 })
    const look = (now: number) => one.counters.take([of('fine', cost('x', fine, 0))], now)
    const states: SubjectState[] = [[]]
    for (const amount of [1, 300, 7]) {
      const asked = [of('fine', cost('x', fine, amount))]
      const { views, states: next } = decide(states, asked, START)
      assert.deepEqual((await one.counters.take(asked, START)).views, views)
      states[0] = next[0]!
    }
    const full = (await itemOf('fine'))!['full#x']!.N!
    assert.equal(full, String(BigInt(START) * 999_999_937n + 308n * 60_000n))
    assert.equal((await look(START)).views[0]![0]!.remaining, 692)
  })
})

describe('what is stored', () => {
  it('is one flat item for a subject, with an end', async () => {
    const subject = of(
      'layout',
      cost('rpm', bucket(60), 2),
      cost('rph', ruleOf('fixed-window', 5, 3600), 1),
      cost('est', ruleOf('sliding-window-counter', 5), 1),
      cost('log', ruleOf('sliding-window', 5), 1),
      cost('busy', ruleOf('concurrency', 5), 2),
    )
    await one.counters.take([subject], START)
    const hour = START - (START % 3_600_000)
    const { mark, ttl, ...item } = (await itemOf('layout'))!
    assert.deepEqual(item, {
      PK: { S: 'SUBJECT#layout#gpt-4' },
      SK: { S: 'STATE' },
      'rule#rpm': { S: 'bucket 1 1000 60' },
      'full#rpm': { N: String(START + 2000) },
      'at#rpm': { N: String(START) },
      'rule#rph': { S: 'fixed 3600000' },
      'start#rph': { N: String(hour) },
      'used#rph': { N: '1' },
      'rule#est': { S: 'counter 60000' },
      'start#est': { N: String(START - (START % 60_000)) },
      'used#est': { N: '1' },
      'before#est': { N: '0' },
      'rule#log': { S: 'log' },
      'sum#log': { N: '1' },
      'log#log': { M: { [START]: { N: '1' } } },
      'rule#busy': { S: 'slots' },
      'sum#busy': { N: '2' },
      'log#busy': { M: { [START]: { N: '2' } } },
    })
    assert.match(mark!.S!, /^[\w-]{12}\.\w+$/)
    assert.ok(Number(ttl!.N) * 1000 >= START + 2 * 3_600_000, 'until the longest is over')
  })

  it('is kept for as long as the longest of its limits, whoever writes', async () => {
    const long = of('ends', cost('rpd', ruleOf('fixed-window', 5, 86_400), 1))
    await one.counters.take([long], START)
    const before = Number((await itemOf('ends'))!.ttl!.N)
    const short = of('ends', cost('rps', ruleOf('fixed-window', 5, 1), 1))
    await two.counters.take([short], START)
    assert.equal(Number((await itemOf('ends'))!.ttl!.N), before)
    const later = START + 80_000_000
    await two.counters.take([of('ends', cost('rpd', ruleOf('fixed-window', 5, 86_400), 1))], later)
    assert.ok(Number((await itemOf('ends'))!.ttl!.N) > before)
  })

  it('of a lease says what was added, or that it was given back, and ends with it', async () => {
    const taken = [of('leased', cost('rpm', bucket(60), 10))]
    await one.counters.take(taken, START)
    const use = { ...lease(taken, { rpm: -4 }, START), id: 'lease' }
    const Key = { PK: { S: 'LEASE#lease' }, SK: { S: 'LEASE' } }
    const read = () => limits.server.client().getItem('test', { TableName: table, Key })
    await one.counters.adjust(use, 'once', START)
    const ttl = { N: String(use.expiresAt / 1000 + 300) }
    const adjusted = { 'sum#0#rpm': { N: '-4' }, adjustments: { S: 'once' } }
    assert.deepEqual(await read(), { ...Key, version: { N: '1' }, ...adjusted, ttl })
    await two.counters.giveBack(use, START)
    assert.equal((await read())?.back?.BOOL, true)
    assert.equal((await itemOf('leased'))?.['full#rpm'], undefined)
    assert.equal(await two.counters.reset({ entity: 'leased', resource: 'gpt-4' }), false)
  })

  it('refuses a lease that has run out, so that it cannot be given back once more', async () => {
    const taken = [of('over', cost('rpm', bucket(60), 60))]
    await one.counters.take(taken, START)
    assert.equal(await one.counters.giveBack({ ...lease(taken), expiresAt: START }, START), 'expired')
    assert.deepEqual(await remaining(one.counters, taken[0]!, START), [0])
  })
})

describe('an item that cannot be read', () => {
  it('is refused by name, and stays when it is no item of ours', async () => {
    const Key = { PK: { S: 'SUBJECT#odd#gpt-4' }, SK: { S: 'STATE' } }
    const put = (item: Item) =>
      limits.server.client().putItem('test', { TableName: table, Item: { ...Key, ...item } })
    const odd = of('odd', cost('rpm', bucket(5), 1))
    await put({ mark: { S: 'm' }, 'rule#rpm': { S: 'spiral 1' } })
    await assert.rejects(two.counters.take([odd], START), { code: 'STORE_CORRUPT', message: /rule#rpm/ })
    await put({ theirs: { S: 'value' } })
    await assert.rejects(two.counters.reset(odd), { code: 'STORE_CORRUPT', message: /SUBJECT#odd#gpt-4/ })
    assert.equal((await itemOf('odd'))?.theirs?.S, 'value')
  })
})

describe('what it costs', () => {
  const use = async (work: () => Promise<unknown>) => {
    one.counts.reset()
    await work()
    // What others are told of earlier cases comes when it comes.
    const rows = one.counts.rows().filter(({ verb }) => verb !== 'limit.tell')
    const sum = (of: (row: (typeof rows)[number]) => number) => rows.reduce((all, row) => all + of(row), 0)
    const refused = one.counts.retries().reduce((all, row) => all + row.refused, 0)
    return {
      calls: sum(({ calls }) => calls),
      read: sum(({ readUnits }) => readUnits),
      write: sum(({ writeUnits }) => writeUnits),
      refused,
    }
  }
  const A_WRITE = { calls: 1, read: 0, write: 1, refused: 0 }

  it('is one write unit and no read for an acquire: the first, the next, one after a pause', async () => {
    for (const algorithm of ALGORITHMS) {
      const asked = [of(`cost-${algorithm}`, cost('x', ruleOf(algorithm, 20), 1))]
      for (const afterMs of [0, 0, 1, 59_990, 60_000, 200_000]) {
        const cost = await use(() => one.counters.take(asked, START + afterMs))
        assert.deepEqual(cost, A_WRITE, `${algorithm} after ${afterMs} ms`)
      }
    }
  })

  it('is the same for several limits of one subject', async () => {
    const several = ALGORITHMS.map((algorithm) => cost(algorithm, ruleOf(algorithm, 20), 1))
    for (const now of [START, START + 5, START + 10]) {
      assert.deepEqual(await use(() => one.counters.take([of('several', ...several)], now)), A_WRITE)
    }
  })

  it('is one refused write more where another process was there before', async () => {
    const asked = [of('guess', cost('x', bucket(20), 1))]
    await two.counters.take(asked, START)
    assert.deepEqual(await use(() => one.counters.take(asked, START)), { ...A_WRITE, refused: 1 })
    await two.counters.take(asked, START)
    assert.deepEqual(await use(() => one.counters.take(asked, START)), A_WRITE)
  })

  it('is a read, not a write, for a denial that was to be expected, and for a look', async () => {
    const asked = [of('denied', cost('x', bucket(1), 1))]
    await one.counters.take(asked, START)
    assert.deepEqual(await use(() => one.counters.take(asked, START)), {
      ...A_WRITE,
      read: 1,
      write: 0,
    })
    const look = [of('denied', cost('x', bucket(1), 0))]
    assert.deepEqual(await use(() => one.counters.take(look, START)), { ...A_WRITE, read: 1, write: 0 })
  })

  it('is a transaction for two subjects, and a read of what it led to', async () => {
    const both = [of('child', cost('x', bucket(9), 1)), of('parent', cost('x', bucket(9), 1))]
    const { calls, read, write } = await use(() => one.counters.take(both, START))
    assert.deepEqual([calls, read, write], [2, 2, 4])
  })
})

describe('two processes on one hot key', () => {
  const hot = { one: one.counters, two: two.counters }

  it('are not in each other’s way: nearly every call is one write', async () => {
    for (const algorithm of ['token-bucket', 'fixed-window', 'sliding-window-counter'] as const) {
      const asked = [of(`hot-${algorithm}`, cost('x', ruleOf(algorithm, 1000), 1))]
      for (const { counters } of engines) await counters.take(asked, START)
      for (const { counts } of engines) counts.reset()
      const answers = await parallel<LimitStore, { allowed: boolean }>(hot, 300, (store, i) =>
        store.take(asked, START + (i % 7)),
      )
      assert.ok(answers.every(({ allowed }) => allowed))
      assert.deepEqual(await remaining(one.counters, asked[0]!, START), [698], algorithm)
      const refused = engines
        .flatMap(({ counts }) => counts.retries())
        .reduce((sum, row) => sum + row.refused, 0)
      assert.ok(refused <= 20, `${algorithm}: ${refused} of 300 were refused`)
    }
  })

  it('give slots back while others take them', async () => {
    const rule = ruleOf('concurrency', 10)
    const asked = [of('slots', cost('busy', rule, 1))]
    let held = 0
    let most = 0
    const turns = await parallel<LimitStore, number>(hot, 16, async (store, i) => {
      let done = 0
      for (let turn = 0; turn < 6; turn++) {
        const { allowed, at } = await store.take(asked, START + i * 10 + turn)
        if (!allowed) continue
        most = Math.max(most, ++held)
        await new Promise((resolve) => setTimeout(resolve, 2))
        held--
        assert.equal(await store.giveBack(lease(asked, {}, at), at), 'done')
        done++
      }
      return done
    })
    assert.ok(most <= 10, `${most} at once`)
    assert.ok(turns.reduce((sum, done) => sum + done, 0) > 30)
    assert.deepEqual(await remaining(one.counters, asked[0]!, START), [10])
  })

  it('give back of a bucket also when the window beside it is over', async () => {
    const hour = ruleOf('fixed-window', 1000, 3600)
    const asked = [of('mixed', cost('rpm', bucket(1000), 10), cost('rph', hour, 10))]
    const later = START + 3_600_000
    const { at } = await one.counters.take(asked, START)
    let isDone = false
    const traffic = async (store: LimitStore, i: number) => {
      for (let turn = 0; !isDone && turn < 60; turn++) await store.take(asked, later + i)
    }
    const busy = parallel<LimitStore, void>(hot, 6, traffic)
    const [use] = [lease(asked, {}, at)]
    const outcome = await two.counters.giveBack({ ...use!, expiresAt: later + 60_000 }, later)
    isDone = true
    await busy
    assert.equal(outcome, 'done')
  })
})
