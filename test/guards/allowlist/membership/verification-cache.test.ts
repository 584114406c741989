import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { VerificationCache } from '../../../../src/guards/allowlist/membership/verification-cache.js'

const state = (addedAt: number) => ({ addedAt })

describe('verification cache', () => {
  it('knows what was confirmed, for each list, until its time is over', () => {
    const cache = new VerificationCache(100, 60)
    cache.set(1, 'alice', state(5), 1000)
    cache.set(1, 'bob', undefined, 1000)
    assert.deepEqual(cache.get(1, 'alice', 1059), { state: { addedAt: 5 } })
    assert.deepEqual(cache.get(1, 'bob', 1059), { state: undefined })
    assert.equal(cache.get(2, 'alice', 1000), undefined)
    assert.equal(cache.get(1, 'alice', 1060), undefined)
    assert.deepEqual([cache.hits, cache.misses, cache.size], [2, 2, 2])
  })

  it('holds at most twice its entries, rounded up, and never another answer than the last', () => {
    const cache = new VerificationCache(100, 60)
    const last = new Map<string, number>()
    let seed = 7
    const random = (below: number) => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff
      return (seed >>> 8) % below
    }
    for (let i = 0; i < 20_000; i++) {
      const [list, id] = [random(3), `customer-${random(400)}`]
      const key = `${list} ${id}`
      const kind = random(20)
      if (kind === 0) {
        cache.delete(list, id)
        last.delete(key)
      } else if (kind < 10) {
        cache.set(list, id, state(i), 0)
        last.set(key, i)
      } else {
        const found = cache.get(list, id, 0)
        if (found !== undefined) assert.equal(found.state?.addedAt, last.get(key), key)
      }
    }
    const kept = [...last.keys()].filter((key) => {
      const [list, id] = key.split(' ')
      return cache.peek(Number(list), id!, 0) !== undefined
    })
    assert.equal(cache.size, kept.length)
    assert.ok(cache.size <= 256 && cache.size > 150, `${cache.size} entries`)
    cache.deleteList(1)
    assert.equal(cache.size, kept.filter((key) => !key.startsWith('1 ')).length)
  })

  it('keeps what is used while many others come', () => {
    const cache = new VerificationCache(1000, 60)
    cache.set(1, 'often', state(1), 0)
    let found = 0
    for (let i = 0; i < 50_000; i++) {
      cache.set(1, `once-${i}`, state(i), 0)
      if (cache.get(1, 'often', 0) !== undefined) found++
      else cache.set(1, 'often', state(1), 0)
    }
    assert.ok(found > 49_000, `${found} of 50000`)
  })

  it('holds nothing when it may hold nothing', () => {
    const cache = new VerificationCache(0, 60)
    cache.set(1, 'alice', state(5), 0)
    assert.deepEqual([cache.get(1, 'alice', 0), cache.size], [undefined, 0])
  })
})
