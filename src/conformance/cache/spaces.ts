import assert from 'node:assert/strict'
import { systemClock } from '../../core/clock.js'
import { Caches } from '../../guards/cache/index.js'
import type { SpaceOptions } from '../../guards/cache/options.js'
import type { CacheNotice, CacheStore } from '../../guards/cache/port.js'
import type { CacheSpace } from '../../guards/cache/space.js'
import { type Pair, suite } from '../suite.js'
import { until } from '../support.js'
import { LIFE_MS, SPACE } from './support.js'

/** Guards over both instances, like two pods: the promises of the cache must hold over the engine. */
async function pods(
  { one, two }: Pair<CacheStore>,
  options: Partial<SpaceOptions<string>>,
  work: (a: CacheSpace<string>, b: CacheSpace<string>) => Promise<void>,
): Promise<void> {
  const caches = [one, two].map((store) => new Caches({ store, clock: systemClock, report: () => {} }))
  // An overloaded machine must not be taken for a store that is down, nor for a load that takes too long.
  const patient = { timeoutMs: LIFE_MS, leaseMs: LIFE_MS, hardLoadTimeoutMs: LIFE_MS }
  const whole = { name: SPACE, ttlMs: LIFE_MS, jitter: 0, ...patient, ...options }
  const [a, b] = caches.map((each) => each.space<string>(whole))
  try {
    await work(a!, b!)
  } finally {
    for (const each of caches) each.close()
  }
}

/** A source whose loads complete when the test releases them. */
function slowSource(value: () => string) {
  let letGo!: () => void
  const gate = new Promise<void>((resolve) => {
    letGo = resolve
  })
  const source = { loads: 0, letGo, load: async () => value() }
  source.load = async () => {
    source.loads++
    // The value at the time of the call, returned later.
    const answer = value()
    await gate
    return answer
  }
  return source
}

const FORBIDDEN = async (): Promise<string> => assert.fail('nothing was to be loaded')

type Space = CacheSpace<string>

/** Each of these must prevent that a fill that started before it is stored, by either pod. */
const INVALIDATIONS: Record<string, (space: Space) => Promise<unknown>> = {
  delete: (space) => space.delete('k'),
  deleteByTag: (space) => space.deleteByTag('red'),
  clear: (space) => space.clear(),
}

async function fillAgainst(
  filling: Space,
  invalidating: Space,
  invalidate: (space: Space) => Promise<unknown>,
) {
  let value = 'old'
  const source = slowSource(() => value)
  const waiting = filling.getOrLoad('k', source.load, { tags: ['red'] })
  await until('the load', () => source.loads === 1)
  value = 'new'
  await invalidate(invalidating)
  // A read after the invalidation must not get the result of a fill that started before it.
  const after = invalidating.getOrLoad('k', async () => value)
  source.letGo()
  assert.equal(await waiting, 'old')
  assert.equal(await after, 'new')
  await until('nothing old', async () => (await filling.get('k')) !== 'old')
  assert.equal(await invalidating.get('k'), 'new')
  assert.equal(await filling.getOrLoad('k', async () => value), 'new')
}

