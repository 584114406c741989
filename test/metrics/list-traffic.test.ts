import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ManualClock } from '../../src/core/clock.js'
import type { CheckFigures } from '../../src/guards/allowlist/check-figures.js'
import { ListTraffic } from '../../src/metrics/index.js'
import { bearer, knownKey, serve } from '../server/support.js'
import { openPatiently } from '../support/patient.js'

const NOW = Date.UTC(2030, 0, 1)
const STEP_MS = 10_000

type Context = { after(fn: () => unknown): void }

/** Lists `a` and `b` with the member `ann`; the second list that is checked has no counters of its own. */
async function opened(t: Context, maxSeries = 1) {
  const catraca = await openPatiently({ store: 'memory:', metrics: { maxSeries } })
  t.after(() => catraca.close())
  for (const id of ['a', 'b']) {
    await catraca.allowlists.create({ id, name: id, type: 'FIXA' })
    await catraca.allowlists.add(id, 'ann')
  }
  const clock = new ManualClock(NOW)
  const traffic = new ListTraffic(catraca.allowlists.figures as CheckFigures, clock)
  t.after(() => traffic.stop())
  const check = async (list: string, customers: string[]): Promise<void> => {
    for (const customer of customers) await catraca.allowlists.check(customer, [list])
  }
  const steps = (count: number): void => {
    clock.advance(count * STEP_MS)
    traffic.sample()
  }
  return { catraca, clock, traffic, check, steps }
}

describe('traffic of a list', () => {
  it('is what it allowed and denied in each step, and nothing of other lists', async (t) => {
    const { traffic, check, steps } = await opened(t, 200)
    assert.deepEqual(traffic.read('a', 60).allowed, [])
    steps(1)
    await check('a', ['ann', 'bob', 'eve'])
    await check('b', ['ann'])
    steps(1)
    steps(1)
    assert.deepEqual(traffic.read('a', 60), {
      stepSeconds: 10,
      from: '2030-01-01T00:00:00.000Z',
      allowed: [0, 1, 0],
      denied: [0, 2, 0],
    })
    assert.deepEqual(traffic.read('b', 60).denied, [0, 0, 0])
  })

  it('is spread over the steps in which the process stood still, and kept for an hour', async (t) => {
    const { clock, traffic, check, steps } = await opened(t)
    await check('a', ['ann', 'ann', 'ann', 'ann', 'ann'])
    steps(3)
    assert.deepEqual(traffic.read('a', 60).allowed, [1, 2, 2])
    clock.advance(-3_600_000)
    steps(0)
    assert.deepEqual(traffic.read('a', 60).allowed, [1, 2, 2, 0], 'the clock was set back')
    for (let i = 0; i < 359; i++) steps(1)
    const { from, allowed } = traffic.read('a', 60)
    assert.deepEqual([allowed.length, allowed[0], allowed[1]], [360, 0, 0])
    assert.equal(Date.parse(from), clock.now() - 3_600_000)
    assert.equal(traffic.read('a', 1).allowed.length, 6)
  })

  it('is counted from the first look, for lists that came after `metrics.maxSeries` others', async (t) => {
    const { catraca, traffic, check, steps } = await opened(t)
    await check('a', ['ann'])
    await check('b', ['ann', 'ann'])
    steps(1)
    assert.deepEqual(traffic.read('b', 60).allowed, [])
    await check('b', ['ann', 'bob', 'eve'])
    steps(1)
    const { from, allowed, denied } = traffic.read('b', 60)
    assert.deepEqual([from, allowed, denied], ['2030-01-01T00:00:10.000Z', [1], [2]])
    assert.deepEqual(traffic.read('a', 60).allowed, [1, 0])
    const names = [...(catraca.allowlists.figures as CheckFigures).reasons.entries()].map(([name]) => name)
    assert.deepEqual(names, ['a', 'other'], 'metrics keep their bound')
  })

  it('forgets the list that nobody looked at for the longest when 51 are watched', async (t) => {
    const { traffic, check, steps } = await opened(t)
    await check('a', ['ann'])
    traffic.read('b', 60)
    steps(1)
    for (let i = 0; i < 49; i++) traffic.read(`list-${i}`, 60)
    assert.equal(traffic.read('b', 60).allowed.length, 1)
    for (let i = 49; i < 98; i++) traffic.read(`list-${i}`, 60)
    assert.equal(traffic.read('b', 60).allowed.length, 1, 'it was asked for after the first 49')
    traffic.read('list-98', 60)
    for (let i = 50; i < 100; i++) traffic.read(`list-${i}`, 60)
    steps(1)
    assert.deepEqual(traffic.read('b', 60).allowed, [], 'counted anew')
  })

  it('is served to those who may read the list', async (t) => {
    const server = await serve(t)
    const { call, catraca } = server
    await catraca.allowlists.create({ id: 'a', name: 'a', type: 'FIXA' })
    const { status, json } = await call('GET', '/stats/allowlists/a?minutes=5')
    assert.deepEqual([status, json.stepSeconds, json.allowed, json.denied], [200, 10, [], []])
    const missing = await call('GET', '/stats/allowlists/nope')
    assert.deepEqual([missing.status, missing.json.code], [404, 'ALLOWLIST_NOT_FOUND'])
    assert.equal((await call('GET', '/stats/allowlists/a?minutes=61')).status, 400)
    const { key } = await knownKey(server, 'checker', ['check'])
    assert.equal((await call('GET', '/stats/allowlists/a', { headers: bearer(key) })).status, 403)
  })
})
