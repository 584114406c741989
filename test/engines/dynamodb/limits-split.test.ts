import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { cost, lease, remaining, ruleOf } from '../../../src/conformance/rate-limit/support.js'
import { NOW, parallel } from '../../../src/conformance/support.js'
import type { SubjectCosts } from '../../../src/guards/rate-limit/port.js'
import { ALGORITHMS } from '../../../src/guards/rate-limit/rule.js'
import { type Served, serve } from '../../cli/run.js'
import { send } from '../../server/support.js'
import { makeTables } from '../../support/dynamodb-engine.js'
import { LimitsServer } from '../../support/dynamodb-limits.js'
import { CREDENTIALS_ENV, startDynamo } from '../../support/dynamodb-server.js'
import { failure } from '../../support/failure.js'

const PARTS = 8
const server = await startDynamo()
const limits = new LimitsServer(server)
const table = await limits.table()
const splits = [
  { resource: 'split', parts: PARTS },
  { resource: 'mixed', entity: 'hot', parts: PARTS },
]
const engines = [limits.open(table, { splits }), limits.open(table, { splits })] as const
const [one, two] = [engines[0].counters, engines[1].counters]
const pair = { one, two }

const of = (entity: string, asked: SubjectCosts['limits'], resource = 'split'): SubjectCosts => ({
  ...{ entity, resource },
  limits: asked,
})

async function partsOf(entity: string): Promise<number> {
  const items = await server.client().scan('test', { TableName: table })
  return items.items.filter(({ PK }) => PK!.S!.startsWith(`SUBJECT#${entity}#`)).length
}

describe('limits that are split over several items', () => {
  for (const algorithm of ALGORITHMS) {
    it(`admit as many calls on two instances as the rule says, and no more: ${algorithm}`, async () => {
      // Not a multiple of the parts: the shares differ by one.
      const rule = ruleOf(algorithm, 101)
      const asked = of(`race-${algorithm}`, [cost('rpm', rule, 1)])
      const taken = await parallel(pair, 160, (store) => store.take([asked], NOW))
      assert.equal(taken.filter(({ allowed }) => allowed).length, 101)
      assert.equal(await partsOf(asked.entity), PARTS)
      assert.deepEqual(await remaining(one, asked), [0])
    })
  }

  it('refill as fast as the rule says', async () => {
    const rule = ruleOf('token-bucket', 60, 60)
    const asked = of('refill', [cost('rpm', rule, 1)])
    let admitted = 0
    for (let second = 0; second <= 30; second++) {
      const taken = await parallel(pair, 10, (store) => store.take([asked], NOW + second * 1000))
      admitted += taken.filter(({ allowed }) => allowed).length
      assert.ok(admitted <= 60 + second, `${admitted} were admitted after ${second} s`)
    }
    // A token of a part comes every 8 seconds, so up to one for each part is not whole yet.
    assert.ok(admitted > 60 + 30 - PARTS, `${admitted} of ${60 + 30}`)
  })

  it('find every token for a cost of 1, and say how many are left', async () => {
    const asked = of('every', [cost('rpm', ruleOf('fixed-window', 11), 1)])
    for (let left = 10; left >= 0; left--) {
      assert.equal((await one.take([asked], NOW)).allowed, true)
      assert.deepEqual(await remaining(two, asked), [left])
    }
    const denied = await two.take([asked], NOW)
    assert.equal(denied.allowed, false)
    assert.equal(denied.views[0]![0]!.remaining, 0)
    assert.ok(denied.views[0]![0]!.retryAfterMs > 0)
    assert.equal((await one.take([asked], NOW + denied.views[0]![0]!.retryAfterMs)).allowed, true)
  })

  it('take all limits of a call or none', async () => {
    const [many, few] = [ruleOf('fixed-window', 80), ruleOf('fixed-window', 9)]
    const asked = of('both', [cost('many', many, 1), cost('few', few, 1)])
    const taken = await parallel(pair, 40, (store) => store.take([asked], NOW))
    assert.equal(taken.filter(({ allowed }) => allowed).length, 9)
    assert.deepEqual(await remaining(one, asked), [71, 0])
  })

  it('give back to the part that was taken from', async () => {
    const asked = of('lease', [cost('rpm', ruleOf('token-bucket', 20), 1)])
    const taken = await parallel(pair, 20, (store) => store.take([asked], NOW))
    const back = taken.slice(0, 5).map(({ from }) => lease([...from!]))
    const outcomes = await parallel(pair, 10, (store, i) => store.giveBack(back[i >> 1]!, NOW))
    assert.equal(outcomes.filter((outcome) => outcome === 'done').length, 5)
    assert.deepEqual(await remaining(one, asked), [5])
    const again = await parallel(pair, 10, (store) => store.take([asked], NOW))
    assert.equal(again.filter(({ allowed }) => allowed).length, 5)
  })

  it('count what was admitted without the store once, also if it is said twice', async () => {
    const asked = of('outage', [cost('rpm', ruleOf('token-bucket', 80), 0)])
    const late = lease([asked], { rpm: 4 })
    await one.adjust(late, 'one', NOW)
    await two.adjust(late, 'one', NOW)
    assert.deepEqual(await remaining(one, asked), [76])
  })

  it('refuse parts that cannot be', () => {
    for (const parts of [0, 1.5, 257, Number.NaN]) {
      assert.throws(
        () => limits.open(table, { splits: [{ resource: 'r', parts }] }),
        /splitLimits: r must have/,
      )
    }
  })

  it('refuse a cost that no part can hold', async () => {
    const asked = of('large', [cost('rpm', ruleOf('token-bucket', 80), 11)])
    await failure(one.take([asked], NOW), 'INVALID_INPUT')
    const fits = of('large', [cost('rpm', ruleOf('token-bucket', 80), 10)])
    const taken = await parallel(pair, 20, (store) => store.take([fits], NOW))
    assert.equal(taken.filter(({ allowed }) => allowed).length, 8)
  })

  it('take from a child and its parent, of whom only one is split, or from neither', async () => {
    const hot = of('hot', [cost('rpm', ruleOf('fixed-window', 30), 1)], 'mixed')
    const taken = await parallel(pair, 60, (store, i) => {
      const child = of(`child-${i % 3}`, [cost('rpm', ruleOf('fixed-window', 12), 1)], 'mixed')
      return store.take([child, hot], NOW)
    })
    assert.equal(taken.filter(({ allowed }) => allowed).length, 30)
    assert.deepEqual(await remaining(one, hot), [0])
    const children = [0, 1, 2].map((i) =>
      remaining(two, of(`child-${i}`, [cost('rpm', ruleOf('fixed-window', 12), 0)], 'mixed')),
    )
    const left = (await Promise.all(children)).reduce((sum, [of]) => sum + of!, 0)
    assert.equal(left, 36 - 30)
  })

  it('are reset in all parts, and listed once', async () => {
    const asked = of('listed', [cost('rpm', ruleOf('fixed-window', 16), 1)])
    await parallel(pair, 16, (store) => store.take([asked], NOW))
    const { items } = await two.list({ prefix: 'listed', after: undefined, limit: 100 })
    assert.deepEqual(items, [{ entity: 'listed', resource: 'split' }])
    assert.equal(await two.reset(asked), true)
    assert.deepEqual(await remaining(one, asked), [16])
    assert.equal(await two.reset(asked), false)
  })
})

