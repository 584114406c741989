import { setTimeout as sleep } from 'node:timers/promises'
import { chunksOf } from '../../../core/chunks.js'
import { CatracaError } from '../../../core/errors.js'
import { sameAttributes } from '../../../guards/allowlist/generation-changes.js'
import { readDifferences } from '../allowlist/differences.js'
import { differencesKey, metaKey, placeOf } from '../allowlist/items.js'
import { decodeMeta, type StoredList } from '../allowlist/meta.js'
import { attributesAt, type Row, rowOf, visible } from '../allowlist/rows.js'
import type { Item } from '../client/attributes.js'
import type { DynamoClient } from '../client/client.js'
import { countExpiries } from './expiry-counter.js'
import { type LogRef, tableOf } from './feed-items.js'
import type { LogHead, LogWriter } from './log-writer.js'
import { entryAsItIsNow, RESET_CHANGE, readRows } from './row-changes.js'
import type { StreamTable } from './stream-records.js'
import type { Images, ListWork, MemberChange } from './stream-work.js'

/** An entry was appended. */
export interface PublishedEntry {
  shard: number
  sequence: number
  /** Absent: the list changed as a whole. */
  changes?: MemberChange[]
}

/** Customers per entry: with the longest ids it still fits an item. */
const MAX_IN_ENTRY = 1000
const MAX_ATTEMPTS = 60
const LONGEST_PAUSE_MS = 50

/** META has changed: everything must be evaluated again. */
class ListChanged extends Error {}

/**
 * Appends changes to the logs of a list. It reads the end of the log, then the current state of every changed member,
 * and appends only if the end has not moved. So no entry has an older state than the entries before it, even if
 * changes are processed twice, late, or by two relays at once.
 */
export class ChangePublisher {
  private readonly turns = new Map<string, Promise<unknown>>()

  constructor(
    private readonly client: DynamoClient,
    private readonly tables: Record<StreamTable, string>,
    private readonly writer: LogWriter,
    private readonly now: () => number,
  ) {}

  /** Calls for one list run one after the other, because they would conflict. */
  publish(work: ListWork): Promise<PublishedEntry[]> {
    const turn = (this.turns.get(work.listId) ?? Promise.resolve()).then(() => this.publishNow(work))
    const settled = turn.catch(() => {})
    this.turns.set(work.listId, settled)
    void settled.then(() => this.turns.get(work.listId) === settled && this.turns.delete(work.listId))
    return turn
  }

  private async publishNow(work: ListWork): Promise<PublishedEntry[]> {
    for (const change of work.meta) await this.closeEnded(change)
    for (let attempt = 1; ; attempt++) {
      try {
        const list = await this.read(work.listId)
        return list === undefined ? [] : await this.tellOf(list, work)
      } catch (error) {
        if (!(error instanceof ListChanged)) throw error
        await pause(attempt, `the list ${work.listId} changes too often to publish its changes`)
      }
    }
  }

  /** The list, if it exists. */
  async read(listId: string): Promise<StoredList | undefined> {
    const item = await this.client.readItem('feed.list', this.tables.allowlists, metaKey(listId))
    const list = item && decodeMeta(item)
    return list?.deletedAt === undefined ? list : undefined
  }

  /** Makes every process that has an index of the list load it again. */
  async reset(listId: string): Promise<void> {
    const list = await this.read(listId)
    for (const ref of list === undefined ? [] : logsOf(list)) {
      await this.append(ref, list!, async () => RESET_CHANGE)
    }
  }

  private async closeEnded({ before, after }: Images): Promise<void> {
    if (before === undefined) return
    const old = decodeMeta(before)
    const current = after && decodeMeta(after)
    const goesOn =
      current?.deletedAt === undefined &&
      current?.incarnation === old.incarnation &&
      current.layout === old.layout
    if (goesOn) return
    for (const ref of logsOf(old)) await this.writer.close(ref)
  }

  private async tellOf(list: StoredList, { members, meta }: ListWork): Promise<PublishedEntry[]> {
    const current = [...members.values()].filter((change) => isAtItsPlace(list, change))
    const expiries = current.flatMap(({ customerId, expiries }) =>
      expiries.map((before) => ({ customerId, before })),
    )
    const table = this.tables.allowlists
    if (!(await countExpiries(this.client, table, list, expiries, this.now()))) throw new ListChanged()
    const told: PublishedEntry[] = []
    for (const [shard, changes] of byShard(current.filter((change) => isSeen(list, change)))) {
      for (const part of chunksOf(changes, MAX_IN_ENTRY)) {
        told.push(await this.publishMembers(list, shard, part))
      }
    }
    if (meta.some(isSwitch)) told.push(...(await this.publishSwitch(list)))
    return told
  }

