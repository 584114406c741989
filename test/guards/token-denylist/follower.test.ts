import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ManualClock } from '../../../src/core/clock.js'
import { openEmbedded } from '../../../src/engines/embedded/index.js'
import { TokenFollower } from '../../../src/guards/token-denylist/follower.js'
import type { TokenStore } from '../../../src/guards/token-denylist/port.js'
import { DEFAULT_TOKENS } from '../../../src/guards/token-denylist/types.js'

const NOW = Date.UTC(2030, 0, 1)
/** More turns than lie between the last answer of the store and the image that checks are answered from. */
const TURNS = 20

describe('the follower of revoked tokens', () => {
  it('misses nothing that its own process revokes while memory is loaded', async (t) => {
    const engine = openEmbedded()
    t.after(() => engine.close())
    const own = Array.from({ length: TURNS }, (_, i) => `own${i}`)
    /** The real store, with revocations that are acknowledged in each of the turns behind the end of a load. */
    const store: TokenStore = Object.assign(Object.create(engine.tokens) as TokenStore, {
      async read(...args: Parameters<TokenStore['read']>) {
        const part = await engine.tokens.read(...args)
        void revokeOneEachTurn()
        return part
      },
    })
    const options = { ...DEFAULT_TOKENS, compareIntervalMs: 3_600_000, staleAfterMs: 60_000 }
    const follower = new TokenFollower(store, new ManualClock(NOW), options, () => assert.fail())
    async function revokeOneEachTurn(): Promise<void> {
      for (const id of own) {
        follower.apply([{ kind: 'token', id, expiresAt: NOW + 1000 }])
        await undefined
      }
    }
    await follower.start()
    t.after(() => follower.close())
    await new Promise((resolve) => setImmediate(resolve))
    const image = follower.fresh()!
    assert.deepEqual(
      own.filter((id) => !image.holds(id, NOW)),
      [],
    )
  })

  it('stops when nobody checks for a while, and goes on with the next check', async (t) => {
    t.mock.timers.enable({ apis: ['setInterval'] })
    const engine = openEmbedded()
    t.after(() => engine.close())
    let reads = 0
    const store: TokenStore = Object.assign(Object.create(engine.tokens) as TokenStore, {
      read(...args: Parameters<TokenStore['read']>) {
        reads++
        return engine.tokens.read(...args)
      },
    })
    let ms = 0
    const clock = new ManualClock(NOW)
    const follower = new TokenFollower(
      store,
      clock,
      DEFAULT_TOKENS,
      () => assert.fail(),
      () => ms,
    )
    t.after(() => follower.close())
    const pass = async (stepMs: number) => {
      ms += stepMs
      t.mock.timers.tick(DEFAULT_TOKENS.compareIntervalMs)
      await follower.start()
    }
    await follower.start()
    await pass(400)
    assert.equal(reads, 2)
    assert.ok(follower.fresh())
    ms += 300_001
    t.mock.timers.tick(DEFAULT_TOKENS.compareIntervalMs)
    assert.equal(reads, 2)
    assert.equal(follower.lagMs, 0, 'nothing is followed')
    t.mock.timers.tick(60_000)
    assert.equal(reads, 2)
    await engine.tokens.revoke([{ kind: 'token', id: 'meanwhile', expiresAt: NOW + 1000 }], NOW)
    assert.equal(follower.fresh(), undefined, 'memory does not answer what it may have missed')
    await follower.start()
    assert.equal(follower.fresh()?.holds('meanwhile', NOW), true)
    assert.equal(reads, 3, 'it goes on where it stood')
  })
})
