import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LRUCache } from 'lru-cache'

/** One way to get a value by key that is there already. */
export interface Contender {
  name: string
  hit(key: string): Promise<unknown>
  close(): Promise<void>
}

export interface Filled {
  keys: readonly string[]
  value: (key: string) => object
  ttlMs: number
}

/** lru-cache alone, by its own `fetch`. */
export function lruFetch({ keys, value, ttlMs }: Filled): Contender {
  const cache = new LRUCache<string, object>({
    max: 2 * keys.length,
    ttl: ttlMs,
    fetchMethod: async (key) => value(key),
  })
  for (const key of keys) cache.set(key, value(key))
  return { name: 'lru-cache fetch', hit: (key) => cache.fetch(key), close: async () => {} }
}

// Their types name packages that are not installed here: what is used of them is said below.
interface Bento {
  getOrSet(options: { key: string; ttl: number; factory: () => object }): Promise<unknown>
  disconnectAll(): Promise<void>
}
interface BentoModule {
  BentoCache: new (options: object) => Bento
  bentostore(): { useL1Layer(driver: unknown): { useL2Layer(driver: unknown): unknown } }
}
const BENTO = 'bentocache'
const CACHEABLE = 'cacheable'

/** bentocache with memory before files; `secondTier` may bring another driver of its own, such as Redis. */
export async function bentocache(filled: Filled, secondTier?: unknown): Promise<Contender> {
  const { BentoCache, bentostore } = (await import(BENTO)) as BentoModule
  const { memoryDriver } = await import(`${BENTO}/drivers/memory`)
  const { fileDriver } = await import(`${BENTO}/drivers/file`)
  const directory = mkdtempSync(join(tmpdir(), 'catraca-bench-'))
  const { keys, value, ttlMs } = filled
  const first = memoryDriver({ maxItems: 2 * keys.length })
  const store = bentostore()
    .useL1Layer(first)
    .useL2Layer(secondTier ?? fileDriver({ directory, pruneInterval: false }))
  const cache = new BentoCache({ default: 'tiered', stores: { tiered: store } })
  const hit = (key: string) => cache.getOrSet({ key, ttl: ttlMs, factory: () => value(key) })
  for (const key of keys) await hit(key)
  return {
    name: 'bentocache getOrSet',
    hit,
    async close() {
      await cache.disconnectAll()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

interface CacheableModule {
  Cacheable: new (
    options: object,
  ) => {
    getOrSet(key: string, load: () => Promise<object>, options: object): Promise<unknown>
    disconnect(): Promise<void>
  }
  Keyv: new () => unknown
}

/** cacheable with memory before `secondTier`, which is a plain Keyv (memory again) when absent. */
export async function cacheable(filled: Filled, secondTier?: unknown): Promise<Contender> {
  const { Cacheable, Keyv } = (await import(CACHEABLE)) as CacheableModule
  const { keys, value, ttlMs } = filled
  const cache = new Cacheable({ secondary: secondTier ?? new Keyv(), ttl: ttlMs })
  const hit = (key: string) => cache.getOrSet(key, async () => value(key), { ttl: ttlMs })
  for (const key of keys) await hit(key)
  return { name: 'cacheable getOrSet', hit, close: () => cache.disconnect() }
}
