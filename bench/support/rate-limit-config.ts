import type { Catraca } from '../../src/catraca.js'

/**
 * The five cases of the source about configuration: one user in twenty has limits of their own; everybody comes once,
 * and then once more. `resource` is configured for all.
 */
export async function measureConfig(
  { limits }: Catraca,
  resource: string,
  entities: number,
): Promise<Record<string, number>> {
  for (let i = 0; i < entities; i += 20) {
    const address = { level: 'entity', identifier: `user-${i}`, resource } as const
    await limits.setConfig(address, { limits: { rpm: { capacity: 2_000_000 } } })
  }
  const figuresOfCache = () => ({ ...limits.stats().configCache })
  const visit = async () => {
    const before = figuresOfCache()
    const start = performance.now()
    for (let i = 0; i < entities; i++) await limits.resolveConfig(`user-${i}`, resource)
    const us = ((performance.now() - start) / entities) * 1000
    const after = figuresOfCache()
    return { us, reads: (after.reads - before.reads) / entities, hits: (after.hits - before.hits) / entities }
  }
  limits.invalidateConfigCache()
  const first = await visit()
  const second = await visit()
  const asked = Math.min(5000, entities)
  const start = performance.now()
  for (let i = 0; i < asked; i++) await limits.acquire({ entity: `user-${i}`, resource })
  return {
    'config read latency, µs': first.us,
    'config cache hit, µs': second.us,
    'config cache hit rate': second.hits,
    'acquire with config, one at a time, µs': ((performance.now() - start) / asked) * 1000,
    'sparse traffic, batches read per user': first.reads,
    'negative cache, batches read per user': second.reads,
  }
}
