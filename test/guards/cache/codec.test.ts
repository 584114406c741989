import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { Codec } from '../../../src/guards/cache/codec.js'
import { openSpace, storedValue, writeRaw } from './support.js'

const text = (value: string | Uint8Array | undefined) => value && Buffer.from(value).toString()

describe('the stored form of cached values', () => {
  it('is bare JSON, which other programs can read and write', async () => {
    const scene = openSpace()
    await scene.space.set('a', { name: 'José', n: 1 })
    assert.equal(text((await storedValue(scene, 'a'))?.value), '{"name":"José","n":1}')
    await writeRaw(scene, 'b', ' {"from": "elsewhere"}\n')
    assert.deepEqual(await scene.space.get('b'), { from: 'elsewhere' })
  })

  it('is gzipped above 10 KB, known by its first bytes', async () => {
    const scene = openSpace<string>()
    const [small, large] = ['x'.repeat(10_238), 'x'.repeat(10_239)]
    await scene.space.set('small', small)
    await scene.space.set('large', large)
    assert.equal(text((await storedValue(scene, 'small'))?.value), JSON.stringify(small))
    const stored = Buffer.from((await storedValue(scene, 'large'))!.value as Uint8Array)
    assert.deepEqual([...stored.subarray(0, 2)], [0x1f, 0x8b])
    assert.equal(gunzipSync(stored).toString(), JSON.stringify(large))
    const other = openSpace<string>({ l1: false })
    await writeRaw(other, 'k', gzipSync(JSON.stringify('packed elsewhere')))
    assert.equal(await other.space.get('k'), 'packed elsewhere')
  })

  it('unpacks no more than a value may have', async () => {
    const scene = openSpace({ maxValueBytes: 100_000, l1: false })
    await writeRaw(scene, 'bomb', gzipSync('1'.repeat(10_000_000)))
    assert.equal(await scene.space.get('bomb'), undefined)
    assert.equal(scene.space.stats().unreadable, 1)
    assert.equal(await storedValue(scene, 'bomb'), undefined)
  })

  it('of a value that is too large is not kept, and what was there before neither', async () => {
    const scene = openSpace<string>({ maxValueBytes: 100 })
    await scene.space.set('k', 'small')
    await scene.space.set('k', 'x'.repeat(200))
    assert.equal(await scene.space.get('k'), undefined)
    assert.equal(await scene.space.getOrLoad('k', () => 'y'.repeat(200)), 'y'.repeat(200))
    assert.equal(await storedValue(scene, 'k'), undefined)
    assert.equal(scene.space.stats().tooLarge, 2)
  })

  it('that cannot be read is a miss, is counted, and is deleted', async () => {
    const scene = openSpace<string>({ l1: false })
    await writeRaw(scene, 'k', '{"broken":')
    assert.equal(await scene.space.get('k'), undefined)
    assert.equal(await storedValue(scene, 'k'), undefined)
    await writeRaw(scene, 'k', Uint8Array.from([0x1f, 0x8b, 1, 2, 3]))
    assert.equal(await scene.space.getOrLoad('k', () => 'loaded'), 'loaded')
    assert.equal(await scene.space.get('k'), 'loaded')
    assert.equal(scene.space.stats().unreadable, 2)
  })

  it('cannot change the prototype of anything', async () => {
    const scene = openSpace<Record<string, unknown>>({ l1: false })
    for (const name of ['__proto__', '\\u005f_proto__']) {
      await writeRaw(scene, 'k', `{"a":{"${name}":{"isAdmin":true},"b":1}}`)
      const { a } = (await scene.space.get('k')) as { a: Record<string, unknown> }
      assert.deepEqual(Object.keys(a), ['b'])
      assert.equal(Object.assign({}, a).isAdmin, undefined)
    }
  })

  it('of another codec stands behind its number; any other is not taken for it', async () => {
    const numbers = (version: number): Codec<number> => ({
      version,
      encode: (value) => Uint8Array.of(value, value + 1),
      decode: (bytes) => bytes[0]!,
    })
    const scene = openSpace<number>({ codec: numbers(200), l1: false })
    await scene.space.set('k', 7)
    assert.deepEqual([...Buffer.from((await storedValue(scene, 'k'))!.value)], [200, 7, 8])
    assert.equal(await scene.space.get('k'), 7)
    await writeRaw(scene, 'k', Uint8Array.of(201, 7))
    assert.equal(await scene.space.get('k'), undefined)
    await writeRaw(scene, 'k', '7')
    assert.equal(await scene.space.get('k'), undefined)
    assert.equal(scene.space.stats().unreadable, 2)
    assert.throws(() => openSpace({ codec: numbers(31) as Codec<unknown> }), { code: 'INVALID_INPUT' })
  })

  it('must exist: what JSON cannot say is refused', async () => {
    const { space } = openSpace()
    const circular: Record<string, unknown> = {}
    circular.self = circular
    await assert.rejects(space.set('k', circular), { code: 'INVALID_INPUT' })
    await assert.rejects(
      space.set('k', () => {}),
      { code: 'INVALID_INPUT' },
    )
    await assert.rejects(space.set('k', null), { code: 'INVALID_INPUT' })
  })
})
