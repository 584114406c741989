import assert from 'node:assert/strict'
import { after, describe, it } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { until } from '../../../src/conformance/support.js'
import { ManualClock } from '../../../src/core/clock.js'
import { Caches } from '../../../src/guards/cache/index.js'
import type { CacheStore } from '../../../src/guards/cache/port.js'
import { openSpace, START, storedValue, TTL_MS, writeRaw } from './support.js'

const never = () => assert.fail('nothing was to be loaded')
const failing = () => {
  throw new Error('the source is away')
}

function gate(): { opened: Promise<void>; open: () => void } {
  let open!: () => void
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

describe('what is on its way when a key changes', () => {
  it('does not take the place of what was saved', async () => {
    const held = gate()
    let makings = 0
    let reading: Promise<string | undefined> | undefined
    const scene = openSpace<string>({
      tags: () => {
        // Between the write to the source and the one to the second tier.
        if (++makings === 2) {
          scene.tier.hold = held.opened
          reading = scene.space.get('k')
          scene.tier.hold = undefined
        }
        return []
      },
    })
    await writeRaw(scene, 'k', '"old"')
    await scene.space.save('k', 'new', async () => {})
    held.open()
    assert.equal(await reading, 'old', 'it was asked for before')
    assert.equal(await scene.space.getOrLoad('k', never), 'new')
  })

  it('does not get in front of removals that pend', async () => {
    const { space, tier } = openSpace<string>()
    await space.set('k', 'v', { tags: ['t'] })
    tier.state = 'refusing'
    await space.delete('other')
    await space.deleteByTag('t')
    tier.state = 'up'
    const held = gate()
    tier.hold = held.opened
    const first = space.get('other')
    const second = space.get('k')
    held.open()
    assert.deepEqual(await Promise.all([first, second]), [undefined, undefined])
  })

  it('is not outlived by what the source has contradicted', async () => {
    const { space, clock } = openSpace<string>({ staleMs: TTL_MS, jitter: 0 })
    await space.getOrLoad('k', () => 'v')
    clock.advance(TTL_MS)
    assert.equal(await space.getOrLoad('k', () => undefined), undefined)
    assert.equal(await space.look('k'), undefined)
    await assert.rejects(space.getOrLoad('k', failing), /the source is away/)
  })
})

describe('tags of a space', () => {
  const ID = '550E8400-E29B-41D4-A716-446655440000'

  it('are the same in whichever case a UUID is written', async () => {
    const { space } = openSpace<{ owner: string }>({ tags: ({ owner }) => [owner] })
    await space.set('a', { owner: ID })
    await space.set('b', { owner: 'x' }, { tags: [ID] })
    await space.deleteByTag(ID)
    assert.deepEqual(await space.getMany(['a', 'b']), new Map())
  })

  it('are checked when they come from the value', async () => {
    const { space } = openSpace<string>({ tags: (value) => [value] })
    for (const tag of ['a b', '{a}', 'a%3Ab', '']) {
      await assert.rejects(space.set('k', tag), { code: 'INVALID_INPUT' })
      await assert.rejects(
        space.getOrLoad('k', () => tag),
        { code: 'INVALID_INPUT' },
      )
    }
  })
})

describe('the first tier', () => {
  it('counts what values take, not what gzip makes of them', async () => {
    const MB = 1_000_000
    const scene = openSpace<string>({ l1: { maxBytes: 3.5 * MB } })
    for (let i = 0; i < 6; i++) await scene.space.set(`k${i}`, 'x'.repeat(MB))
    assert.ok((await storedValue(scene, 'k0'))!.value.length < 10_000, 'gzipped')
    assert.equal(scene.space.stats().firstTier.entries, 3)
    for (let i = 0; i < 6; i++) await scene.space.get(`k${i}`)
    assert.equal(scene.space.stats().firstTier.entries, 3, 'also of those that were read')
  })

  it('keeps nothing longer than the second, however long an answer takes', async () => {
    const scene = openSpace<string>()
    const { space, clock, tier } = scene
    await writeRaw(scene, 'k', '"v"')
    const held = gate()
    tier.hold = held.opened
    const reading = space.get('k')
    tier.hold = undefined
    clock.advance(1000)
    held.open()
    assert.equal(await reading, 'v')
    clock.advance(TTL_MS - 1000)
    assert.equal(await storedValue(scene, 'k'), undefined)
    assert.equal(await space.get('k'), undefined)
  })
})

describe('the removal of a space that takes longer than callers wait', () => {
  it('is done all the same, and the second tier used again behind it', async () => {
    const { raw } = openSpace()
    const clock = new ManualClock(START)
    const slow = new Proxy(raw, {
      get: (_, name) => {
        if (name === 'clear') return (...args: [string, number]) => pause(150).then(() => raw.clear(...args))
        const member: unknown = raw[name as keyof CacheStore]
        return typeof member === 'function' ? member.bind(raw) : member
      },
    })
    const caches = new Caches({ store: slow, clock, report: () => {} })
    after(() => caches.close())
    const space = caches.space<string>({ name: 'slow-clear', ttlMs: TTL_MS, timeoutMs: 50, l1: false })
    await writeRaw({ raw, space, clock }, 'k', '"old"')
    await space.clear()
    await until('the second tier is asked again', async () => {
      const { value, degraded } = await space.lookOrLoad('k', () => 'new')
      assert.equal(value, 'new')
      clock.advance(100)
      return !degraded
    })
    assert.equal(space.stats().secondTier.pendingRemovals, 0)
  })
})
