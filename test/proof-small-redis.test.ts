import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { run as failover } from '../bench/proof/idempotency-failover.js'
import { run as faults } from '../bench/proof/redis-faults.js'
import { run as pods } from '../bench/proof/redis-pods.js'

/** The proofs on Redis of `npm run proof`, with small sizes. Each throws when a promise is broken. */
describe('proofs on Redis, small', () => {
  it('pods: every pod applies every change in order, and no token is missed', async () => {
    const figures = await pods({ pods: 2, seconds: 2, changesPerSecond: 300, members: 1000 })
    assert.ok(figures.changes! > 100)
    assert.ok(figures.tokenChecks! > 10)
  })

  const sizes = { checksPerSecond: 200, stopSeconds: 2, commandTimeoutMs: 1000, calmMs: 1200 }
  const brief = ['all connections killed', 'log trimmed to nothing', 'pod stopped', 'server flushed']
  for (const fault of [...brief, 'sentinel: primary killed', 'cluster: primary killed']) {
    it(`faults: ${fault}`, async () => {
      const figures = await faults(sizes, [fault])
      assert.ok(figures[`${fault}: checks`]! > 50)
    })
  }

  it('idempotency over a failover: what is lost is counted, and nothing is half there', async () => {
    const short = { inFlight: 8, killAfterMs: 300, cutMs: 100, goOnMs: 2500, commandTimeoutMs: 1500 }
    const figures = await failover(short)
    assert.ok(figures['asynchronous: completed']! > 50)
    assert.ok(figures['waitReplicas 1, replicas cut off: completed']! > 20)
  })
})
