import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { type Followed, Follower } from '../../../src/guards/allowlist/changes/follower.js'
import type { ChangeFeed, LogPart } from '../../../src/guards/allowlist/changes/port.js'

const imageOf = (): Followed => ({
  ...{ list: { id: 'vip', incarnation: 1 } as never, position: [], freshAtMs: 0, behind: false },
  apply() {},
  lost() {},
})

describe('a follower of the log of a list', () => {
  it('reads again for a call that comes just after the last read was applied', async () => {
    let reads = 0
    const none = { entries: [], more: false } as unknown as LogPart
    const feed: ChangeFeed = {
      isImmediate: false,
      position: () => undefined,
      read: () => Promise.resolve(none).finally(() => reads++),
      hasChanges: () => false,
      watch: () => ({ stop() {} }),
    }
    const follower = new Follower(feed, 60_000, () => {})
    // Setting the time is the last thing that a run does with what it has read.
    let applied = () => {}
    const image = imageOf()
    Object.defineProperty(image, 'freshAtMs', { get: () => 0, set: () => applied() })
    for (let steps = 1; steps <= 5; steps++) {
      const atEnd = new Promise<void>((resolve) => {
        applied = resolve
      })
      void follower.catchUp(image)
      await atEnd
      for (let step = 1; step < steps; step++) await Promise.resolve()
      const before = reads
      await follower.catchUp(image)
      assert.ok(reads > before, `${steps} steps after the read was applied`)
      await turn()
    }
    follower.close()
  })

  it('reads nothing more when it is closed between two parts', async (t) => {
    const unhandled: unknown[] = []
    const note = (error: unknown) => void unhandled.push(error)
    process.on('unhandledRejection', note)
    t.after(() => process.off('unhandledRejection', note))
    let reads = 0
    const more = { entries: [], more: true } as unknown as LogPart
    const feed: ChangeFeed = {
      isImmediate: false,
      position: () => undefined,
      read: () => (++reads === 1 ? Promise.resolve(more) : Promise.reject(new Error('the store is closed'))),
      hasChanges: () => false,
      watch: () => ({ stop() {} }),
    }
    const follower = new Follower(feed, 60_000, () => {})
    const caughtUp = follower.catchUp(imageOf())
    // The first part is applied, and the next one is read in another turn.
    await Promise.resolve()
    await Promise.resolve()
    follower.close()
    await caughtUp
    await turn()
    assert.deepEqual([reads, unhandled], [1, []])
  })
})