export const cacheSpaceSuite = suite<CacheStore>(
  'spaces of a cache on two pods',
  {
    async 'what one pod loaded the other has, for as long as the second tier'(pair) {
      await pods(pair, {}, async (a, b) => {
        assert.equal(await a.getOrLoad('k', async () => 'v'), 'v')
        assert.equal(await b.getOrLoad('k', FORBIDDEN), 'v')
        assert.equal(b.stats().secondTierHits, 1)
        // Both first tiers hold it too, unless this process was paused for the whole of its life.
        await a.set('short', 'v', { ttlMs: 150 })
        await until('the end of its life', async () => (await b.get('short')) === undefined)
        assert.equal(await a.get('short'), undefined)
        assert.equal(await b.get('k'), 'v')
      })
    },

    async 'that the source has none is known to both'(pair) {
      await pods(pair, { negativeTtlMs: LIFE_MS }, async (a, b) => {
        assert.equal(await a.getOrLoad('k', async () => undefined), undefined)
        assert.equal(await b.getOrLoad('k', FORBIDDEN), undefined)
        assert.equal((await b.look('k'))?.value, undefined)
        await b.set('k', 'there')
        assert.equal(await b.getOrLoad('k', FORBIDDEN), 'there')
      })
    },

    async 'what one pod sets, saves and deletes the other hears of'(pair) {
      await pods(pair, {}, async (a, b) => {
        await a.set('k', '1')
        assert.equal(await b.get('k'), '1')
        await a.set('k', '2')
        await until('the value set', async () => (await b.get('k')) === '2')
        await a.save('k', '3', async () => {})
        assert.equal(await a.getOrLoad('k', FORBIDDEN), '3')
        await until('the value saved', async () => (await b.get('k')) === '3')
        await a.delete('k')
        await until('the deletion', async () => (await b.get('k')) === undefined)
      })
    },

    async 'a tag is deleted on both pods, and what has other tags stays'(pair) {
      await pods(pair, {}, async (a, b) => {
        await a.set('red', '1', { tags: ['red'] })
        await a.set('blue', '2', { tags: ['blue'] })
        assert.deepEqual([...(await b.getMany(['red', 'blue', 'none'])).keys()], ['red', 'blue'])
        await a.deleteByTag('red')
        await until('the tag is gone', async () => (await b.get('red')) === undefined)
        assert.equal(await b.get('blue'), '2')
        assert.equal(await a.get('red'), undefined)
      })
    },

    async 'many are read, loaded and stored together'(pair) {
      await pods(pair, {}, async (a, b) => {
        await a.set('k1', 'set')
        const asked: (readonly string[])[] = []
        const load = async (keys: readonly string[]) => {
          asked.push(keys)
          return new Map(keys.filter((key) => key !== 'none').map((key) => [key, `loaded ${key}`]))
        }
        const values = await b.loadMany(['k1', 'k2', 'none', 'k3'], load)
        assert.deepEqual(Object.fromEntries(values), { k1: 'set', k2: 'loaded k2', k3: 'loaded k3' })
        assert.deepEqual(asked, [['k2', 'none', 'k3']])
        assert.equal((await a.getMany(['k1', 'k2', 'k3'])).size, 3)
      })
    },

    async 'after messages were lost the first tier is flushed, and believed again'({ one, two }) {
      const feed = interruptible(two)
      await pods({ one, two: feed.store }, {}, async (a, b) => {
        await a.set('k', '1')
        // A value that is read while the notice of its write arrives is not stored in the first tier yet.
        await until('the first tier holds it', async () => {
          assert.equal(await b.get('k'), '1')
          return b.stats().firstTierHits > 0
        })
        const hits = b.stats().firstTierHits
        feed.cut()
        await a.set('k', '2')
        // Pod b did not get the notice and still answers correctly: without the feed it reads the second tier.
        assert.equal(await b.get('k'), '2')
        assert.equal(await b.getOrLoad('k', FORBIDDEN), '2')
        assert.equal(b.stats().firstTierHits, hits)
        feed.resume()
        // The notice of the write may come only now, and removes the value from the first tier once more.
        await until('the first tier is believed again', async () => {
          assert.equal(await b.get('k'), '2')
          return b.stats().firstTierHits > hits
        })
      })
    },
  },
  {
    async 'a thousand misses on two pods load once'(pair) {
      await pods(pair, {}, async (a, b) => {
        let loads = 0
        const load = async () => {
          loads++
          await new Promise((resolve) => setTimeout(resolve, 50))
          return 'v'
        }
        const values = await Promise.all(
          Array.from({ length: 1000 }, (_, i) => (i % 2 === 0 ? a : b).getOrLoad('k', load)),
        )
        assert.equal(loads, 1)
        assert.deepEqual([...new Set(values)], ['v'])
      })
    },

    ...Object.fromEntries(
      Object.entries(INVALIDATIONS).flatMap(([name, invalidate]) => [
        [
          `${name} during a fill of the same pod`,
          (pair: Pair<CacheStore>) => pods(pair, {}, (a) => fillAgainst(a, a, invalidate)),
        ],
        [
          `${name} during a fill of the other pod`,
          (pair: Pair<CacheStore>) => pods(pair, {}, (a, b) => fillAgainst(a, b, invalidate)),
        ],
      ]),
    ),

    async 'a fill that lost its lease is kept nowhere, also before its pod hears why'({ one, two }) {
      const feed = interruptible(one)
      await pods({ one: feed.store, two }, {}, async (a, b) => {
        const source = slowSource(() => 'old')
        const waiting = a.getOrLoad('k', source.load)
        await until('the load', () => source.loads === 1)
        feed.withhold()
        await b.delete('k')
        source.letGo()
        assert.equal(await waiting, 'old')
        assert.equal(await a.get('k'), undefined)
        assert.equal(a.stats().voidFills, 1)
      })
    },

    async 'clearing during many fills leaves none of them'(pair) {
      await pods(pair, {}, async (a, b) => {
        const keys = Array.from({ length: 50 }, (_, i) => `k${i}`)
        const source = slowSource(() => 'old')
        const fills = keys.map((key, i) => (i % 2 === 0 ? a : b).getOrLoad(key, source.load))
        await until('all loads', () => source.loads === keys.length)
        await a.clear()
        source.letGo()
        assert.deepEqual([...new Set(await Promise.all(fills))], ['old'])
        await until('nothing is left', async () => {
          const left = await Promise.all([a.getMany(keys), b.getMany(keys)])
          return left.every(({ size }) => size === 0)
        })
      })
    },

    async 'a load that fails fails for all who wait, and keeps nobody from trying again'(pair) {
      await pods(pair, {}, async (a, b) => {
        let loads = 0
        const failing = async (): Promise<string> => {
          loads++
          await new Promise((resolve) => setTimeout(resolve, 30))
          throw new Error('no source')
        }
        const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => a.getOrLoad('k', failing)))
        assert.ok(outcomes.every(({ status }) => status === 'rejected'))
        assert.equal(loads, 1)
        assert.equal(await b.getOrLoad('k', async () => 'v'), 'v')
        assert.equal(b.stats().waitedFills, 0)
        assert.equal(await a.getOrLoad('k', FORBIDDEN), 'v')
      })
    },

    async 'of two who save at once nothing is cached that the source does not say'(pair) {
      await pods(pair, {}, async (a, b) => {
        for (let round = 0; round < 5; round++) {
          let stored = ''
          const write = async (value: string) => {
            await new Promise((resolve) => setTimeout(resolve, Math.random() * 10))
            stored = value
          }
          const saves = [a.save('k', `a${round}`, write), b.save('k', `b${round}`, write)]
          const reads = [a, b].map((space) => space.getOrLoad('k', async () => stored))
          await Promise.all([...saves, ...reads])
          await until('both say what the source says', async () => {
            const cached = await Promise.all([a.get('k'), b.get('k')])
            return cached.every((value) => value === undefined || value === stored)
          })
        }
      })
    },
  },
)

/** The store, with a feed that the test can interrupt. */
function interruptible(store: CacheStore) {
  let isCut = false
  let tell: (notice: CacheNotice) => void = () => {}
  const watch = (listener: (notice: CacheNotice) => void) => {
    tell = listener
    return store.watch((notice) => {
      if (!isCut) listener(notice)
    })
  }
  const bound = (name: string) => {
    const member: unknown = store[name as keyof CacheStore]
    return typeof member === 'function' ? member.bind(store) : member
  }
  const wrapped = new Proxy(store, { get: (_, name) => (name === 'watch' ? watch : bound(String(name))) })
  return {
    store: wrapped,
    /** Delays notices. */
    withhold() {
      isCut = true
    },
    cut() {
      isCut = true
      tell({ kind: 'lost' })
    },
    resume() {
      isCut = false
      tell({ kind: 'resumed' })
    },
  }
}