  private async publishMembers(
    list: StoredList,
    shard: number,
    changes: MemberChange[],
  ): Promise<PublishedEntry> {
    const customers = changes.map(({ customerId }) => customerId)
    const changeIds = [...new Set(changes.flatMap((change) => [...change.changeIds]))]
    const ref = logOf(list, shard)
    const sequence = await this.append(ref, list, async () => {
      const rows = await this.rowsOf(list, customers)
      return { bytes: entryAsItIsNow(list, customers, rows)!, changeIds }
    })
    return { shard, sequence: sequence!, changes }
  }

  /** The members were replaced as a whole, which each log must report once. */
  private async publishSwitch(list: StoredList): Promise<PublishedEntry[]> {
    const { generation } = list
    const input = {
      TableName: this.tables.allowlists,
      Key: differencesKey(list.id, generation),
      ConsistentRead: true,
    }
    const differences = readDifferences(await this.client.getItem('feed.differences', input))
    const told: PublishedEntry[] = []
    for (const ref of logsOf(list)) {
      const sequence = await this.append(ref, list, async (head) => {
        if (head.generation >= generation) return undefined
        if (differences?.previous !== head.generation) return { ...RESET_CHANGE, generation }
        const { customers } = differences
        const mine = customers.filter((customerId) => placeOf(list.id, list, customerId).shard === ref.shard)
        const bytes = entryAsItIsNow(list, mine, await this.rowsOf(list, mine))
        return { ...(bytes === undefined ? RESET_CHANGE : { bytes, changeIds: [] }), generation }
      })
      if (sequence !== undefined) told.push({ shard: ref.shard, sequence })
    }
    return told
  }

  /** `news` is called again, after the new end was read, each time another writer appended first. */
  private async append(
    ref: LogRef,
    list: StoredList,
    news: (head: LogHead) => Promise<Parameters<LogWriter['append']>[2] | undefined>,
  ): Promise<number | undefined> {
    for (let attempt = 1; ; attempt++) {
      const head = await this.writer.head(ref)
      if (head.generation > list.generation) throw new ListChanged()
      if (head.isClosed && !(await this.hasReturned(list))) throw new ListChanged()
      // It is unknown what happened while it was closed.
      const entry = head.isClosed ? RESET_CHANGE : await news(head)
      if (entry === undefined) return undefined
      const sequence = await this.writer.append(ref, head, entry)
      if (sequence !== undefined && !head.isClosed) return sequence
      await pause(attempt, `other writers keep appending to the log of ${list.id}`)
    }
  }

  private async hasReturned(list: StoredList): Promise<boolean> {
    const now = await this.read(list.id)
    return now?.incarnation === list.incarnation && now.layout === list.layout
  }

  private rowsOf(list: StoredList, customers: readonly string[]): Promise<Map<string, Item>> {
    return readRows(this.client, this.tables[tableOf(list.id, list)], list, customers)
  }
}

const logOf = (list: StoredList, shard: number): LogRef => ({ list, layout: list.layout, shard })

const logsOf = (list: StoredList): LogRef[] =>
  Array.from({ length: list.shardCount }, (_, shard) => logOf(list, shard))

/** False for a copy that a move has made or left, and for a row where no reader would find it. */
function isAtItsPlace(list: StoredList, { table, partition, customerId }: MemberChange): boolean {
  const place = placeOf(list.id, list, customerId)
  return place.table === table && place.partition === partition
}

/** Whether checks could see it before or after. Rows of a future or past generation do not matter. */
function isSeen(list: StoredList, { images }: MemberChange): boolean {
  return images.some((image) => {
    const [before, after] = [rowOf(image.before, list), rowOf(image.after, list)]
    const isVisible = visible(before, list.generation) || visible(after, list.generation)
    return isVisible && !isOnlyWindow(list, before, after)
  })
}

/** A replace has only set the generations of the row: its switch is logged as a whole. */
function isOnlyWindow({ generation }: StoredList, before: Row | undefined, after: Row | undefined): boolean {
  if (before === undefined || after === undefined) return false
  const windows = [before, after].map(({ from, until, next }) => JSON.stringify([from, until, next]))
  return (
    windows[0] !== windows[1] &&
    before.pin === after.pin &&
    before.addedAt === after.addedAt &&
    visible(before, generation) === visible(after, generation) &&
    sameAttributes(attributesAt(before, generation), attributesAt(after, generation))
  )
}

const isSwitch = ({ before, after }: Images): boolean =>
  before !== undefined && after !== undefined && before.generation?.N !== after.generation?.N

function byShard(changes: readonly MemberChange[]): Map<number, MemberChange[]> {
  const groups = new Map<number, MemberChange[]>()
  for (const change of changes) {
    const group = groups.get(change.shard ?? 0)
    if (group === undefined) groups.set(change.shard ?? 0, [change])
    else group.push(change)
  }
  return groups
}

async function pause(attempt: number, trouble: string): Promise<void> {
  if (attempt === MAX_ATTEMPTS) throw new CatracaError('ENGINE_UNAVAILABLE', trouble)
  await sleep(Math.random() * Math.min(LONGEST_PAUSE_MS, 2 ** attempt))
}
