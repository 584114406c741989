import type { StoreUse } from '../../registry-entry.js'
import type { RedisInfo } from './redis.js'

/** Warnings about servers that hold guards and may lose acknowledged writes. */
export function durabilityWarnings({ topology, nodes }: RedisInfo, use: StoreUse): string[] {
  if (use === 'caches') return []
  return nodes.flatMap(({ address, appendOnly, needsReplicas }) => {
    const warnings: string[] = []
    const server = `the Redis server at ${address}, which stores guard data, has`
    if (appendOnly === false) {
      warnings.push(
        `${server} no append-only file: a restart loses members, locks, limits and records of requests that ` +
          'were executed; set appendonly yes',
      )
    }
    if (needsReplicas === false && topology !== 'single') {
      warnings.push(
        `${server} min-replicas-to-write 0: after a failover the old primary accepts writes, which are lost, until ` +
          'it and the pods learn of the failover; set min-replicas-to-write 1',
      )
    }
    return warnings
  })
}
