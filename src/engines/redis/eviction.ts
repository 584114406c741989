import type { RedisInfo, RedisNode } from './link/redis.js'

/** What operators should know of servers that may lose data by their own choice. */
export function evictionWarnings({ nodes }: RedisInfo): string[] {
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
