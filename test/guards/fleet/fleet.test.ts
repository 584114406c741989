import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Fleet, type ProcessFigures } from '../../../src/guards/fleet/index.js'
import { type FleetRecord, type FleetStore, MAX_RECORD_BYTES } from '../../../src/guards/fleet/port.js'
import { viewOf } from '../../../src/guards/fleet/view.js'
import { quiet } from '../../support/fleet-pods.js'
import { openPatiently } from '../../support/patient.js'

const record = (id: string, facts: object): FleetRecord => ({ id, text: JSON.stringify(facts), ageMs: 7 })
const facts = { name: 'pod', pid: 1, version: '1.0.0', engine: 'redis', startedAt: '', lists: 0 }

describe('the view of a fleet', () => {
  it('sums over all processes, and names mixed versions and lists that some do not follow', () => {
    const { processes, sums, versions, notFollowed } = viewOf([
      record('b', {
        ...{ ...facts, name: 'b', lists: 2, followed: ['x', 'y'], checksPerSecond: 10, feedLagMs: 5 },
        lastMinute: { checks: 1, errors: 2, degraded: 3 },
      }),
      record('a', { ...facts, name: 'a', lists: 1, followed: ['y'], checksPerSecond: 2.5, staleLists: 1 }),
      record('c', { ...facts, name: 'c', version: '0.9.0', lists: 70, followed: ['z'] }),
    ])
    assert.deepEqual(
      processes.map(({ id, seenMsAgo }) => [id, seenMsAgo]),
      [
        ['a', 7],
        ['b', 7],
        ['c', 7],
      ],
    )
    assert.deepEqual(sums, {
      ...{ processes: 3, checksPerSecond: 12.5, errorsLastMinute: 2, degradedLastMinute: 3 },
      ...{ staleLists: 1, feedLagMs: 5 },
    })
    assert.deepEqual(versions, [
      { version: '1.0.0', processes: 2 },
      { version: '0.9.0', processes: 1 },
    ])
    // c has more lists than its record has room for, so nothing is known of what it lacks.
    assert.deepEqual(notFollowed, [
      { allowlistId: 'x', processes: ['a'] },
      { allowlistId: 'z', processes: ['a', 'b'] },
    ])
  })

  it('survives records of other versions and of other programs', () => {
    const { processes } = viewOf([
      { id: 'a', text: 'not JSON', ageMs: 0 },
      { id: 'b', text: 'null', ageMs: -5 },
      record('c', { name: 7, lists: 'many', followed: [1], lastMinute: [] }),
    ])
    assert.deepEqual(
      processes.map(({ id, name, lists, seenMsAgo }) => [id, name, lists, seenMsAgo]),
      [
        ['b', '', 0, 0],
        ['c', '', 0, 7],
      ],
    )
  })
})

describe('a record that somebody made to do harm', () => {
  it('has no more room than others, and controls neither terminals nor sums', () => {
    const wild = {
      ...{
        name: `\u001b[2J\u202epod<b>${'x'.repeat(1000)}`,
        version: '1\u0007\n2',
        engine: '\u2028',
        pid: -1,
      },
      ...{ startedAt: 'yesterday', lists: 1e308, checksPerSecond: 1e308, staleLists: -5, feedLagMs: 1e308 },
      ...{ lastMinute: { errors: 1e308, degraded: '7' }, followed: ['ok', '\u001b[31mred', 'a b', '', 7] },
    }
    const records = [record('a', wild), record('b', { ...wild, version: '3' })]
    const view = viewOf([
      ...records,
      { id: 'c', text: JSON.stringify({ name: 'x'.repeat(100_000) }), ageMs: 0 },
    ])
    assert.deepEqual(
      view.processes.map(({ id }) => id),
      ['a', 'b'],
    )
    const [one] = view.processes
    assert.ok(one!.name.startsWith('[2Jpod<b>x') && one!.name.length === 128)
    assert.deepEqual([one!.version, one!.engine, one!.startedAt, one!.pid], ['12', '', '', 0])
    assert.deepEqual(one!.followed, ['ok'])
    assert.ok(Object.values(view.sums).every((sum) => Number.isFinite(sum) && sum >= 0))
    assert.doesNotMatch(JSON.stringify(view), /\\u00|\u202e|\u2028/)
  })
})

