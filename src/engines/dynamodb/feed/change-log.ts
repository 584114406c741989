import type {
  ChangeFeed,
  ListRef,
  LogEntry,
  LogPart,
  LogPosition,
  Position,
} from '../../../guards/allowlist/changes/port.js'
import { LOG_HEAD, logPartition, metaKey, readSequenceSort, sequenceSort } from '../allowlist/items.js'
import { decodeMeta } from '../allowlist/meta.js'
import type { AppliedChanges } from '../allowlist/tokens.js'
import { bytesOf, type Item } from '../client/attributes.js'
import type { DynamoClient, Page } from '../client/client.js'
import { between } from '../client/key-ranges.js'
import { headKey, isGiant, layoutOf, markOf } from './feed-items.js'
import type { Freshness } from './freshness.js'
import { readHead } from './log-writer.js'
import type { FeedMessage } from './messages.js'

/** `type`: what happened, if known. */
export type OnChange = (listId?: string, type?: FeedMessage['type']) => void

/** Notifies of changes: the queue of this pod, if there is one. */
export interface ChangeSource {
  listen(wake: OnChange): { stop(): void }
}

export interface ChangeLogOptions {
  client: DynamoClient
  table: string
  freshness: Freshness
  applied: AppliedChanges
  wakes?: ChangeSource
}

interface OneLog {
  entries: LogEntry[]
  more: boolean
}

/** Concurrent reads, for a list with many logs. */
const AT_ONCE = 16
/** How often the entries up to the end of a log are read before they count as trimmed. */
const MAX_LOOKS = 3

/** The logs of each list. The sequencer (sequencer.ts) writes them after the changes. */
export class ChangeLog implements ChangeFeed {
  readonly isImmediate = false

  constructor(private readonly options: ChangeLogOptions) {}

  async position(list: ListRef): Promise<Position | undefined> {
    const { client, table } = this.options
    const meta = await client.readItem('feed.position', table, metaKey(list.id))
    const stored = meta && decodeMeta(meta)
    if (stored?.incarnation !== list.incarnation || stored.deletedAt !== undefined) return undefined
    const { layout, shardCount } = stored
    const shards = Array.from({ length: shardCount }, (_, shard) => shard)
    const keys = shards.map((shard) => headKey({ list, layout, shard }))
    const heads = await client.batchGetItem('feed.position', { table, keys, consistent: true })
    const byPartition = new Map(heads.map((head) => [head.PK?.S, head]))
    const mark = markOf(stored)
    return shards.map((shard) => {
      const head = byPartition.get(logPartition(list, layout, shard))
      return { sequence: readHead(head).sequence, mark }
    })
  }

  async read(list: ListRef, after: Position): Promise<LogPart | 'gap'> {
    const [first] = after
    if (first === undefined || after.some(({ mark }) => mark !== first.mark)) return 'gap'
    // Read first: what it confirms is in the logs by the time that they are read.
    const ageMs = await this.options.freshness.ageMs(isGiant(first) ? 'giant' : 'allowlists')
    const entries: LogEntry[] = []
    let more = false
    for (let at = 0; at < after.length; at += AT_ONCE) {
      const logs = await Promise.all(
        after.slice(at, at + AT_ONCE).map((position, i) => this.readLog(list, at + i, position)),
      )
      for (const log of logs) {
        if (log === 'gap') return 'gap'
        entries.push(...log.entries)
        more ||= log.more
      }
    }
    return { entries, more, ageMs }
  }

  /**
   * A query may see an entry before it sees the end of the log move, or the other way round: it does not see the
   * transaction that writes both as atomic.
   */
  private async readLog(list: ListRef, log: number, position: LogPosition): Promise<OneLog | 'gap'> {
    const { sequence: after, mark } = position
    for (let attempt = 1; ; attempt++) {
      const { items, next } = await this.query(list, log, position)
      const headItem = items.at(-1)?.SK?.S === LOG_HEAD ? items.pop() : undefined
      const entries = items.map((item) => readEntryItem(item, log, mark))
      if (entries.some(({ sequence }, i) => sequence !== after + 1 + i)) return 'gap'
      if (next === undefined) {
        const head = readHead(headItem)
        if (head.isClosed || head.sequence < after - 1) return 'gap'
        if (head.sequence > after + entries.length) {
          if (attempt === MAX_LOOKS) return 'gap'
          continue
        }
      }
      for (const [i, item] of items.entries()) this.note(list, entries[i]!, item)
      return { entries, more: next !== undefined }
    }
  }

  private query(list: ListRef, log: number, position: LogPosition): Promise<Page> {
    const partition = logPartition(list, layoutOf(position), log)
    const range = between(partition, sequenceSort(position.sequence + 1), LOG_HEAD)
    return this.options.client.query('feed.read', { TableName: this.options.table, ...range })
  }

  private note({ incarnation }: ListRef, { log, sequence, mark }: LogEntry, item: Item): void {
    const changeIds = item.changeIds?.L?.flatMap(({ S }) => (S === undefined ? [] : [S])) ?? []
    this.options.applied.note(incarnation, log, sequence, mark, changeIds)
  }

  /** Only reading the logs shows changes. */
  hasChanges(): boolean {
    return false
  }

  watch(wake: (listId?: string) => void): { stop(): void } {
    return this.options.wakes?.listen(wake) ?? { stop() {} }
  }
}

function readEntryItem(item: Item, log: number, mark: number): LogEntry {
  return { log, sequence: readSequenceSort(item.SK?.S ?? ''), mark, bytes: bytesOf(item, 'bytes') }
}
