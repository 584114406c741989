import type { ListRef } from '../../../guards/allowlist/changes/port.js'
import { shardOf } from '../../../guards/allowlist/shard.js'
import { type Key, keyOf, PARTITION } from '../keys.js'

/** How the members of a list are distributed. */
export interface Layout {
  shardCount: number
  /** In the table for giant lists. */
  giant: boolean
}

/** Where a member is stored. */
export interface Place {
  table: 'allowlists' | 'giant'
  partition: string
  /** The shard, and the number of shards of the list. */
  shard: number
  shards?: number
}

export const META = 'META'
export const CUSTOMER_PREFIX = 'CUSTOMER#'
export const INDEX_NAME = 'CustomerAllowlistIndex'

export const listPartition = (listId: string): string => `${PARTITION.list}${listId}`
export const customerSort = (customerId: string): string => `${CUSTOMER_PREFIX}${customerId}`
export const metaKey = (listId: string): Key => keyOf(listPartition(listId), META)

/** The partition of a shard. A list of one shard has its members beside its META. */
export function memberPartition(listId: string, { shardCount }: Layout, shard: number): string {
  return shardCount === 1 ? listPartition(listId) : `${listPartition(listId)}#SHARD_${shard}`
}

export function placeOf(listId: string, layout: Layout, customerId: string): Place {
  return shardPlace(listId, layout, shardOf(customerId, layout.shardCount))
}

export function shardPlace(listId: string, layout: Layout, shard: number): Place {
  return {
    table: layout.giant ? 'giant' : 'allowlists',
    partition: memberPartition(listId, layout, shard),
    shard,
    shards: layout.shardCount,
  }
}

/**
 * Whether the shard of the customer is this one. A move also leaves other customers in partitions that both layouts
 * have.
 */
export const belongsAt = ({ shard, shards = 1 }: Place, customerId: string): boolean =>
  shards === 1 || shardOf(customerId, shards) === shard

/** All places of members of the list, one per shard. */
export function allPlaces(listId: string, layout: Layout): Place[] {
  return Array.from({ length: layout.shardCount }, (_, shard) => shardPlace(listId, layout, shard))
}

export const samePlace = (a: Place, b: Place): boolean => a.table === b.table && a.partition === b.partition

const MEMBER_PARTITION = new RegExp(`^${PARTITION.list}([^#]+)(?:#SHARD_(\\d+))?$`)

/** The list and shard of a partition with members; undefined for every other partition. */
export function readMemberPartition(
  partition: string,
): { listId: string; shard: number | undefined } | undefined {
  const [, listId, shard] = MEMBER_PARTITION.exec(partition) ?? []
  if (listId === undefined) return undefined
  return { listId, shard: shard === undefined ? undefined : Number(shard) }
}

export function readCustomerSort(sort: string): string | undefined {
  return sort.startsWith(CUSTOMER_PREFIX) ? sort.slice(CUSTOMER_PREFIX.length) : undefined
}

export function readListId(text: string): string | undefined {
  return text.startsWith(PARTITION.list) ? text.slice(PARTITION.list.length) : undefined
}

/** All lists by id. May contain deleted lists, but never misses a list that this product created. */
export const REGISTRY_PARTITION = PARTITION.lists
export const registryKey = (listId: string): Key => keyOf(REGISTRY_PARTITION, listPartition(listId))
/** Lists that have members in the giant table, which has no index by customer. May also contain too many. */
export const GIANT_PARTITION = `${PARTITION.lists}#GIANT`
export const giantKey = (listId: string): Key => keyOf(GIANT_PARTITION, listPartition(listId))
/** How often each list was checked. */
export const USES_PARTITION = `${PARTITION.lists}#USES`
export const usesKey = (listId: string): Key => keyOf(USES_PARTITION, listPartition(listId))

/** The store as a whole: its id, and whether it was scanned for lists of other programs. */
export const STORE_KEY: Key = keyOf(PARTITION.store, 'STORE')

export const API_KEYS_PARTITION = PARTITION.apiKeys
export const apiKeyKey = (name: string): Key => keyOf(API_KEYS_PARTITION, `KEY#${name}`)

/** Upkeep tasks, by due time. Spread over partitions, because imports may write very many. */
export const DUE_PARTITIONS = [0, 1, 2, 3].map((part) => `${PARTITION.due}${part}`)

/** Beside META: the index (manifest, build lease, names of all pages, pages) and imports. */
export const manifestKey = (listId: string): Key => keyOf(listPartition(listId), 'BLOOM_FILTER#MANIFEST')
export const buildKey = (listId: string): Key => keyOf(listPartition(listId), 'BLOOM_BUILD')
export const pageNamePrefix = ({ incarnation }: ListRef): string => `BLOOM_PAGE#${incarnation}#`
export const pageNameKey = (list: ListRef, name: string): Key =>
  keyOf(listPartition(list.id), pageNamePrefix(list) + name)
export const pageKey = (list: ListRef, name: string): Key =>
  keyOf(listPartition(list.id), `BLOOM_FILTER#PAGE#${list.incarnation}#${name}`)

export const IMPORT_PREFIX = 'IMPORT#'
export const importKey = (listId: string, importId: string): Key =>
  keyOf(listPartition(listId), `${IMPORT_PREFIX}${importId}`)

/** A move to another layout: its lease and progress. */
export const moveKey = (listId: string): Key => keyOf(listPartition(listId), 'MOVE')

/**
 * The log of one shard. Its name contains incarnation and layout: a list recreated with the same id, and a list that
 * was moved to another number of shards, begin new logs.
 */
export function logPartition({ id, incarnation }: ListRef, layout: number, shard: number): string {
  return `${listPartition(id)}#LOG_${incarnation}_${layout}_${shard}`
}

const SEQUENCE_DIGITS = 16
export const LOG_HEAD = 'HEAD'
/** Digits sort before `HEAD`. */
export const sequenceSort = (sequence: number): string => String(sequence).padStart(SEQUENCE_DIGITS, '0')
export const readSequenceSort = (sort: string): number => Number(sort)

/** The customers that a replace to this generation has changed, if they are few. */
export const differencesKey = (listId: string, generation: number): Key =>
  keyOf(listPartition(listId), `REPLACE#${generation}`)
