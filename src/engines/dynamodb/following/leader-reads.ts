import type { ListRef, Position } from '../../../guards/allowlist/changes/port.js'
import { metaKey } from '../allowlist/items.js'
import { digestOf, readableMeta, type StoredList } from '../allowlist/meta.js'
import type { DynamoClient } from '../client/client.js'
import { isGiant, markOf } from '../feed/feed-items.js'
import type { Freshness } from '../feed/freshness.js'
import { LogReader, type ReadEntry } from '../feed/log-reader.js'
import type { StreamTable } from '../feed/stream-records.js'
import type { Board, SharedEntry, SharedList } from './board.js'

interface LeaderReadsParts {
  client: DynamoClient
  tables: Record<StreamTable, string>
  freshness: Freshness
  /** The end of each log of a list. */
  position(list: ListRef): Promise<Position | undefined>
  /** How often the records of lists are read. */
  listsEveryMs: number
  /** How long entries stay on the board. */
  keepMs: number
  elapsedMs: () => number
  /** The clock of DynamoDB. */
  serverNow: () => number
}

interface FollowedLogs {
  readonly list: ListRef
  readonly mark: number
  readonly heads: number[]
  recent: { entry: ReadEntry; atMs: number }[]
}

/** A reader that misses entries reads the log itself. */
const MAX_ENTRY_BYTES = 64 * 1024
const AT_ONCE = 16
const LARGEST_ENTRY_BYTES = 4096

/** What the leader reads for all: records of lists, and their logs. */
export class LeaderReads {
  private readonly metas = new Map<string, { stored: StoredList; digest: string }>()
  private readonly logs = new Map<string, FollowedLogs>()
  private readonly reader: LogReader
  /** Also those that do not exist. */
  private looked = new Set<string>()
  private listsAt = 0
  private listsReadMs = Number.NEGATIVE_INFINITY

  constructor(private readonly parts: LeaderReadsParts) {
    this.reader = new LogReader(parts.client, parts.tables.allowlists)
  }

  /** `lists`: what is wanted; true if the logs too. */
  async read(
    lists: ReadonlyMap<string, boolean>,
  ): Promise<Pick<Board, 'at' | 'listsAt' | 'until' | 'lists' | 'entries'>> {
    const { serverNow, elapsedMs, listsEveryMs } = this.parts
    const at = serverNow()
    const isDue = elapsedMs() - this.listsReadMs >= 0.9 * listsEveryMs
    const hasNew = [...lists.keys()].some((id) => !this.looked.has(id))
    if (isDue || hasNew) await this.readMetas([...lists.keys()])
    const withLogs = [...lists].flatMap(([id, hasLog]) => {
      const meta = this.metas.get(id)
      return hasLog && meta?.stored.type === 'FIXA' ? [meta.stored] : []
    })
    for (const id of this.logs.keys()) if (!lists.get(id) || !this.metas.has(id)) this.logs.delete(id)
    // Before the logs: what it confirms is in them by the time that they are read.
    const until = await this.until(withLogs)
    await inGroups(withLogs, (stored) => this.advance(stored))
    return { at, listsAt: this.listsAt, until, lists: this.lists(lists), entries: this.entries() }
  }

  private async readMetas(ids: readonly string[]): Promise<void> {
    const { client, tables, serverNow, elapsedMs } = this.parts
    const [at, atMs] = [serverNow(), elapsedMs()]
    const keys = ids.map(metaKey)
    const items =
      keys.length === 0 ? [] : await client.batchGetItem('follow.lists', { table: tables.allowlists, keys })
    this.looked = new Set(ids)
    this.metas.clear()
    for (const item of items) {
      const stored = readableMeta(item)
      if (stored === undefined || stored.deletedAt !== undefined) continue
      this.metas.set(stored.id, { stored, digest: digestOf(stored) })
    }
    this.listsAt = at
    this.listsReadMs = atMs
  }

  private async until(lists: readonly StoredList[]): Promise<Board['until']> {
    const used = new Set(lists.map(({ giant }): StreamTable => (giant ? 'giant' : 'allowlists')))
    const found = await Promise.all(
      [...used].map(async (table) => [table, await this.parts.freshness.until(table)] as const),
    )
    return Object.fromEntries(found.filter(([, until]) => Number.isFinite(until)))
  }

  private async advance(stored: StoredList): Promise<void> {
    const { id, incarnation } = stored
    const mark = markOf(stored)
    const known = this.logs.get(id)
    const isSame = known?.list.incarnation === incarnation && known.mark === mark
    const logs = isSame ? known : await this.begin({ id, incarnation }, mark)
    if (logs === undefined) return
    const shards = [...logs.heads.keys()]
    await inGroups(shards, async (shard) => {
      if (!(await this.advanceOne(logs, shard))) this.logs.delete(id)
    })
    const { elapsedMs, keepMs } = this.parts
    const from = elapsedMs() - keepMs
    logs.recent = logs.recent.filter(({ atMs }) => atMs >= from)
  }

  private async begin(list: ListRef, mark: number): Promise<FollowedLogs | undefined> {
    this.logs.delete(list.id)
    const position = await this.parts.position(list)
    if (position === undefined || position.some((log) => log.mark !== mark)) return undefined
    const logs = { list, mark, heads: position.map(({ sequence }) => sequence), recent: [] }
    this.logs.set(list.id, logs)
    return logs
  }

  /** False: the log does not continue from where it was. */
  private async advanceOne({ list, mark, heads, recent }: FollowedLogs, shard: number): Promise<boolean> {
    for (;;) {
      const read = await this.reader.read(list, shard, { sequence: heads[shard]!, mark })
      if (read === 'gap') return false
      const atMs = this.parts.elapsedMs()
      recent.push(...read.entries.map((entry) => ({ entry, atMs })))
      heads[shard]! += read.entries.length
      if (!read.more) return true
    }
  }

  private lists(wanted: ReadonlyMap<string, boolean>): Map<string, SharedList> {
    const lists = new Map<string, SharedList>()
    for (const [id, { digest }] of this.metas) {
      if (!wanted.has(id)) continue
      const logs = this.logs.get(id)
      if (logs === undefined) lists.set(id, { digest })
      else {
        const { list, mark, heads } = logs
        lists.set(id, { digest, log: { incarnation: list.incarnation, mark, heads: [...heads] } })
      }
    }
    return lists
  }

  /** The newest that fit. Of a log the newest are without a gap. */
  private entries(): SharedEntry[] {
    const all = [...this.logs.values()].flatMap(({ list, recent }) =>
      recent.map(({ entry, atMs }) => ({ listId: list.id, ...entry, atMs })),
    )
    all.sort((a, b) => b.atMs - a.atMs || b.sequence - a.sequence)
    const kept: SharedEntry[] = []
    let bytes = 0
    for (const { listId, log, sequence, bytes: packed, changeIds } of all) {
      // Changes in bulk are cheaper to read in the log.
      if (packed.length > LARGEST_ENTRY_BYTES) continue
      bytes += packed.length + changeIds.join().length
      if (bytes > MAX_ENTRY_BYTES) break
      kept.push({ listId, log, sequence, bytes: packed, changeIds })
    }
    return kept
  }
}

async function inGroups<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  for (let at = 0; at < all.length; at += AT_ONCE) await Promise.all(all.slice(at, at + AT_ONCE).map(work))
}

export const tableOfPosition = ([first]: Position): StreamTable =>
  first !== undefined && isGiant(first) ? 'giant' : 'allowlists'
