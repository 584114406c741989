import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { describe, it } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { CatracaError, isCatracaError } from '../../../src/core/errors.js'
import { systemTiming } from '../../../src/core/timing.js'
import type { LocksApi } from '../../../src/guards/lock/api.js'
import type { HeldLock } from '../../../src/guards/lock/types.js'
import { holdWhile } from '../../../src/guards/lock/with-lock.js'
import { bound, type Guarded, guarded, settled } from './support.js'

const isLost = (error: unknown) => isCatracaError(error, 'LOCK_LOST')

/** The verbs of the guard, so that some can be put in their place. */
function verbs({ locks }: Guarded): LocksApi {
  return {
    acquire: (name, options) => locks.acquire(name, options),
    extend: (name, token, ttlMs) => locks.extend(name, token, ttlMs),
    release: (name, token) => locks.release(name, token),
    status: (name) => locks.status(name),
    list: (query) => locks.list(query),
    forceRelease: (name) => locks.forceRelease(name),
  }
}

/** Locks that anybody gets at once. */
const always: LocksApi = {
  async acquire(name) {
    const validUntilMs = performance.now() + 30_000
    return { acquired: true, name, token: 't', expiresAt: '', validForMs: 30_000, validUntilMs }
  },
  extend: async () => undefined,
  release: async () => true,
  status: async (name) => ({ name, held: true }),
  list: async () => ({ items: [] }),
  forceRelease: async () => true,
}

describe('the signal that many locks are given', () => {
  it('keeps nothing of them', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const around = { locks: always, timing: systemTiming, report: () => {} }
    const { signal } = new AbortController()
    const heldBytes = async (times: number) => {
      for (let i = 0; i < times; i++) await holdWhile(around, 'a', { signal }, async () => {})
      collect()
      await new Promise((resolve) => setImmediate(resolve))
      collect()
      return process.memoryUsage().heapUsed
    }
    const before = await heldBytes(2000)
    const grownBytes = (await heldBytes(10_000)) - before
    assert.ok(grownBytes < 1_000_000, `${grownBytes} bytes`)
    const { length } = getEventListeners(signal, 'abort')
    assert.equal(length, 0)
  })
})

describe('the time of a lock that is held', () => {
  it('counts from when the store was asked, also for a process that was stopped before it heard', async () => {
    const scene = await guarded()
    const { timing } = scene
    const locks: LocksApi = {
      ...verbs(scene),
      async acquire(name, options) {
        const answer = await scene.locks.acquire(name, options)
        timing.leap(name === 'short' ? 8000 : 12_000)
        return answer
      },
    }
    const around = { locks, timing, report: () => {} }
    await holdWhile(around, 'short', { ttlMs: 10_000 }, async (lock) => {
      assert.equal(lock.isHeld(), true)
      timing.leap(2000)
      assert.equal(lock.isHeld(), false)
    })
    const late = holdWhile(around, 'long', { ttlMs: 10_000 }, async () => assert.fail('it ran'))
    await assert.rejects(late, isLost)
  })

  it('is the shorter one from the moment it is asked for, although no answer comes', async () => {
    const { locks, timing } = await guarded((store) => ({
      ...bound(store),
      async extend(...call) {
        await store.extend(...call)
        throw new CatracaError('UNKNOWN_OUTCOME', 'the answer was lost')
      },
    }))
    await locks.withLock('a', { ttlMs: 60_000, autoExtend: false }, async (lock) => {
      await assert.rejects(lock.extend(1000))
      assert.equal(lock.isHeld(), true)
      timing.leap(1000)
      assert.equal(lock.isHeld(), false, 'the store has made it end by now')
    })
  })

  it('is that of the extension which the store did last', async () => {
    const scene = await guarded()
    const { timing } = scene
    const asked: number[] = []
    const doors: (() => void)[] = []
    const locks: LocksApi = {
      ...verbs(scene),
      async extend(name, token, ttlMs) {
        asked.push(ttlMs!)
        const extended = await scene.locks.extend(name, token, ttlMs)
        await new Promise<void>((resolve) => doors.push(resolve))
        return extended
      },
    }
    const options = { ttlMs: 30_000, autoExtend: false }
    await holdWhile({ locks, timing, report: () => {} }, 'a', options, async (lock: HeldLock) => {
      const both = [lock.extend(60_000), lock.extend(5000)]
      await settled()
      assert.deepEqual(asked, [60_000], 'one at a time')
      doors[0]!()
      await settled()
      doors[1]!()
      await Promise.all(both)
      timing.leap(5000)
      assert.equal(lock.isHeld(), false)
    })
  })

  it('ends with the work, although an extension was done of which nobody heard', async () => {
    let isDeaf = false
    const { locks, other, advance } = await guarded((store) => ({
      ...bound(store),
      async extend(...call) {
        const outcome = await store.extend(...call)
        if (isDeaf) throw new CatracaError('UNKNOWN_OUTCOME', 'the answer was lost')
        return outcome
      },
    }))
    isDeaf = true
    const work = locks.withLock('a', { ttlMs: 9000 }, async ({ signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
    })
    await settled()
    await advance(9000)
    await work
    assert.equal((await other.acquire('a')).acquired, true)
  })
})
