import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CatracaError, isCatracaError } from '../../../src/core/errors.js'
import type { LockStore } from '../../../src/guards/lock/port.js'
import { inTime } from '../../support/in-time.js'
import { bound, guarded, settled, taken } from './support.js'

describe('acquire, extend, release', () => {
  it('gives a token and a fence, and to others when to ask again', async () => {
    const { locks, other, store, advance } = await guarded()
    const answer = await taken(locks, 'claim:abc', 10_000)
    assert.match(answer.token, /^[\w-]{24}$/)
    assert.equal(answer.expiresAt, '2030-01-01T00:00:10.000Z')
    assert.equal(answer.validForMs, 10_000 - 100 - 2)
    assert.deepEqual(await other.acquire('claim:abc'), {
      acquired: false,
      name: 'claim:abc',
      retryAfterMs: 10_000,
    })
    assert.deepEqual(await other.status('claim:abc'), {
      name: 'claim:abc',
      held: true,
      fence: answer.fence,
      expiresAt: answer.expiresAt,
    })
    await advance(4000)
    const extended = await other.extend('claim:abc', answer.token, 20_000)
    assert.equal(extended?.expiresAt, '2030-01-01T00:00:24.000Z')
    assert.equal(await other.release('claim:abc', `${answer.token.slice(1)}x`), false)
    assert.equal(await other.release('claim:abc', answer.token), true)
    assert.equal(await locks.release('claim:abc', answer.token), false)
    assert.equal(await locks.extend('claim:abc', answer.token), undefined)
    assert.deepEqual(await locks.status('never'), { name: 'never', held: false })
    assert.equal((await store.read('claim:abc', 0))?.fence, answer.fence)
    assert.deepEqual(locks.stats(), { acquired: 1, held: 0, released: 0, lost: 2 })
  })

  it('keeps no token in the store', async () => {
    const seen: string[] = []
    const { locks } = await guarded((store) => ({
      ...bound(store),
      acquire: (attempt, now) => {
        seen.push(JSON.stringify(attempt))
        return store.acquire(attempt, now)
      },
    }))
    const { token } = await taken(locks, 'a')
    assert.equal(seen.length, 1)
    assert.ok(!seen[0]!.includes(token))
  })

  it('lets an operator take it away', async () => {
    const { locks, other } = await guarded()
    const { token } = await taken(locks, 'a')
    assert.equal(await other.forceRelease('a'), true)
    assert.equal(await other.forceRelease('a'), false)
    assert.equal(await locks.release('a', token), false)
  })

  it('names the field that is wrong', async () => {
    const { locks } = await guarded()
    const wrong: [() => Promise<unknown>, string][] = [
      [() => locks.acquire('a b'), 'name'],
      [() => locks.acquire('..'), 'name'],
      [() => locks.acquire('a', { ttlMs: 0 }), 'ttlMs'],
      [() => locks.acquire('a', { ttlMs: 1.5 }), 'ttlMs'],
      [() => locks.acquire('a', { ttlMs: 86_400_001 }), 'ttlMs'],
      [() => locks.acquire('a', { waitMs: -1 }), 'waitMs'],
      [() => locks.extend('a', 'not a token'), 'token'],
      [() => locks.release('a', ''), 'token'],
      [() => locks.withLock([], {}, async () => {}), 'names'],
      [() => locks.withLock(['a', 'b c'], {}, async () => {}), 'names[1]'],
    ]
    for (const [call, path] of wrong) {
      await assert.rejects(call, (error: CatracaError) => error.errors?.[0]?.path === path, path)
    }
  })

  it('tells UUIDs apart whatever their case', async () => {
    const { locks, other } = await guarded()
    await taken(locks, 'C0FFEE00-0000-4000-8000-000000000001')
    assert.equal((await other.acquire('c0ffee00-0000-4000-8000-000000000001')).acquired, false)
  })
})

describe('a store that does not answer', () => {
  const silent = (store: LockStore, verb: 'acquire' | 'release'): LockStore => ({
    ...bound(store),
    [verb]: () => new Promise(() => {}),
  })

  it('is never a lock that was given', async () => {
    const { locks } = await guarded((store) => silent(store, 'acquire'), { timeoutMs: 30 })
    const calls: Promise<unknown>[] = [
      locks.acquire('a'),
      locks.withLock('a', { waitMs: 60_000 }, async () => assert.fail('it ran')),
    ]
    const isDown = (error: unknown) => isCatracaError(error, 'ENGINE_UNAVAILABLE')
    await Promise.all(calls.map((call) => assert.rejects(inTime(call, 20_000), isDown)))
  })

  it('that gives the lock too late, or of unknown outcome, gets it back', async () => {
    let letGo = () => {}
    let fails = false
    const { locks, other } = await guarded(
      (store) => ({
        ...bound(store),
        acquire: async (attempt, now) => {
          const answer = await store.acquire(attempt, now)
          if (fails) throw new CatracaError('UNKNOWN_OUTCOME', 'no answer')
          await new Promise<void>((resolve) => {
            letGo = resolve
          })
          return answer
        },
      }),
      { timeoutMs: 30 },
    )
    await assert.rejects(locks.acquire('a'), (error) => isCatracaError(error, 'ENGINE_UNAVAILABLE'))
    assert.equal((await other.acquire('a')).acquired, false)
    letGo()
    await settled()
    assert.equal((await other.acquire('a')).acquired, true)
    fails = true
    await assert.rejects(locks.acquire('b'), (error) => isCatracaError(error, 'ENGINE_UNAVAILABLE'))
    await settled()
    assert.equal((await other.status('b')).held, false)
  })
})
