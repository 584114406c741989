import type { ListRef } from '../../../guards/allowlist/changes/port.js'
import { shardOf } from '../../../guards/allowlist/shard.js'
import { text } from '../client/attributes.js'

/**
 * Names of everything that allowlists keep in the tables (see README.md). No identifier holds a `#`, and every part
 * made of one stands behind a `#`, so that no id can forge the key of something else.
 */
export type Key = Record<'PK' | 'SK', { S: string }>

export const keyOf = (partition: string, sort: string): Key => ({
  PK: text(partition) as { S: string },
  SK: text(sort) as { S: string },
})

/** How the members of a list are spread. */
export interface Layout {
  shardCount: number
  /** In the table for giant lists. */
  giant: boolean
}

/** Where a member is. */
export interface Place {
  table: 'allowlists' | 'giant'
  partition: string
  /** Which of the list's shards, and of how many. */
  shard: number
  shards?: number
}

export const META = 'META'
export const CUSTOMER_PREFIX = 'CUSTOMER#'
export const LIST_PREFIX = 'ALLOWLIST#'
export const INDEX_NAME = 'CustomerAllowlistIndex'

export const listPartition = (listId: string): string => `${LIST_PREFIX}${listId}`
export const customerSort = (customerId: string): string => `${CUSTOMER_PREFIX}${customerId}`
export const metaKey = (listId: string): Key => keyOf(listPartition(listId), META)

/** The partition of a shard; a list of one shard has its members beside its META. */
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

/** Whether the rule of shards sends the customer here. A move leaves others too in partitions that both layouts have. */
export const belongsAt = ({ shard, shards = 1 }: Place, customerId: string): boolean =>
  shards === 1 || shardOf(customerId, shards) === shard

/** Every place that members of the list can be at, one for each shard. */
export function allPlaces(listId: string, layout: Layout): Place[] {
  return Array.from({ length: layout.shardCount }, (_, shard) => shardPlace(listId, layout, shard))
}

export const samePlace = (a: Place, b: Place): boolean => a.table === b.table && a.partition === b.partition

const MEMBER_PARTITION = /^ALLOWLIST#([^#]+)(?:#SHARD_(\d+))?$/

/** Of whom a partition with members speaks; undefined for every other partition. */
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
  return text.startsWith(LIST_PREFIX) ? text.slice(LIST_PREFIX.length) : undefined
}

/** All lists by id. It may name lists that are gone, never miss one that this product made. */
export const REGISTRY_PARTITION = 'ALLOWLISTS'
export const registryKey = (listId: string): Key => keyOf(REGISTRY_PARTITION, listPartition(listId))
/** Lists that have members in the giant table, which has no index by customer. It too may name too many. */
export const GIANT_PARTITION = 'ALLOWLISTS#GIANT'
export const giantKey = (listId: string): Key => keyOf(GIANT_PARTITION, listPartition(listId))
/** How often lists were checked. */
export const USES_PARTITION = 'ALLOWLISTS#USES'
export const usesKey = (listId: string): Key => keyOf(USES_PARTITION, listPartition(listId))

/** Of the store as a whole: its id, and whether lists of other programs were looked for. */
export const STORE_KEY: Key = keyOf('CATRACA', 'STORE')

export const API_KEYS_PARTITION = 'KEYS'
export const apiKeyKey = (name: string): Key => keyOf(API_KEYS_PARTITION, `KEY#${name}`)

/** Work that upkeep has to do, by the moment from which on. Spread, because imports may write very many. */
export const DUE_PARTITIONS = ['DUE_0', 'DUE_1', 'DUE_2', 'DUE_3'] as const

/** Beside META: the index (manifest, who builds, the names of all pages, the pages), imports. */
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

/** A move to another layout: who works on it, and how far it is. */
export const moveKey = (listId: string): Key => keyOf(listPartition(listId), 'MOVE')

/**
 * The log of one shard. Incarnation and layout are in its name: a list of the same id, and the same list after it
 * was moved to another number of shards, begin with logs of their own.
 */
export function logPartition({ id, incarnation }: ListRef, layout: number, shard: number): string {
  return `${listPartition(id)}#LOG_${incarnation}_${layout}_${shard}`
}

const SEQUENCE_DIGITS = 16
export const LOG_HEAD = 'HEAD'
/** Digits sort before `HEAD`. */
export const sequenceSort = (sequence: number): string => String(sequence).padStart(SEQUENCE_DIGITS, '0')
export const readSequenceSort = (sort: string): number => Number(sort)

/** What a replace to this generation has changed, as long as it is little. */
export const differencesKey = (listId: string, generation: number): Key =>
  keyOf(listPartition(listId), `REPLACE#${generation}`)
