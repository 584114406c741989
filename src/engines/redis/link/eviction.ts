import type { RedisInfo, RedisNode } from './redis.js'

/** What the servers hold. With only caches they should evict keys, otherwise they never may. */
export type RedisUse = 'guards' | 'caches'

export function evictionWarnings(info: RedisInfo, use: RedisUse): string[] {
  return use === 'caches' ? warningsOfCaches(info) : warningsOfGuards(info)
}

function warningsOfCaches({ nodes }: RedisInfo): string[] {
  return nodes.flatMap(({ address, maxmemoryPolicy: policy, maxmemoryBytes }) => {
    if (policy === undefined) return []
    const server = `the Redis server at ${address}, which keeps caches, has`
    if (maxmemoryBytes === 0) {
      return [`${server} no maxmemory: it grows as long as there is memory; set it, and volatile-lru`]
    }
    if (policy === 'noeviction') {
      return [
        `${server} maxmemory-policy noeviction: when it is full nothing more is cached; set volatile-lru`,
      ]
    }
    if (!policy.startsWith('allkeys-')) return []
    return [
      `${server} maxmemory-policy ${policy}: it may drop what it knows of tags, and a deletion by tag would miss ` +
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
      `the Redis server at ${address} has maxmemory-policy ${policy}: when its memory is full it drops ${what}, ` +
        'and customers would be denied or let in wrongly; set it to noeviction',
    ]
  })
}

/** The nodes as /health shows them. */
export const healthOf = ({ topology, nodes }: RedisInfo): Record<string, unknown> => ({
  topology,
  nodes: nodes.map((node: RedisNode) => ({ ...node })),
})
