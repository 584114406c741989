import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import type { SpaceOptions } from '../../../src/guards/cache/options.js'
import { openSpace, START, storedValue, TTL_MS } from './support.js'

const never = () => assert.fail('nothing was to be loaded')

describe('a cache space', () => {
  it('loads once for all who ask at the same time, and not again before the TTL', async () => {
    const { space, clock } = openSpace<string>({ jitter: 0 })
    let loads = 0
    const load = async (key: string) => {
      loads++
      await pause(5)
      return `value of ${key}`
    }
    const values = await Promise.all(Array.from({ length: 1000 }, () => space.getOrLoad('k', load)))
    assert.equal(loads, 1)
    assert.deepEqual([...new Set(values)], ['value of k'])
    clock.advance(TTL_MS - 1)
    assert.equal(await space.getOrLoad('k', never), 'value of k')
    clock.advance(1)
    assert.equal(await space.get('k'), undefined)
    await space.getOrLoad('k', load)
    assert.equal(loads, 2)
  })

  it('answers a first-tier hit with the very same promise', async () => {
    const { space } = openSpace<string>()
    await space.set('k', 'v')
    assert.equal(space.getOrLoad('k', never), space.getOrLoad('k', never))
  })

  it('keeps an answer that there is none for its own time, and no time when that is 0', async () => {
    const { space, clock } = openSpace<string>({ negativeTtlMs: 1000, jitter: 0 })
    let loads = 0
    const none = () => {
      loads++
      return null
    }
    assert.equal(await space.getOrLoad('k', none), undefined)
    clock.advance(999)
    assert.equal(await space.getOrLoad('k', none), undefined)
    assert.equal(loads, 1)
    clock.advance(1)
    assert.equal(await space.getOrLoad('k', none), undefined)
    assert.equal(loads, 2)
    const eager = openSpace<string>()
    for (let i = 0; i < 3; i++) await eager.space.getOrLoad('k', none)
    assert.equal(loads, 5)
  })

  it('shortens TTLs by chance, never lengthens them', async () => {
    const chances = [0, 0.5, 0.999]
    for (const [i, chance] of chances.entries()) {
      const scene = openSpace<string>({ jitter: 0.2 }, () => chance)
      await scene.space.set('k', 'v')
      const { leftMs } = (await storedValue(scene, 'k'))!
      assert.ok(Math.abs(leftMs - TTL_MS * (1 - 0.2 * chances[i]!)) <= 1, `${leftMs}`)
    }
  })

  it('takes another TTL for one entry', async () => {
    const { space, clock } = openSpace<string>({ jitter: 0 })
    await space.set('k', 'v', { ttlMs: 10 })
    clock.advance(10)
    assert.equal(await space.get('k'), undefined)
    await assert.rejects(space.set('k', 'v', { ttlMs: 0 }), { code: 'INVALID_INPUT' })
  })

  it('bounds the first tier by entries and by bytes', async () => {
    const few = openSpace<string>({ l1: { maxEntries: 3 } })
    for (let i = 0; i < 10; i++) await few.space.set(`k${i}`, 'v')
    assert.deepEqual([few.space.stats().firstTier.entries, few.space.stats().firstTier.evictions], [3, 7])
    assert.equal(await few.space.get('k0'), 'v')
    const small = openSpace<string>({ l1: { maxBytes: 10_000 } })
    for (let i = 0; i < 30; i++) await small.space.set(`k${i}`, 'v'.repeat(1000))
    assert.ok(small.space.stats().firstTier.bytes <= 10_000)
    assert.ok(small.space.stats().firstTier.entries >= 5)
    const none = openSpace<string>({ l1: false })
    await none.space.set('k', 'v')
    assert.equal(await none.space.getOrLoad('k', never), 'v')
    assert.deepEqual([none.space.stats().firstTierHits, none.space.stats().secondTierHits], [0, 1])
  })

  it('asks the second tier again after the TTL of the first', async () => {
    const { space, clock, raw } = openSpace<string>({ l1: { ttlMs: 1000 } })
    await space.set('k', 'v')
    // As a program that tells nobody.
    await raw.write(space.name, [{ key: 'k', value: '"other"', lifeMs: TTL_MS, tags: [] }], clock.now())
    clock.advance(999)
    const before = space.stats().secondTierHits
    await space.getOrLoad('k', never)
    assert.equal(space.stats().secondTierHits, before)
    clock.advance(1)
    assert.equal(await space.getOrLoad('k', never), 'other')
  })

  it('tells how old a value is', async () => {
    const { space, clock } = openSpace<string>()
    await space.set('k', 'v')
    clock.advance(1234)
    assert.deepEqual(await space.look('k'), { value: 'v', stale: false, ageMs: 1234 })
    assert.deepEqual(await space.lookOrLoad('k', never), { value: 'v', stale: false, ageMs: 1234 })
    assert.equal(await space.look('none'), undefined)
    assert.equal(clock.now(), START + 1234)
  })

  it('writes through: the source, then the cache', async () => {
    const scene = openSpace<string>()
    const { space } = scene
    await space.set('k', 'old')
    await space.save('k', 'new', async (value) => {
      assert.equal(value, 'new')
      assert.equal(await space.get('k'), 'old')
    })
    assert.equal(await space.getOrLoad('k', never), 'new')
    await assert.rejects(
      space.save('k', 'newer', async () => {
        throw new Error('the source refused')
      }),
      /refused/,
    )
    assert.equal(await space.get('k'), undefined)
    assert.equal(await storedValue(scene, 'k'), undefined)
  })

  it('keeps what a fill read before a save from being kept after it', async () => {
    const { space } = openSpace<string>()
    let letGo = (_: string) => {}
    let isLoading = false
    const filling = space.getOrLoad('k', () => {
      isLoading = true
      return new Promise<string>((resolve) => (letGo = resolve))
    })
    while (!isLoading) await pause(2)
    await space.save('k', 'new', async () => {})
    letGo('old')
    assert.equal(await filling, 'old')
    assert.equal(await space.get('k'), 'new')
  })

  it('warms many keys, in the tier that is in the process', async () => {
    const { space } = openSpace<string>()
    const keys = Array.from({ length: 1200 }, (_, i) => `k${i}`)
    const sizes: number[] = []
    const load = async (some: readonly string[]) => {
      sizes.push(some.length)
      return new Map(some.map((key) => [key, `v ${key}`]))
    }
    assert.deepEqual(await space.warm(keys, load), { warmed: 1200 })
    assert.deepEqual(sizes, [500, 500, 200])
    assert.deepEqual(await space.warm(keys, load), { warmed: 1200 })
    assert.equal(space.getOrLoad('k7', never), space.getOrLoad('k7', never))
    assert.equal(sizes.length, 3)
  })

  it('takes UUIDs in any case as one, and refuses what is no identifier', async () => {
    const { space } = openSpace<string>()
    await space.set('550E8400-E29B-41D4-A716-446655440000', 'v')
    assert.equal(await space.get('550e8400-e29b-41d4-a716-446655440000'), 'v')
    assert.equal(await space.getOrLoad('550E8400-E29B-41D4-A716-446655440000', never), 'v')
    for (const key of ['', '..', 'a b', 'x'.repeat(257), '{a}']) {
      await assert.rejects(space.getOrLoad(key, never), { code: 'INVALID_INPUT' })
      await assert.rejects(space.set('k', 'v', { tags: [key] }), { code: 'INVALID_INPUT' })
    }
  })
})

