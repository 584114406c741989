import { chunksOf } from '../../../core/chunks.js'
import { REGISTRY_PARTITION, readListId } from '../allowlist/items.js'
import { WATCHED_ATTRIBUTES } from '../allowlist/meta.js'
import { type Item, number, optionalNumber } from '../client/attributes.js'
import type { DynamoClient } from '../client/client.js'
import { Expression } from '../client/expression.js'
import { whole } from '../client/key-ranges.js'
import { ChangePublisher, type PublishedEntry } from './change-publisher.js'
import { FEED_HEAD_KEY } from './feed-items.js'
import { LogWriter } from './log-writer.js'
import { type FeedMessage, MAX_TOLD_ONE_BY_ONE, type MessageSink } from './messages.js'
import type { StreamRecord, StreamTable } from './stream-records.js'
import { gather, type Images, type ListWork } from './stream-work.js'

interface SequencerOptions {
  client: DynamoClient
  tables: Record<StreamTable, string>
  sink: MessageSink
  now: () => number
}

/** Records from this one on were not processed completely. */
export interface Failure {
  /** Absent: everything is in the logs, but the messages were not published. */
  listId?: string
  sequence: string
  error: unknown
}

/** Attribute of FEED HEAD for each stream. */
export const WATERMARKS: Record<StreamTable, string> = { allowlists: 'processedUntil', giant: 'giantUntil' }

const LISTS_AT_ONCE = 8
/** A stream holds 24 hours. If nothing came through for nearly as long, records may have been missed. */
const HOLE_MS = 20 * 3_600_000

/**
 * Turns the records of the table streams into the logs that pods follow, and into messages. It may get the same
 * records again, in other batches, or on several hosts at once: a log entry has the state of members, not how they
 * changed.
 */
export class Sequencer {
  private readonly publisher: ChangePublisher

  constructor(private readonly options: SequencerOptions) {
    const { client, tables, now } = options
    this.publisher = new ChangePublisher(client, tables, new LogWriter(client, tables.allowlists, now), now)
  }

  /**
   * Processes records of one stream shard, in order. Failed records must be passed again, with everything after them.
   * `othersUntil`: the time up to which the other shards of the stream were processed, if the host knows.
   */
  async process(
    records: readonly StreamRecord[],
    othersUntil = Number.POSITIVE_INFINITY,
  ): Promise<Failure[]> {
    const { lists, probes } = gather(records)
    const messages: FeedMessage[] = []
    const failures: Failure[] = []
    const works = [...lists.values()]
    const tellOne = async (work: ListWork): Promise<void> => {
      try {
        messages.push(...messagesOf(work, await this.publisher.publish(work)))
      } catch (error) {
        failures.push({ listId: work.listId, sequence: work.firstSequence, error })
      }
    }
    for (const part of chunksOf(works, LISTS_AT_ONCE)) await Promise.all(part.map(tellOne))
    if (failures.length === 0) {
      for (const [table, at] of probes) await this.confirm(table, Math.min(at, othersUntil))
    }
    try {
      if (messages.length > 0) await this.options.sink.publish(messages)
    } catch (error) {
      failures.push({ sequence: records[0]!.sequence, error })
    }
    return failures
  }

  /** Records that everything written before this time is in the logs. */
  private async confirm(table: StreamTable, at: number): Promise<void> {
    const { client, tables } = this.options
    const TableName = tables.allowlists
    const head = await client.readItem('feed.watermark', TableName, FEED_HEAD_KEY)
    const name = WATERMARKS[table]
    const last = (head && optionalNumber(head, name)) ?? 0
    if (at <= last) return
    if (at - last > HOLE_MS) await this.resetAll(at - HOLE_MS)
    const expression = new Expression().set({ [name]: number(at) })
    const isLater = `${expression.name(name)} < ${expression.value(number(at))}`
    expression.when(`${expression.absent(name)} OR ${isLater}`)
    const input = { TableName, Key: FEED_HEAD_KEY, ...expression.update() }
    await client.updateItem('feed.watermark', input, { repeatable: true })
  }

  /** Changes may have been missed: processes with an index of a list created before this time must load it again. */
  async resetAll(createdBefore: number): Promise<void> {
    const { client, tables } = this.options
    const input = { TableName: tables.allowlists, ...whole(REGISTRY_PARTITION) }
    for await (const items of client.queryPages('feed.reset', input)) {
      for (const item of items) await this.resetOld(item, createdBefore)
    }
  }

  private async resetOld(entry: Item, createdBefore: number): Promise<void> {
    const listId = readListId(entry.SK?.S ?? '')
    const list = listId === undefined ? undefined : await this.publisher.read(listId)
    const isAffected = list?.type === 'FIXA' && list.createdAt < createdBefore
    if (isAffected) await this.publisher.reset(list.id)
  }
}

function messagesOf(
  { listId: allowlistId, meta, indexVersion }: ListWork,
  told: PublishedEntry[],
): FeedMessage[] {
  const messages = told.flatMap((one): FeedMessage[] => {
    const { shard, sequence, changes } = one
    const where = { allowlistId, shard, sequence }
    if (changes === undefined) return [{ type: 'ALLOWLIST_REPLACED', ...where }]
    if (changes.length > MAX_TOLD_ONE_BY_ONE) {
      return [{ type: 'CUSTOMER_CHANGED', ...where, customers: changes.length }]
    }
    return changes.map(({ customerId, action }) => ({
      type: 'CUSTOMER_CHANGED',
      ...where,
      customerId,
      action,
    }))
  })
  if (meta.some(isEnd)) messages.push({ type: 'ALLOWLIST_DELETED', allowlistId })
  else if (meta.some(isChange)) messages.push({ type: 'ALLOWLIST_CHANGED', allowlistId })
  if (indexVersion !== undefined) messages.push({ type: 'BLOOM_UPDATED', allowlistId, version: indexVersion })
  return messages
}

const isEnd = ({ before, after }: Images): boolean =>
  after === undefined || (after.deletedAt !== undefined && before?.deletedAt === undefined)

function isChange({ before, after }: Images): boolean {
  return WATCHED_ATTRIBUTES.some((name) => JSON.stringify(before?.[name]) !== JSON.stringify(after?.[name]))
}
