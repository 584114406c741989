import type { ListRef, LogPosition } from '../../../guards/allowlist/changes/port.js'
import {
  customerSort,
  type Layout,
  LOG_HEAD,
  listPartition,
  logPartition,
  sequenceSort,
  shardPlace,
} from '../allowlist/items.js'
import { type Item, number } from '../client/attributes.js'
import { type Key, keyOf, PARTITION } from '../keys.js'

/**
 * The items of the change feed, in the table of allowlists, beside the logs (`ALLOWLIST#id#LOG_…`):
 *
 *   FEED                   PROBE          at                           what pods send through the stream
 *                          HEAD           processedUntil, giantUntil   the last probe that came back
 *                          SHARD#…        owner, checkpoint, …         the progress of `catraca relay`
 *                          RELAY#…, DEAD#…                             running relays; records that failed
 *   ALLOWLIST#id#EXPIRED   CUSTOMER#id#…                               a TTL deletion that was counted
 */
export const FEED_PARTITION = PARTITION.feed
/** Also in the table of giants, which has another stream. */
export const PROBE_KEY: Key = keyOf(FEED_PARTITION, 'PROBE')
export const FEED_HEAD_KEY: Key = keyOf(FEED_PARTITION, 'HEAD')
export const SHARD_PREFIX = 'SHARD#'
export const RELAY_PREFIX = 'RELAY#'
export const shardKey = (stream: string, shardId: string): Key =>
  keyOf(FEED_PARTITION, `${SHARD_PREFIX}${stream}#${shardId}`)
export const relayKey = (owner: string): Key => keyOf(FEED_PARTITION, RELAY_PREFIX + owner)
export const deadKey = (stream: string, sequence: string): Key =>
  keyOf(FEED_PARTITION, `DEAD#${stream}#${sequence}`)

const DAY_SECONDS = 86_400
/** How long entries are stored. A process that is further behind loads the list again. */
export const LOG_KEPT_SECONDS = 7 * DAY_SECONDS
/** Longer than the 24 hours of a stream: after this no record is processed again. */
export const PAST_STREAM_SECONDS = 2 * DAY_SECONDS
export const DEAD_KEPT_SECONDS = 14 * DAY_SECONDS

export interface LogRef {
  list: ListRef
  layout: number
  shard: number
}

export const entryKey = ({ list, layout, shard }: LogRef, sequence: number): Key =>
  keyOf(logPartition(list, layout, shard), sequenceSort(sequence))

/** Sorts after every entry, so that one query reads the entries and their end. */
export const headKey = ({ list, layout, shard }: LogRef): Key =>
  keyOf(logPartition(list, layout, shard), LOG_HEAD)

/**
 * The mark of a position contains the layout of its logs, so that an index of another layout is recognised without
 * reading META. It also contains the table, because the two streams do not progress equally.
 */
export const markOf = ({ layout, giant }: Layout & { layout: number }): number => 2 * layout + (giant ? 1 : 0)
export const layoutOf = ({ mark }: LogPosition): number => Math.floor(mark / 2)
export const isGiant = ({ mark }: LogPosition): boolean => mark % 2 === 1

/** Copies of a member, made while its list moves, have the same version: their deletions count once. */
export const expiredKey = (listId: string, customerId: string, version: string): Key =>
  keyOf(`${listPartition(listId)}#EXPIRED`, `${customerSort(customerId)}#${version}`)

export const tableOf = (listId: string, layout: Layout): 'allowlists' | 'giant' =>
  shardPlace(listId, layout, 0).table

/** The TTL attribute of an item. */
export const expiresIn = (seconds: number, nowMs: number): Item[string] =>
  number(Math.ceil(nowMs / 1000) + seconds)
