import type { KeyType } from '../link/script.js'
import type { ShardKeys } from './keys.js'

/** Files that a script of one shard needs. */
export const SHARD_USES = ['change-log', 'shard'] as const

/** The keys of a shard as lua/shard.lua takes them: first of all keys of a script, in this order. */
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

/** Tells an entry of a log from another one that got the same number after a loss. */
export const newMark = (): number => 1 + Math.floor(Math.random() * 0xfffffffe)
