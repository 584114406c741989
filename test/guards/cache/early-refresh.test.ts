import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { refreshesEarly } from '../../../src/guards/cache/early-refresh.js'
import { openSpace, TTL_MS } from './support.js'

/** A generator that is the same in every run. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

describe('early refresh', () => {
  it('is as frequent as the formula says: exp(−left / δβ) of all reads', () => {
    const random = randomFrom(1)
    for (const [leftMs, deltaMs, beta] of [
      [50, 100, 1],
      [100, 100, 1],
      [300, 100, 1],
      [100, 100, 2],
      [0, 100, 1],
    ] as const) {
      const reads = 200_000
      let refreshes = 0
      for (let i = 0; i < reads; i++)
        if (refreshesEarly(1000 - leftMs, 1000, deltaMs, beta, 1 - random())) refreshes++
      const expected = Math.exp(-leftMs / (deltaMs * beta))
      assert.ok(
        Math.abs(refreshes / reads - expected) < 0.005,
        `${leftMs} ms left: ${refreshes / reads}, not ${expected}`,
      )
    }
  })

  it('happens as often in a space, whose reads it never keeps waiting', async (t) => {
    const random = randomFrom(2)
    let [chances, refreshes] = [0, 0]
    // Loads may begin behind the end of the test, and a process waits for them.
    const theEnd = new Promise<number>((resolve) => t.after(() => resolve(1)))
    for (let round = 0; round < 60; round++) {
      // Jitter asks chance too: none.
      const { space, clock } = openSpace<number>({ jitter: 0 }, random)
      await space.getOrLoad('k', () => {
        clock.advance(100)
        return 1
      })
      clock.advance(TTL_MS - 100)
      let reloads = 0
      const never = () => {
        reloads++
        return theEnd
      }
      assert.equal(await space.getOrLoad('k', never), 1)
      chances++
      refreshes += space.stats().earlyRefreshes
      assert.ok(reloads <= 1)
    }
    const expected = Math.exp(-1)
    assert.ok(Math.abs(refreshes / chances - expected) < 0.2, `${refreshes} of ${chances}`)
  })

  it('brings the new value in before the old one is over', async () => {
    const chance = { value: 0 }
    const { space, clock } = openSpace<number>({ jitter: 0 }, () => chance.value)
    const source = { value: 1 }
    const load = () => {
      clock.advance(100)
      return source.value
    }
    await space.getOrLoad('k', load)
    source.value = 2
    clock.advance(TTL_MS - 200)
    assert.equal(await space.getOrLoad('k', load), 1)
    assert.equal(space.stats().earlyRefreshes, 0)
    chance.value = 1 - 1e-9
    assert.equal(await space.getOrLoad('k', load), 1)
    assert.equal(space.stats().earlyRefreshes, 1)
    chance.value = 0
    while ((await space.getOrLoad('k', load)) === 1) await new Promise((resolve) => setTimeout(resolve, 5))
    assert.equal(space.stats().loads, 2)
    assert.equal(space.stats().misses, 1)
  })

  it('is never with β 0, nor far from the end', async () => {
    for (const [beta, left] of [
      [0, 1],
      [1, TTL_MS],
    ] as const) {
      const { space, clock } = openSpace<number>({ beta, jitter: 0 }, () => 1 - 2 ** -53)
      await space.getOrLoad('k', () => {
        clock.advance(100)
        return 1
      })
      clock.advance(TTL_MS - left)
      assert.equal(await space.getOrLoad('k', () => assert.fail('loaded')), 1)
      assert.equal(space.stats().earlyRefreshes, 0)
    }
  })
})
