import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { run as dynamodbPods } from '../../bench/proof/dynamodb-pods.js'
import { run as dynamodbReshard } from '../../bench/proof/dynamodb-reshard.js'
import { run as freshness } from '../../bench/proof/freshness.js'
import { run as httpPaths } from '../../bench/proof/http-paths.js'
import { run as idempotency } from '../../bench/proof/idempotency.js'
import { run as kill } from '../../bench/proof/kill.js'
import { run as limits, runFailover, runOnDynamodb, runOnRedis } from '../../bench/proof/limits.js'
import { run as race } from '../../bench/proof/race.js'
import { run as soakModel } from '../../bench/proof/soak-model.js'

/** The proofs of `npm run proof`, which take minutes there, with small sizes. Each throws when a promise is broken. */
describe('proofs, small', () => {
  it('http-paths: the faster ways of answering a check cannot be told from the ordinary one', async () => {
    const figures = await httpPaths({ requests: 2000, seed: 2 })
    assert.ok(figures['answered on the connection']! > 200)
  })

  it('race: processes on one directory agree', async () => {
    const figures = await race({ seconds: 0.6, processes: 3, bulkSize: 200, setSize: 1500 })
    assert.ok(figures['writes seen elsewhere by token']! > 0)
    assert.ok(figures['addAndRemove/s']! > 0)
    assert.ok(figures['watchSets/s']! > 0)
  })

  it('kill: what was acknowledged survives, and the rest can be resumed', async () => {
    const { kills } = await kill({ rounds: 1, rows: 3000, size: 1500, killsPerImport: 1 })
    assert.ok(kills! > 0)
  })

  it('freshness: with its token no check misses a write of another process', async () => {
    const figures = await freshness({ seconds: 0.6, members: 2000 })
    assert.ok(figures.writes! > 10)
  })

  // On a busy machine processes begin late and get few turns; that nearly all of the rule is given shows the full run.
  const LEAST_SHARE = 0.1
  const limitSizes = { seconds: 0.8, processes: 3, capacity: 100, perSecond: 500, inFlight: 8 }

  it('limits: processes on one key admit what the rule allows, and no more', async () => {
    const figures = await limits(limitSizes, LEAST_SHARE)
    assert.ok(figures.admitted! > 0)
  })

  it('limits over Redis: the same, and behind a failover at most a bucket more', async () => {
    assert.ok((await runOnRedis(limitSizes, LEAST_SHARE)).admitted! > 0)
    const failover = await runFailover({ ...limitSizes, processes: 2, seconds: 4 })
    assert.ok(failover['refused without an answer']! > 0)
  })

  it('limits over DynamoDB: the same', async () => {
    // One fortieth of it: 4 at once and 4 a second, which a busy emulator can do too.
    const sizes = { seconds: 2, processes: 2, capacity: 160, perSecond: 160 }
    assert.ok((await runOnDynamodb(sizes, LEAST_SHARE)).admitted! > 0)
  })

  it('idempotency: every history of processes that die and sleep is one that a model explains', async () => {
    const figures = await idempotency({ seconds: 1.5, processes: 3, rounds: 1, skewMs: 0, duplicates: 60 })
    assert.ok(figures['history: steps']! > 5, JSON.stringify(figures))
    assert.equal(figures.deaths, 4)
  })

  it('soak-model: every answer is that of a model in memory', async () => {
    const figures = await soakModel({ seconds: 0.6, setSize: 1000 })
    assert.ok(figures.checks! > 5)
    for (const work of ['addOrRemove', 'addForAWhile', 'importAndRemove', 'replace', 'createAndDelete']) {
      assert.ok(figures[work]! > 0, `${work} was never done`)
    }
  })

  it('dynamodb-pods: all that live end exact, whatever is killed or lost', async () => {
    const figures = await dynamodbPods({
      pods: 3,
      seconds: 2,
      changesPerSecond: 25,
      members: 50,
      expiring: 0,
    })
    assert.ok(figures.changes! > 5)
    assert.ok(figures.messagesStolen! > 0)
  })

  it('dynamodb-reshard: a list that moves to ten shards and on to the giant table answers right', async () => {
    const sizes = { members: 600, changing: 40, giantShards: 3, writers: 2, checkers: 2 }
    const figures = await dynamodbReshard(sizes)
    assert.ok(figures.writes! > 5 && figures.checks! > 5, JSON.stringify(figures))
  })
})
