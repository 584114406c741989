import type { StoreUse } from '../../registry-entry.js'
import type { RedisInfo, RedisNode } from './redis.js'

/** Servers with only caches should evict keys, others never may. */
export function evictionWarnings(info: RedisInfo, use: StoreUse): string[] {
  return use === 'caches' ? warningsOfCaches(info) : warningsOfGuards(info)
}

function warningsOfCaches({ nodes }: RedisInfo): string[] {
  return nodes.flatMap(({ address, maxmemoryPolicy: policy, maxmemoryBytes }) => {
    if (policy === undefined) return []
    const server = `the Redis server at ${address}, which stores caches, has`
    if (maxmemoryBytes === 0) {
      return [
        `${server} no maxmemory: it grows until the machine has no memory left; set maxmemory, and volatile-lru`,
      ]
    }
    if (policy === 'noeviction') {
      return [
        `${server} maxmemory-policy noeviction: when it is full, nothing is cached any more; set volatile-lru`,
      ]
    }
    if (!policy.startsWith('allkeys-')) return []
    return [
      `${server} maxmemory-policy ${policy}: it may evict the records of tags, and a deletion by tag would miss ` +
        'entries; set volatile-lru',
    ]
  })
}

/** Warnings about servers that may evict data. */
function warningsOfGuards({ nodes }: RedisInfo): string[] {
  return nodes.flatMap(({ address, maxmemoryPolicy: policy }) => {
    if (policy === undefined || policy === 'noeviction') return []
    const what = policy.startsWith('allkeys-') ? 'any key' : 'keys that expire'
    return [
      `the Redis server at ${address} has maxmemory-policy ${policy}: when its memory is full it evicts ${what}, ` +
        'and customers would be denied or allowed wrongly; set it to noeviction',
    ]
  })
}

/** The nodes as /health shows them. */
export const healthOf = ({ topology, nodes }: RedisInfo): Record<string, unknown> => ({
  topology,
  nodes: nodes.map((node: RedisNode) => ({ ...node })),
})
