import { PREFIX } from '../keys.js'

/**
 * Names of all keys of allowlists in Redis (see ../README.md). A list id contains no `:`, and no identifier contains
 * a brace, so no id can forge another key.
 */

const IDENTIFIER = /^[A-Za-z0-9._~:@+=-]{1,256}$/

/** Another program may put anything into a set of members. */
export const isIdentifier = (text: string): boolean => IDENTIFIER.test(text)

/** List ids, all with score 0: Redis sorts them. May contain deleted lists, but never misses an existing one. */
export const REGISTRY_KEY = PREFIX.lists
/** Lists that need upkeep, by the time (epoch ms) from which on. */
export const DUE_KEY = `${PREFIX.lists}:due`
/** The last incarnation number. */
export const INCARNATION_KEY = `${PREFIX.lists}:incarnation`
/** How often each list was checked. */
export const USES_KEY = `${PREFIX.lists}:uses`
/** Identifies this store, so that a write token of another store is recognised. */
export const STORE_ID_KEY = `${PREFIX.store}:store`

/**
 * Messages are list ids, with the prefix `!` if more than members changed. Channels are shared by all databases, so
 * the name contains the database.
 */
export const changeChannel = (database: number): string => `${PREFIX.lists}:changes:${database}`

/** Keys of a list beside its members, all in the slot of `allowlist:ID`. */
interface ListKeys {
  meta: string
  /** Import id → record. */
  imports: string
  /** The lease of the index build. */
  build: string
  manifest: string
  /** Page name → bytes. */
  pages: string
}

export function listKeys(listId: string): ListKeys {
  const tag = `{${PREFIX.list}:${listId}}`
  return {
    meta: `${tag}:meta`,
    imports: `${tag}:imports`,
    build: `${tag}:build`,
    manifest: `${tag}:manifest`,
    pages: `${tag}:pages`,
  }
}

/** Keys of one shard, all in one slot. */
export interface ShardKeys {
  /** The set of members. */
  members: string
  /** Customer id → attributes (see attributes.ts); under `#generation` the incarnation and generation of the set. */
  attributes: string
  /** Counters; see lua/shard.lua. */
  state: string
  log: string
  /** Customers whose membership expires, by expiry. */
  expiries: string
  /** Log entries that the index of version 0.1.0 may not have yet (lua/shard.lua). */
  unindexed: string
  /** Import id → its owner, and what its last batch did. */
  writers: string
  /** The generation that a replace is building: members, attributes, expiries. */
  next: string
  nextAttributes: string
  nextExpiries: string
  /** Customers changed by single writes since the replace began: these changes win over its file. */
  touched: string
  /** What version 0.1.0 keeps of the generation before the last switch. */
  old: string
}

/** With one shard the set is `allowlist:ID`, as other programs expect. */
export function shardKeys(listId: string, shardCount: number, shard: number): ShardKeys {
  const list = `${PREFIX.list}:${listId}`
  const members = shardCount === 1 ? list : `${list}:${shardCount}:${shard}`
  const tag = `{${members}}`
  return {
    members,
    attributes: `${tag}:attributes`,
    state: `${tag}:state`,
    log: `${tag}:log`,
    expiries: `${tag}:expiries`,
    unindexed: `${tag}:unindexed`,
    writers: `${tag}:writers`,
    next: `${tag}:next`,
    nextAttributes: `${tag}:next:attributes`,
    nextExpiries: `${tag}:next:expiries`,
    touched: `${tag}:touched`,
    old: `${tag}:old`,
  }
}
