/**
 * Cache: a first-tier hit, awaited, against lru-cache's own fetch and against bentocache and cacheable in two tiers, in
 * turns, by CPU time; a hit in the second tier on the embedded engine; the hit rate of Zipf-distributed reads.
 * With bench/support/cache-redis.ts there, the same over Redis.
 * Arguments: --hits 400000 --rounds 5 --keys 1000 --reads 200000 --population 50000 --perSecond 1000
 */
import { existsSync } from 'node:fs'
import { openCatraca } from '../src/app/open-catraca.js'
import { ManualClock } from '../src/core/clock.js'
import { numberArguments } from './support/arguments.js'
import { bentocache, type Contender, cacheable, type Filled, lruFetch } from './support/cache-rivals.js'
import { median, report } from './support/report.js'
import { zipf } from './support/zipf.js'

const { values } = numberArguments({
  ...{ hits: 400_000, rounds: 5, keys: 1000 },
  ...{ reads: 200_000, population: 50_000, perSecond: 1000 },
})
const TTL_MS = 300_000
const entry = (key: string) => ({
  id: '550e8400-e29b-41d4-a716-446655440000',
  ...{ key_type: 'CPF', key_value: key, account_ispb: '00000000', account_number: '12345-6' },
  ...{ status: 'ACTIVE', created_at: '2025-10-25T10:00:00Z' },
})
const filled: Filled = {
  keys: Array.from({ length: values.keys }, (_, i) => `CPF:${String(i).padStart(11, '0')}`),
  value: entry,
  ttlMs: TTL_MS,
}
const figures: Record<string, number> = {}
const ratios: Record<string, number> = {}

const catraca = await openCatraca({ store: 'memory:', sweepIntervalMs: 0 })

async function ours(l1: boolean): Promise<Contender> {
  const name = l1 ? 'tiered' : 'second-only'
  const space = catraca.cache.space<object>({ name, ttlMs: TTL_MS, ...(!l1 && { l1: false as const }) })
  const hit = (key: string) => space.getOrLoad(key, entry)
  for (const key of filled.keys) await hit(key)
  return { name: `Catraca ${name}`, hit, close: async () => {} }
}

/** Hits per second of CPU time: what others on the machine do does not count. */
async function rate({ hit }: Contender, hits: number): Promise<number> {
  const { keys } = filled
  const before = process.cpuUsage()
  for (let i = 0; i < hits; i++) await hit(keys[i % keys.length]!)
  const { user, system } = process.cpuUsage(before)
  return hits / ((user + system) / 1e6)
}

async function measureHits(): Promise<void> {
  const contenders = [
    lruFetch(filled),
    await ours(true),
    await bentocache(filled),
    await cacheable(filled),
    await ours(false),
  ]
  const rates = new Map<string, number[]>(contenders.map(({ name }) => [name, []]))
  for (let round = 0; round <= values.rounds; round++) {
    for (const [i, contender] of contenders.entries()) {
      const found = await rate(contender, i < 2 ? values.hits : values.hits / 20)
      // The first round warms.
      if (round > 0) rates.get(contender.name)!.push(found)
    }
  }
  for (const [name, found] of rates) figures[`${name}, hits per second of CPU`] = median(found)
  const [lru, own, bento, cacheables] = contenders.map(({ name }) => median(rates.get(name)!))
  ratios['first-tier hit / lru-cache fetch (at least 0.4)'] = own! / lru!
  ratios['first-tier hit / bentocache (at least 8)'] = own! / bento!
  ratios['first-tier hit / cacheable (at least 8)'] = own! / cacheables!
  for (const contender of contenders) await contender.close()
}

/** Reads as a directory of keys gets them, so many a second by a clock that the bench moves. */
async function measureHitRate(): Promise<void> {
  const clock = new ManualClock(Date.now())
  const pod = await openCatraca({ store: 'memory:', sweepIntervalMs: 0, clock })
  const space = pod.cache.space<object>({ name: 'dict:entry:key', ttlMs: TTL_MS, l1: { maxEntries: 5000 } })
  const next = zipf(values.population, 0.99, Math.random)
  for (let i = 0; i < values.reads; i++) {
    if (i % values.perSecond === 0) clock.advance(1000)
    await space.getOrLoad(`CPF:${next()}`, entry)
  }
  const { hitRate, firstTierHits, secondTierHits, loads } = space.stats()
  figures['Zipf hit rate'] = hitRate
  figures['Zipf first-tier share'] = firstTierHits / values.reads
  figures['Zipf second-tier share'] = secondTierHits / values.reads
  figures['Zipf loads'] = loads
  await pod.close()
}

await measureHits()
await measureHitRate()
const redisPart = new URL('./support/cache-redis.js', import.meta.url)
if (existsSync(redisPart)) {
  const { measureCacheRedis } = await import(redisPart.href)
  await measureCacheRedis({ values, filled, figures, ratios })
}
await catraca.close()
report({ name: 'cache', rounds: values.rounds, figures, ratios, setting: values })
