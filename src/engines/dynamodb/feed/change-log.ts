import type { ChangeFeed, ListRef, LogPart, Position } from '../../../guards/allowlist/changes/port.js'
import { logPartition, metaKey } from '../allowlist/items.js'
import { decodeMeta } from '../allowlist/meta.js'
import type { AppliedChanges } from '../allowlist/tokens.js'
import type { DynamoClient } from '../client/client.js'
import { headKey, isGiant, markOf } from './feed-items.js'
import type { Freshness } from './freshness.js'
import { LogReader, type ReadEntry } from './log-reader.js'
import { readHead } from './log-writer.js'
import type { FeedMessage } from './messages.js'

/** `type`: what happened, if known. */
export type OnChange = (listId?: string, type?: FeedMessage['type']) => void

/** Notifies of changes: the queue of this pod, if there is one. */
export interface ChangeSource {
  listen(wake: OnChange): { stop(): void }
}

/** What another process has read of the logs, if that is recent and connects to this position. */
export interface SharedLogs {
  log(list: ListRef, after: Position): Promise<{ entries: ReadEntry[]; ageMs: number } | undefined>
}

interface ChangeLogOptions {
  client: DynamoClient
  table: string
  freshness: Freshness
  applied: AppliedChanges
  wakes?: ChangeSource
  shared?: SharedLogs | undefined
}

/** Concurrent reads, for a list with many logs. */
const AT_ONCE = 16
const MAX_TOLD = 10_000

/** The logs of each list. The sequencer (sequencer.ts) writes them after the changes. */
export class ChangeLog implements ChangeFeed {
  readonly isImmediate = false
  private readonly reader: LogReader
  /** Lists of which a message has come: what others have read may be older. */
  private readonly told = new Set<string>()

  constructor(private readonly options: ChangeLogOptions) {
    this.reader = new LogReader(options.client, options.table)
  }

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
    const isTold = this.told.delete(list.id)
    const shared = isTold ? undefined : await this.options.shared?.log(list, after)
    if (shared !== undefined) return { ...shared, entries: this.noted(list, shared.entries), more: false }
    // Read first: what it confirms is in the logs by the time that they are read.
    const ageMs = await this.options.freshness.ageMs(isGiant(first) ? 'giant' : 'allowlists')
    const entries: ReadEntry[] = []
    let more = false
    for (let at = 0; at < after.length; at += AT_ONCE) {
      const logs = await Promise.all(
        after.slice(at, at + AT_ONCE).map((position, i) => this.reader.read(list, at + i, position)),
      )
      for (const log of logs) {
        if (log === 'gap') return 'gap'
        entries.push(...log.entries)
        more ||= log.more
      }
    }
    return { entries: this.noted(list, entries), more, ageMs }
  }

  private noted({ incarnation }: ListRef, entries: ReadEntry[]): ReadEntry[] {
    for (const { log, sequence, mark, changeIds } of entries) {
      this.options.applied.note(incarnation, log, sequence, mark, changeIds)
    }
    return entries
  }

  /** Only reading the logs shows changes. */
  hasChanges(): boolean {
    return false
  }

  watch(wake: (listId?: string) => void): { stop(): void } {
    const { wakes, shared } = this.options
    if (wakes === undefined) return { stop() {} }
    return wakes.listen((listId) => {
      if (listId !== undefined && shared !== undefined) {
        // Lists that nobody follows here are never read.
        if (this.told.size >= MAX_TOLD) this.told.clear()
        this.told.add(listId)
      }
      wake(listId)
    })
  }
}
