import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CapacityCounts } from '../../../src/engines/dynamodb/client/capacity.js'
import { monthlyCost, Spending } from '../../../src/engines/dynamodb/spending.js'
import { startDynamo } from '../../support/dynamodb-server.js'

const MINUTE_MS = 60_000

describe('what processes spend', async () => {
  const server = await startDynamo()
  const { guards: table } = await server.emptyTables(['guards'])
  const client = server.client()
  let now = 1_900_000_000_000

  function openProcess() {
    const counts = new CapacityCounts()
    const spending = new Spending({ client, table, counts, now: () => now })
    const use = (readUnits: number, writeUnits: number) =>
      counts.used({ verb: 'x', operation: 'y', table: 'z', readUnits, writeUnits })
    return { counts, spending, use }
  }

  it('is added up over all of them, and ends with them', async () => {
    assert.equal(await monthlyCost(client, table, now), undefined)
    const [one, two] = [openProcess(), openProcess()]
    one.use(3000, 600)
    two.use(300, 0)
    two.counts.refused('x', 'y')
    now += 5 * MINUTE_MS
    await Promise.all([one.spending.tell(), two.spending.tell()])
    const month = 2.592
    const dollars = 11 * month * 0.125 + (601 / 300) * month * 0.625
    assert.deepEqual(await monthlyCost(client, table, now), {
      ...{ processes: 2, readUnitsPerSecond: 11, writeUnitsPerSecond: 2 },
      dollars: Math.round(dollars * 100) / 100,
    })
    // Only what came since the last time counts.
    now += 5 * MINUTE_MS
    await one.spending.tell()
    assert.equal((await monthlyCost(client, table, now))?.readUnitsPerSecond, 1)
    // The second has said nothing for too long, as if it had been killed.
    now += 9 * MINUTE_MS
    await one.spending.tell()
    assert.deepEqual(await monthlyCost(client, table, now), {
      ...{ processes: 1, readUnitsPerSecond: 0, writeUnitsPerSecond: 0, dollars: 0 },
    })
    await one.spending.close()
    await two.spending.close()
    assert.equal(await monthlyCost(client, table, now), undefined)
  })
})
