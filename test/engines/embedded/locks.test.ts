import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openEmbedded } from '../../../src/engines/embedded/index.js'
import { FENCE_KEPT_MS, nextFence } from '../../../src/guards/lock/port.js'
import { temporaryDirectory } from '../../support/temporary.js'

const NOW = Date.UTC(2030, 0, 1)
const attempt = (owner: string) => ({ name: 'a', owner, ttlMs: 30_000, waits: false })

describe('locks in the embedded store', () => {
  it('and their fences survive a restart', async () => {
    const directory = temporaryDirectory()
    const before = openEmbedded({ directory })
    const first = await before.locks.acquire(attempt('ann'), NOW)
    await before.close()
    const { locks, close } = openEmbedded({ directory })
    assert.deepEqual(await locks.acquire(attempt('bob'), NOW + 1), { outcome: 'held', retryAfterMs: 29_999 })
    await locks.release('a', 'ann', NOW + 2)
    const second = await locks.acquire(attempt('bob'), NOW - 60_000)
    assert.ok(first.outcome === 'acquired' && second.outcome === 'acquired')
    assert.equal(second.fence, first.fence! + 1)
    await close()
  })

  it('are forgotten a day after their end, also when they never were released', async () => {
    const { locks, close } = openEmbedded()
    await locks.acquire(attempt('ann'), NOW)
    await locks.sweep(NOW + 30_000 + FENCE_KEPT_MS - 1)
    assert.equal((await locks.read('a', NOW + 30_000))?.isHeld, false)
    await locks.sweep(NOW + 30_000 + FENCE_KEPT_MS)
    assert.equal(await locks.read('a', NOW + 30_000), undefined)
    await close()
  })

  it('have fences that follow the last one, or the time', () => {
    assert.equal(nextFence(undefined, 1.5), 1500)
    assert.equal(nextFence(1499, 1.5), 1500)
    assert.equal(nextFence(1500, 1.5), 1501)
  })
})
