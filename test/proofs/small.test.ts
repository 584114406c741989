import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { run as dynamodbPods } from '../../bench/proof/dynamodb-pods.js'
import { run as dynamodbReshard } from '../../bench/proof/dynamodb-reshard.js'
import { run as freshness } from '../../bench/proof/freshness.js'
import { run as growth } from '../../bench/proof/growth.js'
import { run as grpc } from '../../bench/proof/grpc.js'
import { run as httpPaths } from '../../bench/proof/http-paths.js'
import { run as idempotency } from '../../bench/proof/idempotency.js'
import { run as kill } from '../../bench/proof/kill.js'
import { run as limits, runFailover, runOnDynamodb, runOnRedis } from '../../bench/proof/limits.js'
import { run as race } from '../../bench/proof/race.js'
import { run as soakModel } from '../../bench/proof/soak-model.js'
import { enough } from './enough.js'

/** The proofs of `npm run proof`, which take minutes there, with small sizes. Each throws when a promise is broken. */
describe('proofs, small', () => {
  it('http-paths: the fast way of answering a check cannot be told from the ordinary one', async () => {
    const figures = await httpPaths({ requests: 2000, seed: 2 })
    assert.ok(figures['answered on the connection']! > 200)
  })

  it('grpc: every decision is answered', async () => {
    const { calls } = await grpc({ seconds: 1, perSecond: 300 })
    assert.equal(calls, 300)
  })

  it('race: processes on one directory agree', async () => {
    const sizes = { processes: 3, bulkSize: 200, setSize: 1500 }
    const least = { 'writes seen elsewhere by token': 0, 'addAndRemove/s': 0, 'watchSets/s': 0 }
    await enough(0.5, (seconds) => race({ ...sizes, seconds }), least)
  })

  it('kill: what was acknowledged survives, and the rest can be resumed', async () => {
    const { kills } = await kill({ rounds: 1, rows: 3000, size: 1500, killsPerImport: 1 })
    assert.ok(kills! > 0)
  })

  it('freshness: with its token no check misses a write of another process', async () => {
    await enough(0.4, (seconds) => freshness({ seconds, members: 2000 }), { writes: 10 })
  })

  // On a busy machine processes begin late and get few turns; that nearly all of the rule is given shows the full run.
  const LEAST_SHARE = 0
  const limitSizes = { processes: 3, capacity: 100, perSecond: 500, inFlight: 8 }

  it('limits: processes on one key admit what the rule allows, and no more', async () => {
    const proof = (seconds: number) => limits({ ...limitSizes, seconds }, LEAST_SHARE)
    await enough(0.6, proof, { admitted: limitSizes.capacity })
  })

  it('limits over Redis: the same, and behind a failover at most a bucket more', async () => {
    const proof = (seconds: number) => runOnRedis({ ...limitSizes, seconds }, LEAST_SHARE)
    await enough(0.6, proof, { admitted: limitSizes.capacity })
    const failover = (seconds: number) => runFailover({ ...limitSizes, processes: 2, seconds })
    await enough(4, failover, { 'refused without an answer': 0 })
  })

  it('limits over DynamoDB: the same', async () => {
    // One fortieth of it: 4 at once and 4 a second, which a busy emulator can do too.
    const sizes = { processes: 2, capacity: 160, perSecond: 160 }
    await enough(2, (seconds) => runOnDynamodb({ ...sizes, seconds }, LEAST_SHARE), { admitted: 0 })
  })

  it('idempotency: every history of processes that die and sleep is one that a model explains', async () => {
    const sizes = { processes: 3, rounds: 1, skewMs: 0, duplicates: 60 }
    await enough(1.5, (seconds) => idempotency({ ...sizes, seconds }), { 'history: steps': 5, deaths: 3 })
  })

  it('soak-model: every answer is that of a model in memory', async () => {
    const works = ['addOrRemove', 'addForAWhile', 'importAndRemove', 'replace', 'createAndDelete']
    const least = { checks: 5, ...Object.fromEntries(works.map((work) => [work, 0])) }
    await enough(0.5, (seconds) => soakModel({ seconds, setSize: 1000 }), least)
  })

  it('dynamodb-pods: all that live end exact, whatever is killed or lost', async () => {
    const sizes = { pods: 3, changesPerSecond: 25, members: 50, expiring: 0 }
    await enough(2, (seconds) => dynamodbPods({ ...sizes, seconds }), { changes: 5, messagesStolen: 0 })
  })

  it('growth: checks are answered from memory, and acquires by the store, at every size', async () => {
    const members = { smallest: 1000, embedded: 10_000, redis: 1000, dynamodb: 100 }
    const { all } = await growth({ ...members, processes: 2, lists: 10, calls: 500, restMs: 100 })
    const points = (name: string) => all[name]!.map(([x]) => x)
    assert.deepEqual(points('embedded: processor µs per check'), [1000, 10_000])
    assert.deepEqual(points('acquire: processor µs with processes'), [1, 2])
    assert.deepEqual(points('following: pod bytes'), [1, 10])
  })

  it('dynamodb-reshard: a list that moves to ten shards and on to the giant table answers right', async () => {
    const sizes = { members: 600, changing: 40, giantShards: 3, writers: 2, checkers: 2 }
    const figures = await dynamodbReshard(sizes)
    assert.ok(figures.writes! > 5 && figures.checks! > 5, JSON.stringify(figures))
  })
})