/** Keeps the last word of each process. */
class Told implements FleetStore {
  readonly announceMs = 2 ** 30
  readonly expireMs = 1
  readonly texts = new Map<string, string>()
  calls = 0
  async announce(id: string, text: string): Promise<void> {
    this.calls++
    this.texts.set(id, text)
  }
  async leave(id: string): Promise<void> {
    this.calls++
    this.texts.delete(id)
  }
  async list(): Promise<FleetRecord[]> {
    this.calls++
    return [...this.texts].map(([id, text]) => ({ id, text, ageMs: 0 }))
  }
}

function opened(options: { enabled?: boolean; announce?: boolean } = {}) {
  const store = new Told()
  const state = { nowMs: 0, figures: quiet as ProcessFigures }
  const fleet = new Fleet({
    ...{ store, engine: 'test', clock: { now: () => 0 } },
    options: { enabled: true, announce: true, name: undefined, ...options },
    figures: () => state.figures,
    nowMs: () => state.nowMs,
  })
  return { store, state, fleet }
}

describe('a process of the fleet', () => {
  it('tells rates over seconds, and counts of the last minute', async () => {
    const { state, fleet } = opened()
    await fleet.announced()
    for (let second = 1; second <= 90; second++) {
      state.nowMs = second * 1000
      state.figures = { ...quiet, checks: 20 * second, errors: second, degraded: second > 89 ? 1 : 0 }
      await fleet.announce()
    }
    const { processes } = await fleet.list()
    assert.equal(processes[0]!.checksPerSecond, 20)
    assert.deepEqual(processes[0]!.lastMinute, { checks: 1200, errors: 60, degraded: 1 })
    await fleet.close()
  })

  it('has a record of bounded size, whatever it follows', async () => {
    const { store, state, fleet } = opened()
    await fleet.announced()
    const followed = Array.from({ length: 500 }, (_, i) => `${'list'.repeat(40)}-${i}`)
    state.figures = { ...quiet, lists: 500, followed }
    await fleet.announce()
    const [text] = store.texts.values()
    assert.ok(Buffer.byteLength(text!) <= MAX_RECORD_BYTES, `${text!.length}`)
    assert.ok((JSON.parse(text!) as { followed: string[] }).followed.length > 10)
    await fleet.close()
  })

  it('leaves when it is closed, and says nothing any more', async () => {
    const { store, fleet } = opened()
    await fleet.announced()
    assert.equal(store.texts.size, 1)
    await fleet.close()
    await fleet.announce()
    assert.equal(store.texts.size, 0)
  })

  it('ends although the store does not answer', async () => {
    const { store, fleet } = opened()
    await fleet.announced()
    store.leave = () => new Promise(() => {})
    await fleet.close()
  })

  it('writes and asks nothing when it is switched off', async () => {
    const { store, fleet } = opened({ enabled: false })
    await fleet.announced()
    assert.deepEqual(await fleet.list(), {
      ...{ enabled: false, expireMs: 1, processes: [], versions: [], notFollowed: [] },
      sums: {
        ...{ processes: 0, checksPerSecond: 0, errorsLastMinute: 0, degradedLastMinute: 0 },
        ...{ staleLists: 0, feedLagMs: 0 },
      },
    })
    await fleet.close()
    assert.equal(store.calls, 0)
  })

  it('of the library only looks, unless told to announce itself', async () => {
    const store = 'memory:'
    const silent = await openPatiently({ store })
    assert.deepEqual((await silent.fleet.list()).processes, [])
    await silent.close()
    const one = await openPatiently({ store, fleet: { announce: true, name: 'one' } })
    const { self, processes } = await one.fleet.list()
    assert.deepEqual(
      processes.map(({ id, name, engine }) => [id, name, engine]),
      [[self, 'one', 'embedded']],
    )
    await one.close()
  })
})
