import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { run as failover } from '../../bench/proof/idempotency-failover.js'
import { run as faults, runOnOne } from '../../bench/proof/redis-faults.js'
import { run as pods } from '../../bench/proof/redis-pods.js'
import { enough } from './enough.js'

/** The proofs on Redis of `npm run proof`, with small sizes. Each throws when a promise is broken. */
describe('proofs on Redis, small', () => {
  it('pods: every pod applies every change in order, and no token is missed', async () => {
    const sizes = { pods: 2, changesPerSecond: 200, members: 1000 }
    await enough(1.5, (seconds) => pods({ ...sizes, seconds }), { changes: 10, tokenChecks: 0 })
  })

  const timeouts = { commandTimeoutMs: 1000, connectTimeoutMs: 20_000 }
  const sizes = { checksPerSecond: 50, stopSeconds: 2, calmMs: 1200, ...timeouts }
  const brief = ['all connections killed', 'log trimmed to nothing', 'pod stopped', 'server flushed']
  it('faults of one server, one after the other', async () => {
    const figures = await runOnOne(sizes, brief)
    for (const fault of brief) assert.ok(figures[`${fault}: checks`]! > 5, fault)
  })

  for (const fault of ['sentinel: primary killed', 'cluster: primary killed']) {
    it(`faults: ${fault}`, async () => {
      const figures = await faults(sizes, [fault])
      assert.ok(figures[`${fault}: checks`]! > 5)
    })
  }

  it('idempotency over a failover: what is lost is counted, and nothing is half there', async () => {
    const short = { inFlight: 4, killAfterMs: 300, cutMs: 100, goOnMs: 1500, commandTimeoutMs: 1500 }
    const figures = await failover(short)
    assert.ok(figures['asynchronous: completed']! > 5)
    assert.ok(figures['waitReplicas 1, replicas cut off: completed']! > 0)
  })
})
