import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { optionalNumber } from '../../../src/engines/dynamodb/client/attributes.js'
import { PROBE_KEY } from '../../../src/engines/dynamodb/feed/feed-items.js'
import { Freshness } from '../../../src/engines/dynamodb/feed/freshness.js'
import { makeTables } from '../../support/dynamodb-engine.js'
import { startDynamo } from '../../support/dynamodb-server.js'

describe('probes', async () => {
  const { client, names } = await makeTables(await startDynamo())

  it('are sent once in an interval, also by a pod whose timer comes a little early', async () => {
    let now = 1_900_000_000_000
    const pods = [1, 2].map(
      () => new Freshness({ client, tables: names, now: () => now, probeIntervalMs: 1000 }),
    )
    const looked = async (): Promise<number | undefined> => {
      for (const pod of pods) await pod.ageMs('allowlists')
      const item = await client.getItem('test', {
        TableName: names.allowlists,
        Key: PROBE_KEY,
        ConsistentRead: true,
      })
      return optionalNumber(item!, 'at')
    }
    const begin = now
    assert.equal(await looked(), begin)
    now += 500
    assert.equal(await looked(), begin)
    now += 490
    assert.equal(await looked(), now)
  })
})
