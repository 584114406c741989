import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { runInNewContext } from 'node:vm'
import type { Codec } from '../../../src/guards/cache/codec.js'
import { typedJson } from '../../../src/guards/cache/typed-json.js'
import { openSpace, storedValue } from './support.js'

const never = () => assert.fail('nothing was to be loaded')

describe('what readers of a cache get', () => {
  it('is what was stored, for who loads as for all others, frozen and in one piece', async () => {
    const loaded = { list: [{ a: 1 }], nothing: undefined as number | undefined }
    const { space } = openSpace<typeof loaded>()
    const [one, two] = await Promise.all([
      space.getOrLoad('k', () => loaded),
      space.getOrLoad('k', () => loaded),
    ])
    const hit = await space.getOrLoad('k', never)
    assert.deepEqual(one, { list: [{ a: 1 }] }, 'a member that is undefined is no member')
    assert.ok(one !== loaded && one === two && one === hit)
    assert.throws(() => hit!.list.push({ a: 2 }), TypeError)
    assert.throws(() => Object.assign(hit!.list[0]!, { a: 2 }), TypeError)
    loaded.list[0]!.a = 3
    assert.equal((await space.get('k'))?.list[0]?.a, 1)
    await space.set('k', loaded)
    loaded.list[0]!.a = 4
    assert.equal((await space.get('k'))?.list[0]?.a, 3)
    assert.ok(!Object.isFrozen(loaded), 'what the caller gave stays its own')
  })

  it('is never what JSON made of something else: that is refused, and the place is named', async () => {
    class Money {
      constructor(readonly cents: number) {}
    }
    const refused: [unknown, RegExp][] = [
      [{ a: [{ at: new Date(0) }] }, /would change \.a\[0\]\.at \(of the class Date\)/],
      [new Map([[1, 2]]), /it \(of the class Map\)/],
      [{ s: new Set([1]) }, /\.s \(of the class Set\)/],
      [{ b: Buffer.from('x') }, /\.b \(of the class Buffer\)/],
      [{ n: Number.NaN }, /\.n \(NaN\)/],
      [[1, undefined], /\[1\] \(undefined\)/],
      [{ f: () => {} }, /\.f \(a function\)/],
      [{ m: new Money(5) }, /\.m \(of the class Money\)/],
      [{ n: 10n }, /cannot be stored/],
      [JSON.parse('{"__proto__":{"a":1}}'), /would change/],
    ]
    const { space } = openSpace()
    for (const [value, message] of refused) {
      await assert.rejects(space.set('k', value), { code: 'INVALID_INPUT', message })
      await assert.rejects(
        space.getOrLoad('k', () => value as object),
        { code: 'INVALID_INPUT', message },
      )
    }
    for (const value of [runInNewContext('({ a: [1, { b: null }] })'), Object.create(null), -0, 'x', false]) {
      await space.set('k', value)
    }
  })

  it('keeps Dates, Maps, Sets, bytes, BigInt, NaN and undefined with typedJson, a copy for each reader', async () => {
    const value = {
      at: new Date(5),
      map: new Map<unknown, unknown>([['k', new Set([1n, undefined])]]),
      bytes: Buffer.from('é'),
      floats: new Float64Array([1.5, Number.NaN]),
      numbers: [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0, 2n ** 64n, undefined],
      $: 'a name of its own',
      deep: { $: { $: 1 } },
    }
    for (const gzipAboveBytes of [0, 10_000]) {
      const scene = openSpace<typeof value>({ codec: typedJson, gzipAboveBytes })
      const loaded = await scene.space.getOrLoad('k', () => value)
      assert.deepEqual(loaded, value)
      const [one, two] = [await scene.space.getOrLoad('k', never), await scene.space.getOrLoad('k', never)]
      assert.deepEqual(one, value)
      one!.at.setTime(0)
      one!.map.clear()
      assert.deepEqual(two, value, 'nobody sees what another did to its own')
      const together = await Promise.all([1, 2].map(() => scene.space.lookOrLoad('k', never)))
      assert.ok(together[0]!.value !== together[1]!.value)
      assert.deepEqual((await scene.space.loadMany(['k'], never)).get('k'), value)
      assert.equal(scene.space.stats().loads, 1)
      assert.equal(Buffer.from((await storedValue(scene, 'k'))!.value)[0], gzipAboveBytes === 0 ? 0x1f : 255)
      const elsewhere = openSpace<typeof value>({ codec: typedJson, gzipAboveBytes, l1: false })
      await elsewhere.space.set('k', value)
      assert.deepEqual(await elsewhere.space.get('k'), value)
    }
    const invalid = openSpace<Date>({ codec: typedJson })
    const nonsense = await invalid.space.getOrLoad('k', () => new Date(Number.NaN))
    assert.ok(Number.isNaN(nonsense!.getTime()))
    const plain = openSpace<{ a: number }>({ codec: typedJson })
    await plain.space.set('k', { a: 1 })
    assert.equal(plain.space.getOrLoad('k', never), plain.space.getOrLoad('k', never), 'frozen: one for all')
    await assert.rejects(
      plain.space.set('k', new (class Other {})() as never),
      /the class Other cannot be encoded/,
    )
  })

  it('is refused where a codec of the application would change it', async () => {
    const lossy: Codec<{ n: number }> = {
      version: 130,
      encode: ({ n }) => Uint8Array.of(n),
      decode: (bytes) => ({ n: bytes[0]! }),
    }
    const { space } = openSpace({ codec: lossy })
    await space.set('k', { n: 5 })
    await assert.rejects(space.set('k', { n: 256 }), /the codec would change \.n/)
  })
})

