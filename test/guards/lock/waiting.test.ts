import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { isCatracaError } from '../../../src/core/errors.js'
import { bound, guarded, settled, taken, toldFree } from './support.js'

describe('waiting for a lock', () => {
  it('ends with the lock as soon as it is given back', async () => {
    const { locks, other, store, advance } = await guarded()
    const { token, fence } = await taken(locks, 'a')
    const waiting = other.acquire('a', { waitMs: 20_000 })
    await settled()
    const told = toldFree(store, 'a')
    await locks.release('a', token)
    await told
    await advance(20)
    const answer = await waiting
    assert.ok(answer.acquired && answer.fence! > fence!)
  })

  it('ends with the lock when it expires', async () => {
    const { locks, other, advance } = await guarded()
    await taken(locks, 'a', 10_000)
    const waiting = other.acquire('a', { waitMs: 20_000 })
    await settled()
    await advance(10_500)
    assert.equal((await waiting).acquired, true)
  })

  it('ends without it at its deadline', async () => {
    const { locks, other, timing, advance } = await guarded()
    await taken(locks, 'a')
    const waiting = [other.acquire('a', { waitMs: 5000 }), other.acquire('a', { waitMs: 4000 })]
    await settled()
    await advance(5200)
    for (const answer of await Promise.all(waiting)) assert.equal(answer.acquired, false)
    assert.ok(timing.monotonicMs() < 5500)
  })

  it('gives it to those of one process in their order, and asks the store for one of them only', async () => {
    let asked = 0
    const { locks, other, advance } = await guarded((store) => ({
      ...bound(store),
      acquire: (attempt, now) => {
        asked++
        return store.acquire(attempt, now)
      },
    }))
    const first = await taken(other, 'a')
    const order: number[] = []
    const all = [0, 1, 2, 3, 4, 5, 6, 7].map(async (i) => {
      await locks.withLock('a', { waitMs: 60_000 }, async () => {
        order.push(i)
      })
    })
    await settled()
    await advance(1000)
    const before = asked
    assert.ok(before <= 14, `${before} questions in a second of waiting`)
    await other.release('a', first.token)
    await advance(1000)
    await Promise.all(all)
    assert.deepEqual(order, [0, 1, 2, 3, 4, 5, 6, 7])
  })

  it('leaves nothing behind when it is called off', async () => {
    const { locks, other, advance } = await guarded()
    const { token } = await taken(locks, 'a')
    const stop = new AbortController()
    const waiting = other.acquire('a', { waitMs: 20_000, signal: stop.signal })
    await settled()
    stop.abort(new Error('gone'))
    await assert.rejects(waiting, /gone/)
    await assert.rejects(other.acquire('a', { signal: stop.signal }), /gone/)
    await locks.release('a', token)
    await advance(1000)
    assert.equal((await other.status('a')).held, false)
  })

  it('called off while the store decides, gives back what it got', async () => {
    const stop = new AbortController()
    const { locks } = await guarded((store) => ({
      ...bound(store),
      acquire: async (attempt, now) => {
        const answer = await store.acquire(attempt, now)
        stop.abort(new Error('gone'))
        return answer
      },
    }))
    await assert.rejects(locks.acquire('a', { signal: stop.signal }), /gone/)
    await settled()
    assert.equal((await locks.status('a')).held, false)
  })

  it('is told of the end of the instance', async () => {
    const { locks, other } = await guarded()
    await taken(locks, 'a')
    const waiting = [other.acquire('a', { waitMs: 20_000 }), other.acquire('a', { waitMs: 20_000 })]
    await settled()
    other.close()
    for (const one of waiting) await assert.rejects(one, (error) => isCatracaError(error, 'CLOSED'))
  })
})
