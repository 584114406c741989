import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ManualClock } from '../../src/clock.js'
import { openEmbedded } from '../../src/engines/embedded/index.js'
import { TokenFollower } from '../../src/token-denylist/follower.js'
import type { TokenStore } from '../../src/token-denylist/port.js'
import { DEFAULT_TOKENS } from '../../src/token-denylist/types.js'

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
})