describe('how long a cached value lives', () => {
  it('can come from the value itself', async () => {
    const { space, clock } = openSpace<{ expires_in: number }>({ jitter: 0 })
    const options = { ttlMs: (token: { expires_in: number }) => token.expires_in * 1000 }
    await space.getOrLoad('k', () => ({ expires_in: 10 }), options)
    clock.advance(9999)
    await space.getOrLoad('k', never, options)
    clock.advance(1)
    assert.equal(await space.get('k'), undefined)
    await space.loadMany(['a'], async () => new Map([['a', { expires_in: 0 }]]), options)
    assert.equal(await space.get('a'), undefined, 'one that is over is not kept')
    await assert.rejects(space.set('k', { expires_in: Number.NaN }, options), { code: 'INVALID_INPUT' })
  })

  it('ends by force: refresh loads whatever is cached, and what another loads is not stored', async () => {
    const { space, clock } = openSpace<string>({ staleMs: 1000, jitter: 0 })
    await space.set('k', 'old')
    let letGo = (_: string) => {}
    clock.advance(60_000)
    let slow: Promise<string | undefined> | undefined
    await new Promise<void>((begun) => {
      slow = space.getOrLoad('k', () => {
        begun()
        return new Promise<string>((resolve) => (letGo = resolve))
      })
    })
    assert.equal(await space.refresh('k', () => 'new'), 'new')
    letGo('read before')
    await slow
    assert.equal(await space.getOrLoad('k', never), 'new')
    await assert.rejects(
      space.refresh('k', () => Promise.reject(new Error('the source failed'))),
      /the source failed/,
    )
    assert.equal(await space.getOrLoad('k', never), 'new', 'what was cached stays')
    assert.equal(await space.refresh('k', () => undefined), undefined)
    assert.equal(await space.get('k'), undefined, 'the source has none')
  })

  it('forces also while the store is away: what it holds is forgotten when it is back', async () => {
    const scene = openSpace<string>()
    const { space, tier } = scene
    await space.set('k', 'old')
    tier.state = 'refusing'
    assert.equal(await space.refresh('k', () => 'new'), 'new')
    assert.equal(space.stats().secondTier.pendingRemovals, 1)
  })

  it('ends by expire: loaded anew, and the last value covers for a load that fails', async () => {
    const { space, clock } = openSpace<string>({ staleMs: 1000, jitter: 0 })
    await space.set('k', 'old')
    await space.expire('k')
    const fail = () => Promise.reject(new Error('the source failed'))
    const answer = await space.lookOrLoad('k', fail)
    assert.deepEqual([answer.value, answer.stale], ['old', true])
    assert.equal(await space.getOrLoad('k', () => 'new'), 'new')
    await space.expire('k')
    clock.advance(1000)
    await assert.rejects(space.getOrLoad('k', fail), /the source failed/)
    const strict = openSpace<string>()
    await strict.space.set('k', 'v')
    await strict.space.expire('k')
    assert.equal(await strict.space.get('k'), undefined)
  })
})
