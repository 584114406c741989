import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ManualClock } from '../../../src/core/clock.js'
import { CatracaError } from '../../../src/core/errors.js'
import { ConfigCache, SCHEMA_VERSION } from '../../../src/guards/rate-limit/config-cache.js'
import type { ConfigBatch, LimitConfigStore } from '../../../src/guards/rate-limit/port.js'
import type { LevelConfig } from '../../../src/guards/rate-limit/types.js'

const NOW = Date.UTC(2030, 0, 1)
const full = { capacity: 10, refillAmount: 10, refillPeriodSeconds: 60 }
const subject = { entity: 'user-1', resource: 'gpt-4' }

/** A store that counts how it is asked, and fails or waits on purpose. */
class AskedStore {
  batches: number[] = []
  configs = new Map<string, LevelConfig>()
  schemaVersion = SCHEMA_VERSION
  isDown = false
  migrated = 0

  async read(keys: readonly { level: string }[]): Promise<ConfigBatch> {
    this.batches.push(keys.length)
    if (this.isDown) throw new CatracaError('ENGINE_UNAVAILABLE', 'down')
    await new Promise((resolve) => setImmediate(resolve))
    const configs = keys.map(({ level }) => this.configs.get(level))
    return { configs, entity: undefined, schemaVersion: this.schemaVersion }
  }

  watch() {
    return () => {}
  }

  async migrate(version: number): Promise<void> {
    this.migrated = version
  }
}

function cached(ttlMs = 60_000, maxEntries = 1000) {
  const store = new AskedStore()
  const clock = new ManualClock(NOW)
  return {
    store,
    clock,
    cache: new ConfigCache(store as unknown as LimitConfigStore, clock, ttlMs, maxEntries),
  }
}

describe('the cache of configurations', () => {
  it('reads all levels in one batch, then only what it lacks, and remembers that there is nothing', async () => {
    const { store, clock, cache } = cached()
    store.configs.set('system', { limits: { rpm: full } })
    await Promise.all([cache.get(subject), cache.get(subject), cache.get(subject)])
    assert.deepEqual(store.batches, [5])
    for (let i = 0; i < 10; i++) assert.ok(!(cache.get(subject) instanceof Promise))
    await cache.get({ ...subject, entity: 'user-2' })
    assert.deepEqual(store.batches, [5, 2])
    clock.advance(59_999)
    await cache.get(subject)
    assert.deepEqual(store.batches, [5, 2])
    clock.advance(1)
    await cache.get(subject)
    assert.deepEqual(store.batches, [5, 2, 5])
  })

  it('forgets an entity, a resource, or all', async () => {
    const { store, cache } = cached()
    const other = { entity: 'user-2', resource: 'gpt-3' }
    const read = async () => {
      await cache.get(subject)
      await cache.get(other)
      return store.batches.splice(0)
    }
    assert.deepEqual(await read(), [5, 4])
    cache.invalidate('user-1')
    assert.deepEqual(await read(), [2])
    cache.invalidate(undefined, 'gpt-3')
    assert.deepEqual(await read(), [4])
    cache.invalidate('user-2', 'gpt-3')
    assert.deepEqual(await read(), [4])
    cache.invalidate('user-2', '*')
    assert.deepEqual(await read(), [2])
    cache.invalidate(undefined, '*')
    assert.deepEqual(await read(), [1])
    cache.invalidate()
    assert.deepEqual(await read(), [5, 4])
  })

  it('does not keep what was read before a change', async () => {
    const { store, cache } = cached()
    const early = cache.get(subject)
    cache.invalidate()
    store.configs.set('system', { limits: { rpm: full } })
    await early
    assert.deepEqual((await cache.get(subject)).system, { limits: { rpm: full } })
    assert.deepEqual(store.batches, [5, 5])
  })

  it('goes on with what it knew while the store is down', async () => {
    const { store, clock, cache } = cached()
    store.configs.set('resource', { limits: { rpm: full } })
    await cache.get(subject)
    store.isDown = true
    clock.advance(120_000)
    assert.deepEqual((await cache.get(subject)).resource, { limits: { rpm: full } })
    cache.invalidate()
    assert.deepEqual((await cache.get(subject)).resource, { limits: { rpm: full } })
    await assert.rejects(async () => cache.get({ ...subject, entity: 'new' }), /down/)
  })

  it('does not grow without end', async () => {
    const { cache } = cached(60_000, 50)
    for (let i = 0; i < 200; i++) await cache.get({ entity: `user-${i}`, resource: 'gpt-4' })
    assert.ok(cache.figures.entries <= 53, `${cache.figures.entries}`)
  })

  it('answers those who wait while others fill it', async () => {
    const { store, cache } = cached(60_000, 10)
    store.configs.set('system', { limits: { rpm: full } })
    const users = Array.from({ length: 100 }, (_, i) => ({ entity: `user-${i}`, resource: `gpt-${i % 5}` }))
    for (const user of users.slice(0, 5)) await cache.get({ ...user, entity: 'first' })
    const answers = await Promise.all(users.map(async (user) => cache.get(user)))
    assert.ok(answers.every(({ system }) => system !== undefined))
  })

  it('leaves nothing behind of names that were asked for once', async () => {
    const { cache } = cached(60_000, 10)
    for (let i = 0; i < 100; i++) await cache.get({ entity: 'a', resource: `made-up-${i}` })
    assert.equal((cache as unknown as { loading: Map<string, unknown> }).loading.size, 0)
  })

  it('refuses a newer schema under strictVersion, and migrates an older one under autoUpdate', async () => {
    const { store, cache } = cached()
    store.schemaVersion = SCHEMA_VERSION + 1
    store.configs.set('system', { limits: { rpm: full } })
    await cache.get(subject)
    cache.invalidate()
    store.configs.set('system', { limits: { rpm: full }, strictVersion: true })
    await assert.rejects(async () => cache.get(subject), { code: 'LIMIT_SCHEMA_NEWER' })
    store.schemaVersion = SCHEMA_VERSION - 1
    await cache.get(subject)
    assert.equal(store.migrated, 0)
    cache.invalidate()
    store.configs.set('system', { limits: { rpm: full }, autoUpdate: true })
    await cache.get(subject)
    assert.equal(store.migrated, SCHEMA_VERSION)
  })
})
