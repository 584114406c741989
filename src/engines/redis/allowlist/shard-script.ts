import type { KeyType } from '../link/script.js'
import type { ShardKeys } from './keys.js'

/** Lua files that scripts of one shard need. */
export const SHARD_USES = ['change-log', 'shard'] as const

/** The keys of a shard for lua/shard.lua: the first keys of each script, in this order. */
export const shardScriptKeys = (keys: ShardKeys): string[] => [
  keys.members,
  keys.attributes,
  keys.state,
  keys.log,
  keys.expiries,
  keys.unindexed,
  keys.next,
  keys.nextAttributes,
  keys.nextExpiries,
  keys.touched,
]

export const SHARD_KEY_TYPES: readonly KeyType[] = [
  ...(['set', 'hash', 'hash', 'stream', 'zset', 'zset'] as const),
  ...(['set', 'hash', 'zset', 'set'] as const),
]

/** A random mark. After data loss, it distinguishes log entries with the same number. */
export const newMark = (): number => 1 + Math.floor(Math.random() * 0xfffffffe)