describe('options of a space', () => {
  it('are checked, and the wrong one is named', () => {
    const wrong: [Partial<SpaceOptions>, RegExp][] = [
      [{ ttlMs: 0 }, /ttlMs must be/],
      [{ name: 'a b' }, /name must be/],
      [{ jitter: 0.6 }, /jitter must be/],
      [{ l1: { maxEntries: 0 } }, /l1.maxEntries must be/],
      [{ breaker: { failures: 1.5 } }, /breaker.failures must be/],
      [{ onUnavailable: 'maybe' } as never, /onUnavailable must be one of source, first-tier/],
      [{ ttl: 5 } as never, /ttl is unknown/],
    ]
    for (const [options, message] of wrong) {
      assert.throws(
        () => openSpace(options),
        (error: Error & { code?: string }) => {
          assert.equal(error.code, 'INVALID_INPUT')
          assert.match(error.message, message)
          return true
        },
      )
    }
  })

  it('are the same for all who open one name, and names do not overlap', () => {
    const { caches } = openSpace()
    const one = caches.space({ name: 'dict:entry', ttlMs: 1000 })
    assert.equal(caches.space({ name: 'dict:entry', ttlMs: 1000 }), one)
    assert.throws(() => caches.space({ name: 'dict:entry', ttlMs: 2000 }), /other options/)
    assert.throws(() => caches.space({ name: 'dict:entry:key', ttlMs: 1000 }), /overlaps/)
    assert.throws(() => caches.space({ name: 'dict', ttlMs: 1000 }), /overlaps/)
    caches.space({ name: 'dict:entries', ttlMs: 1000 })
  })
})
