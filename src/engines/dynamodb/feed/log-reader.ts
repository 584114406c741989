import type { ListRef, LogEntry, LogPosition } from '../../../guards/allowlist/changes/port.js'
import { LOG_HEAD, logPartition, readSequenceSort, sequenceSort } from '../allowlist/items.js'
import { bytesOf, type Item } from '../client/attributes.js'
import type { DynamoClient } from '../client/client.js'
import { between } from '../client/key-ranges.js'
import { layoutOf } from './feed-items.js'
import { readHead } from './log-writer.js'

/** An entry with the writes that it contains. */
export interface ReadEntry extends LogEntry {
  changeIds: readonly string[]
}

interface ReadLog {
  entries: ReadEntry[]
  more: boolean
}

/** How often the entries up to the end of a log are read before they count as trimmed. */
const MAX_LOOKS = 3

/** Reads one of the logs of a list from a position on. */
export class LogReader {
  constructor(
    private readonly client: DynamoClient,
    private readonly table: string,
  ) {}

  /**
   * A query may see an entry before it sees the end of the log move, or the other way round: it does not see the
   * transaction that writes both as atomic.
   */
  async read(list: ListRef, log: number, position: LogPosition): Promise<ReadLog | 'gap'> {
    const { sequence: after, mark } = position
    const range = between(logPartition(list, layoutOf(position), log), sequenceSort(after + 1), LOG_HEAD)
    for (let attempt = 1; ; attempt++) {
      const { items, next } = await this.client.query('feed.read', { TableName: this.table, ...range })
      const headItem = items.at(-1)?.SK?.S === LOG_HEAD ? items.pop() : undefined
      const entries = items.map((item) => readEntryItem(item, log, mark))
      if (entries.some(({ sequence }, i) => sequence !== after + 1 + i)) return 'gap'
      if (next !== undefined) return { entries, more: true }
      const head = readHead(headItem)
      if (head.isClosed || head.sequence < after - 1) return 'gap'
      if (head.sequence <= after + entries.length) return { entries, more: false }
      if (attempt === MAX_LOOKS) return 'gap'
    }
  }
}

function readEntryItem(item: Item, log: number, mark: number): ReadEntry {
  const changeIds = item.changeIds?.L?.flatMap(({ S }) => (S === undefined ? [] : [S])) ?? []
  return { log, sequence: readSequenceSort(item.SK?.S ?? ''), mark, bytes: bytesOf(item, 'bytes'), changeIds }
}
