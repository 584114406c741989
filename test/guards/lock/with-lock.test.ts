import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CatracaError, isCatracaError } from '../../../src/core/errors.js'
import type { HeldLock } from '../../../src/guards/lock/types.js'
import { bound, guarded, settled, taken } from './support.js'

describe('withLock', () => {
  it('runs the work once it has the lock, answers its result and gives the lock back', async () => {
    const { locks, other } = await guarded()
    const result = await locks.withLock('claim:abc', {}, async ({ fence, signal, isHeld, fenceOf }) => {
      assert.equal((await other.status('claim:abc')).fence, fence)
      assert.equal(fenceOf('claim:abc'), fence)
      assert.deepEqual([signal.aborted, isHeld()], [false, true])
      return 'done'
    })
    assert.equal(result, 'done')
    assert.equal((await other.status('claim:abc')).held, false)
  })

  it('gives it back also when the work fails', async () => {
    const { locks, other } = await guarded()
    const work = locks.withLock('a', {}, async () => Promise.reject(new Error('mine')))
    await assert.rejects(work, /mine/)
    assert.equal((await other.status('a')).held, false)
  })

  it('says so when somebody else keeps it', async () => {
    const { locks, other } = await guarded()
    await taken(other, 'a')
    await assert.rejects(
      locks.withLock('a', { waitMs: 0 }, async () => assert.fail('it ran')),
      (error: CatracaError) => error.code === 'LOCK_HELD' && Number(error.facts?.retryAfterMs) > 0,
    )
  })

  it('is extended as long as the work takes', async () => {
    const { locks, other, advance } = await guarded()
    let finish = () => {}
    const work = locks.withLock('a', { ttlMs: 9000 }, async (lock) => {
      await new Promise<void>((resolve) => {
        finish = resolve
      })
      return lock.isHeld() && !lock.signal.aborted
    })
    await settled()
    await advance(60_000)
    assert.equal((await other.acquire('a')).acquired, false)
    finish()
    assert.equal(await work, true)
    assert.equal((await other.acquire('a')).acquired, true)
  })

  it('without it, ends after its time, and the work is told', async () => {
    const { locks, other, advance } = await guarded()
    let held: HeldLock | undefined
    const work = locks.withLock('a', { ttlMs: 10_000, autoExtend: false }, async (lock) => {
      held = lock
      await new Promise((resolve) => lock.signal.addEventListener('abort', resolve))
      return lock.signal.reason
    })
    await settled()
    await advance(9700)
    assert.equal(held!.isHeld(), true)
    await advance(300)
    assert.equal(held!.isHeld(), false)
    assert.ok(isCatracaError(await work, 'LOCK_LOST'))
    await assert.rejects(held!.extend(), (error) => isCatracaError(error, 'LOCK_LOST'))
    assert.equal((await other.acquire('a')).acquired, true)
  })

  it('tells the work when somebody took the lock away', async () => {
    const { locks, other, advance } = await guarded()
    const work = locks.withLock('a', { ttlMs: 9000 }, async ({ signal }) => {
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      return signal.reason
    })
    await settled()
    await other.forceRelease('a')
    await advance(4000)
    assert.ok(isCatracaError(await work, 'LOCK_LOST'))
  })

  it('outlives a store that is away for a while, and no longer', async () => {
    let isAway = true
    const { locks, reports, advance } = await guarded((store) => ({
      ...bound(store),
      extend: (...call) =>
        isAway ? Promise.reject(new CatracaError('ENGINE_UNAVAILABLE', 'away')) : store.extend(...call),
    }))
    let finish = () => {}
    const begin = () =>
      locks.withLock('a', { ttlMs: 9000 }, async ({ signal }) => {
        await new Promise<void>((resolve) => {
          signal.addEventListener('abort', () => resolve())
          finish = resolve
        })
        return signal.aborted
      })
    const lost = begin()
    await settled()
    await advance(9000)
    assert.equal(await lost, true)
    assert.ok(reports.includes('a lock could not be extended'))
    isAway = false
    const kept = begin()
    await settled()
    await advance(30_000)
    finish()
    assert.equal(await kept, false)
  })

  it('knows by the clock alone that it was stopped for too long', async () => {
    const { locks, timing } = await guarded()
    await locks.withLock('a', { ttlMs: 10_000 }, async (lock) => {
      timing.leap(9000)
      assert.equal(lock.isHeld(), true)
      timing.leap(1000)
      assert.equal(lock.isHeld(), false)
    })
  })

  it('holds several names, all or none, and nobody waits for each other', async () => {
    const { locks, other, advance } = await guarded()
    const runs: string[] = []
    const both = [
      locks.withLock(['b', 'a', 'b'], { waitMs: 60_000 }, async ({ fence, fenceOf }) => {
        assert.equal(fence, fenceOf('b'))
        assert.notEqual(fenceOf('a'), undefined)
        runs.push('one')
      }),
      other.withLock(['a', 'b'], { waitMs: 60_000 }, async () => {
        runs.push('two')
      }),
    ]
    await settled()
    await advance(2000)
    await Promise.all(both)
    assert.equal(runs.length, 2)
    await taken(other, 'c')
    await assert.rejects(
      locks.withLock(['c', 'a', 'b'], { waitMs: 0 }, async () => assert.fail('it ran')),
      (error) => isCatracaError(error, 'LOCK_HELD'),
    )
    assert.deepEqual([(await other.status('a')).held, (await other.status('b')).held], [false, false])
  })

  it('gives several names back at once, so that a store which does not answer is waited for once', async () => {
    const given: string[] = []
    let open = () => {}
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    const { locks } = await guarded((store) => ({
      ...bound(store),
      async release(...call) {
        given.push(call[0])
        await gate
        return store.release(...call)
      },
    }))
    const work = locks.withLock(['a', 'b', 'c'], {}, async () => {})
    await settled()
    await settled()
    assert.deepEqual(given, ['c', 'b', 'a'])
    open()
    await work
  })

  it('is called off by the signal that it was given', async () => {
    const { locks, other } = await guarded()
    const stop = new AbortController()
    const work = locks.withLock('a', { signal: stop.signal }, async ({ signal }) => {
      setImmediate(() => stop.abort(new Error('enough')))
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      signal.throwIfAborted()
    })
    await assert.rejects(work, /enough/)
    assert.equal((await other.status('a')).held, false)
  })
})
