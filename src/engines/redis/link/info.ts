import type { RedisNode } from './redis.js'

/** What INFO tells of a server; CONFIG would tell more, but hosted services forbid it. */
export function infoOf(address: string, text: string): RedisNode {
  const fields = new Map(text.split(/\r?\n/).map((line) => splitAtColon(line)))
  const node: RedisNode = { address }
  const role = fields.get('role')
  if (role === 'master' || role === 'slave') node.role = role
  const version = fields.get('redis_version')
  if (version !== undefined) node.version = version
  const policy = fields.get('maxmemory_policy')
  if (policy !== undefined) node.maxmemoryPolicy = policy
  if (fields.has('maxmemory')) node.maxmemoryBytes = Number(fields.get('maxmemory'))
  if (fields.has('used_memory')) node.usedMemoryBytes = Number(fields.get('used_memory'))
  if (fields.has('connected_slaves')) node.connectedReplicas = Number(fields.get('connected_slaves'))
  return node
}

function splitAtColon(line: string): [string, string] {
  const colon = line.indexOf(':')
  return colon < 0 ? [line, ''] : [line.slice(0, colon), line.slice(colon + 1)]
}
