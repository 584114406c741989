/**
 * Names of everything that allowlists keep in Redis (see README.md). A list id holds no `:`, and no identifier holds
 * a brace, so no id can forge the key of something else.
 */

const IDENTIFIER = /^[A-Za-z0-9._~:@+=-]{1,256}$/

/** Another program may put anything into a set of members. */
export const isIdentifier = (text: string): boolean => IDENTIFIER.test(text)

/** List ids, all with score 0: Redis sorts them. It may name lists that are gone, never miss one that is there. */
export const REGISTRY_KEY = 'allowlists'
/** Lists that upkeep must look at, by the moment (epoch ms) from which on. */
export const DUE_KEY = 'allowlists:due'
/** The last number that an incarnation got. */
export const INCARNATION_KEY = 'allowlists:incarnation'
/** How often lists were checked. */
export const USES_KEY = 'allowlists:uses'
/** Tells this store from every other, so that a token of another one is noticed. */
export const STORE_ID_KEY = 'catraca:store'
export const API_KEYS_KEY = 'catraca:keys'

/**
 * Messages are list ids, with `!` in front when more than members changed. Channels do not know databases, so the
 * name must.
 */
export const wakeChannel = (database: number): string => `allowlists:changes:${database}`

/** The lists of a customer: a hash of list id and the version of what is known (see reverse-index.ts). */
export const reverseKey = (customerId: string): string => `customer-allowlists:${customerId}`

/** What a list keeps beside its members, all in the slot of `allowlist:ID`. */
export interface ListKeys {
  meta: string
  /** Import id → record. */
  imports: string
  /** Who builds the index. */
  build: string
  manifest: string
  /** Page name → bytes. */
  pages: string
}

export function listKeys(listId: string): ListKeys {
  const tag = `{allowlist:${listId}}`
  return {
    meta: `${tag}:meta`,
    imports: `${tag}:imports`,
    build: `${tag}:build`,
    manifest: `${tag}:manifest`,
    pages: `${tag}:pages`,
  }
}

/** What one shard keeps, all in one slot. */
export interface ShardKeys {
  /** The set of its members. */
  members: string
  /** Customer id → attributes (see attributes.ts); under `#generation` what the set belongs to. */
  attributes: string
  /** Counters: see lua/shard.lua. */
  state: string
  log: string
  /** Customers whose membership ends, by that moment. */
  expiries: string
  /** Log entries that the reverse index may not know yet. */
  unindexed: string
  /** Import id → who may write, and what its last batch did. */
  writers: string
  /** The generation that a replace is building: members, attributes, expiries. */
  next: string
  nextAttributes: string
  nextExpiries: string
  /** Customers changed by hand since the replace began: they win over its file. */
  touched: string
  /** The generation before the last switch, until it is swept. */
  old: string
}

/** With one shard the set is `allowlist:ID`, as other programs expect it. */
export function shardKeys(listId: string, shardCount: number, shard: number): ShardKeys {
  const members = shardCount === 1 ? `allowlist:${listId}` : `allowlist:${listId}:${shardCount}:${shard}`
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