describe('the setting dynamodb.splitLimits', () => {
  let pods: Served[] = []
  before(async () => {
    const { names } = await makeTables(server)
    const env = {
      ...CREDENTIALS_ENV,
      CATRACA_DYNAMODB_SPLIT_LIMITS: 'chat=4,other/a=b=3',
      CATRACA_LIMITS_LOCAL_LEASE_TOKENS: '3',
    }
    const store = server.url(names)
    pods = await Promise.all([serve(['--store', store], { env }), serve(['--store', store], { env })])
  })
  after(() => Promise.all(pods.map((pod) => pod.stop())))

  it('splits the limits of a resource for servers, with leases that can be given back', async () => {
    const limits = { rpm: { capacity: 20, refillPeriodSeconds: 3600, algorithm: 'fixed-window' } }
    const set = await send(pods[0]!.url, 'PUT', '/config/system/chat', { body: { limits } })
    assert.ok(set.status < 300)
    const acquire = ({ url }: Served) =>
      send(url, 'POST', '/limits/acquire', { body: { entity: 'ana', resource: 'chat' } })
    const answers = await parallel({ one: pods[0]!, two: pods[1]! }, 10, acquire)
    assert.ok(answers.every(({ status }) => status === 200))
    for (const { json } of answers.slice(0, 4)) {
      assert.ok((await send(pods[1]!.url, 'DELETE', `/leases/${json.leaseId}`)).status < 300)
    }
    const later = await parallel({ one: pods[0]!, two: pods[1]! }, 30, acquire)
    // What another process holds in advance is denied here, and nothing is admitted twice.
    const admitted = later.filter(({ status }) => status === 200).length
    assert.ok(admitted <= 14 && admitted >= 14 - 2 * 3, `${admitted} of 14 were admitted`)
  })
})
