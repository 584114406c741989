import type { RedisNode } from './redis.js'

const NUMBERS = [
  ['maxmemory', 'maxmemoryBytes'],
  ['used_memory', 'usedMemoryBytes'],
  ['connected_slaves', 'connectedReplicas'],
  ['connected_clients', 'connectedClients'],
  ['evicted_keys', 'evictedKeys'],
  ['keyspace_hits', 'keyspaceHits'],
  ['keyspace_misses', 'keyspaceMisses'],
  ['total_commands_processed', 'commandsProcessed'],
] as const

/** The fields of INFO. CONFIG has more, but hosted services forbid it. */
export function infoOf(address: string, text: string): RedisNode {
  const fields = new Map(text.split(/\r?\n/).map((line) => splitAtColon(line)))
  const node: RedisNode = { address }
  const role = fields.get('role')
  if (role === 'master' || role === 'slave') node.role = role
  const version = fields.get('redis_version')
  if (version !== undefined) node.version = version
  const policy = fields.get('maxmemory_policy')
  if (policy !== undefined) node.maxmemoryPolicy = policy
  if (fields.has('aof_enabled')) node.appendOnly = fields.get('aof_enabled') === '1'
  // INFO has this field only if `min-replicas-to-write` is set.
  if (fields.has('connected_slaves')) node.needsReplicas = fields.has('min_slaves_good_slaves')
  for (const [field, name] of NUMBERS) if (fields.has(field)) node[name] = Number(fields.get(field))
  return node
}

function splitAtColon(line: string): [string, string] {
  const colon = line.indexOf(':')
  return colon < 0 ? [line, ''] : [line.slice(0, colon), line.slice(colon + 1)]
}
