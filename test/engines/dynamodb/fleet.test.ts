import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { fleetSuites, register } from '../../../src/conformance/index.js'
import { NOW } from '../../../src/conformance/support.js'
import { CapacityCounts } from '../../../src/engines/dynamodb/client/capacity.js'
import { DynamodbFleet } from '../../../src/engines/dynamodb/fleet/store.js'
import { startDynamo } from '../../support/dynamodb-server.js'
import { announced, PODS, pods } from '../../support/fleet-pods.js'

const server = await startDynamo('dynoxide')
const client = server.client()
const { guards } = await server.emptyTables(['guards'])
const store = () => new DynamodbFleet(client, guards, (at) => at)

for (const suite of fleetSuites)
  register({ describe, it, after }, server.emulator, suite, async () => ({
    one: store(),
    two: store(),
    close: async () => {},
  }))

describe('40 pods on DynamoDB', () => {
  it('are listed, and one that dies is gone within 30 s, by the clock of the reader', async () => {
    let now = NOW
    const { guards: table } = await server.emptyTables(['guards'])
    const counter = new CapacityCounts()
    const counted = new DynamodbFleet(server.client({ counter }), table, (at) => at)
    const { fleets, viewer } = pods(counted, () => now)
    await announced(fleets)
    counter.reset()
    await announced(fleets)
    // A write unit for each announcement of a pod with few lists: one in 10 s. A look costs half a unit for each 4 KB of all together.
    assert.deepEqual(counter.of('fleet'), { calls: PODS, readUnits: 0, writeUnits: PODS })
    counter.reset()
    assert.equal((await viewer().list()).processes.length, PODS)
    const { calls, readUnits } = counter.of('fleet')
    assert.ok(calls === 1 && readUnits > 0 && readUnits <= 3, `${readUnits} units`)
    const [dead, ...alive] = fleets
    // The last word of the dead one was at the start; its bound is that of a page that asks every 5 s.
    for (const passedMs of [10_000, 20_000, 25_000]) {
      now = NOW + passedMs
      await announced(alive)
    }
    const { processes, sums } = await viewer().list()
    assert.equal(processes.length, PODS - 1)
    assert.equal(sums.checksPerSecond, 0)
    assert.ok(!processes.some(({ id }) => id === dead!.id))
    assert.ok(store().expireMs + 0.25 * store().announceMs < 30_000)
  })

  it('clocks that differ, as far as the server clock says, move no pod out of the fleet', async () => {
    const skewed = new DynamodbFleet(client, guards, (at) => at + 120_000)
    await skewed.announce('skewed', '{}', skewed.expireMs, NOW - 120_000)
    assert.ok((await store().list(NOW)).some(({ id, ageMs }) => id === 'skewed' && ageMs === 0))
  })
})
