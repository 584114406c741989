import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Keyv } from 'keyv'
import { KeyvCatraca } from '../../src/adapters/keyv.js'
import { ManualClock } from '../../src/core/clock.js'
import type { Catraca } from '../../src/index.js'
import { openPatiently } from '../support/patient.js'
import { type RedisServers, startSingle, until } from '../support/redis/index.js'
import { temporaryDirectory } from '../support/temporary.js'

const SPACE = { name: 'sessions', ttlMs: 3_600_000, jitter: 0 }

const keyvOn = ({ cache }: Catraca, options: object = {}): Keyv =>
  new Keyv({ store: new KeyvCatraca({ space: cache.space<string>(SPACE) }), throwOnErrors: true, ...options })

let redis: RedisServers | undefined
after(() => redis?.stop())
const STORES: Record<string, () => Promise<string>> = {
  embedded: async () => `embedded:${temporaryDirectory()}`,
  async Redis() {
    redis = await startSingle()
    return redis.storeUrl
  },
}

for (const [engine, urlOf] of Object.entries(STORES)) {
  describe(`a store of keyv on ${engine}`, () => {
    let instances: Catraca[] = []
    before(async () => {
      const store = await urlOf()
      instances = [await openPatiently({ store }), await openPatiently({ store })]
    })
    after(async () => {
      for (const instance of instances) await instance.close()
    })

    it('gets what was set, deletes it, and knows what is there', async () => {
      const keyv = keyvOn(instances[0]!)
      const value = { name: 'Ana', at: [1, 2.5, null], text: 'é' }
      for (const key of ['a', 'a b/c|é~', 'k:1', '..']) {
        assert.equal(await keyv.get(key), undefined)
        assert.equal(await keyv.has(key), false)
        assert.equal(await keyv.set(key, value), true)
        assert.deepEqual([await keyv.get(key), await keyv.has(key)], [value, true])
        assert.deepEqual([await keyv.delete(key), await keyv.delete(key)], [true, false])
        assert.equal(await keyv.get(key), undefined)
      }
      // Other keys, although one could be taken for the encoded form of the other.
      await keyv.set('a/b', 1)
      await keyv.set('a~2fb', 2)
      assert.deepEqual([await keyv.get('a/b'), await keyv.get('a~2fb')], [1, 2])
      for (const falsy of [0, '', false, null]) {
        await keyv.set('falsy', falsy)
        assert.equal(await keyv.get('falsy'), falsy)
      }
    })

    it('handles many keys at once, and clears', async () => {
      const keyv = keyvOn(instances[0]!)
      const entries = ['x', 'y', 'z'].map((key, i) => ({ key, value: i }))
      assert.deepEqual(await keyv.setMany(entries), [true, true, true])
      assert.deepEqual(await keyv.getMany(['z', 'none', 'x']), [2, undefined, 0])
      assert.deepEqual(await keyv.hasMany(['z', 'none']), [true, false])
      assert.equal(await keyv.delete(['x', 'y']), true)
      assert.deepEqual(await keyv.getMany(['x', 'y', 'z']), [undefined, undefined, 2])
      await keyv.clear()
      assert.equal(await keyv.get('z'), undefined)
    })

    it('shows every instance what another has set, replaced and deleted', async () => {
      const [one, other] = instances.map((instance) => keyvOn(instance)) as [Keyv, Keyv]
      await one.set('shared', 1)
      assert.equal(await other.get('shared'), 1)
      await one.set('shared', 2)
      await until('the new value is seen', async () => (await other.get('shared')) === 2)
      await other.delete('shared')
      await until('the deletion is seen', async () => (await one.get('shared')) === undefined)
    })
  })
}

describe('a store of keyv', () => {
  it('keeps values for their TTL', async (t) => {
    const clock = new ManualClock(Date.now())
    const catraca = await openPatiently({ store: 'memory:', clock })
    t.after(() => catraca.close())
    const keyv = keyvOn(catraca)
    // keyv looks at the clock of the process too, so its TTL is far away, and that of the space passes.
    await keyv.set('long', 1, 600_000.5)
    await keyv.set('default', 2)
    clock.advance(599_000)
    assert.deepEqual([await keyv.get('long'), await keyv.get('default')], [1, 2])
    clock.advance(2000)
    assert.deepEqual([await keyv.get('long'), await keyv.get('default')], [undefined, 2])
    clock.advance(3_600_000)
    assert.equal(await keyv.get('default'), undefined)
  })

  it('refuses what it cannot keep', async (t) => {
    const catraca = await openPatiently({ store: 'memory:' })
    t.after(() => catraca.close())
    assert.throws(() => new KeyvCatraca({ space: 'sessions' } as never), /space must be a cache space/)
    assert.throws(() => new KeyvCatraca({ spase: {} } as never), /did you mean space/)
    const keyv = keyvOn(catraca)
    keyv.on('error', () => {})
    await assert.rejects(keyv.get('x'.repeat(300)), /key must not be longer than 256/)
    await assert.rejects(keyv.set('k', 1, -5), /ttlMs must be a whole number/)
    const raw = keyvOn(catraca, { serialize: undefined, deserialize: undefined })
    raw.on('error', () => {})
    await assert.rejects(raw.set('k', { a: 1 }), /leave the serializer of keyv on/)
  })
})
