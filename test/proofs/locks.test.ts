import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { runDynamodb, runEmbedded, runRedis } from '../../bench/proof/locks.js'

/** The proof of locks of `npm run proof`, with small sizes. It throws when an older holder works after a newer one. */
describe('proof of locks, small', () => {
  const sizes = { seconds: 1.2, processes: 3, ttlMs: 300, busyMs: 15 }
  for (const [name, run] of Object.entries({ runEmbedded, runRedis, runDynamodb })) {
    it(name, async () => {
      const figures = await run(sizes)
      assert.ok(figures.holders! > 3, JSON.stringify(figures))
    })
  }
})
