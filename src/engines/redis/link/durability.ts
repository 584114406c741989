import type { RedisUse } from './eviction.js'
import type { RedisInfo } from './redis.js'

/** Warnings about servers that hold guards and may lose acknowledged writes. */
export function durabilityWarnings({ topology, nodes }: RedisInfo, use: RedisUse): string[] {
  if (use === 'caches') return []
  return nodes.flatMap(({ address, appendOnly, needsReplicas }) => {
    const warnings: string[] = []
    const server = `the Redis server at ${address}, which keeps guards, has`
    if (appendOnly === false) {
      warnings.push(
        `${server} no append-only file: when it is restarted it forgets members, locks, limits and requests that ` +
          'were done; set appendonly yes',
      )
    }
    if (needsReplicas === false && topology !== 'single') {
      warnings.push(
        `${server} min-replicas-to-write 0: a primary that was replaced goes on taking writes, which are lost, until ` +
          'it and the pods have heard of it; set min-replicas-to-write 1',
      )
    }
    return warnings
  })
}
