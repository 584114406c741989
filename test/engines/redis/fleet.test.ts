import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openRedis } from '../../../src/engines/redis/index.js'
import type { RedisUrl } from '../../../src/engines/redis/url.js'
import { parseStoreUrl } from '../../../src/engines/registry.js'
import { announced, PODS, pods } from '../../support/fleet-pods.js'
import { PATIENT_REDIS } from '../../support/patient.js'
import { RedisProcess, until } from '../../support/redis/index.js'

describe('40 pods on Redis', () => {
  it('are listed, and one that dies is gone when its record expires, though all clocks differ', async () => {
    const redis = await RedisProcess.start()
    const engine = await openRedis(
      parseStoreUrl(`redis://127.0.0.1:${redis.port}`) as RedisUrl,
      PATIENT_REDIS,
    )
    const { fleet: store } = engine as { fleet: NonNullable<typeof engine.fleet> }
    try {
      // Clocks of pods are minutes off, each by another amount: the server's clock decides.
      let calls = 0
      const { fleets, viewer } = pods(store, () => 1_900_000_000_000 + 60_000 * (calls++ % 7))
      await announced(fleets)
      assert.equal((await viewer().list()).processes.length, PODS)
      const [dead, ...alive] = fleets
      await until('the dead pod is gone, and no other', async () => {
        await announced(alive)
        const { processes } = await viewer().list()
        const names = new Set(processes.map(({ id }) => id))
        assert.ok(
          alive.every(({ id }) => names.has(id)),
          `${processes.length} pods`,
        )
        return !names.has(dead!.id)
      })
      assert.ok(store.expireMs + store.announceMs <= 5000)
      for (const fleet of fleets) await fleet.close()
      assert.deepEqual((await viewer().list()).processes, [])
    } finally {
      await engine.close()
      await redis.stop()
    }
  })
})
