import { daysBetween, readDays } from '../../../guards/audit/days.js'
import { DAY_MS, dayName, dayOf, timeOf } from '../../../guards/audit/entry-id.js'
import type { AuditPart, AuditStore, Retention, StoredEntry } from '../../../guards/audit/port.js'
import { type Item, number, text, textOf } from '../client/attributes.js'
import type { DynamoClient } from '../client/client.js'
import { between } from '../client/key-ranges.js'
import { PARTITION } from '../keys.js'

const VERB = 'audit'
/** Each day is spread over this many partitions, each good for 1,000 writes a second. */
const PARTITIONS = 4
const DAYS_READ = 31
const ENTRY = 'ENTRY#'
const DAY = 'DAY#'
/** Cached days of this process; more than it ever writes to at the same time. */
const NOTED_DAYS = 16

const partitionOf = (day: number, part: number): string => `${PARTITION.audit}#${dayName(day)}#${part}`
const DAYS_PARTITION = PARTITION.audit
const daySort = (day: number): string => DAY + dayName(day)
const dayFrom = (item: Item): number => dayOf(Date.parse(`${textOf(item, 'SK').slice(DAY.length)}T00:00:00Z`))

const seconds = (ms: number): number => Math.ceil(ms / 1000)

/** By the counter in its id, which grows by one: the entries of a process rotate through the partitions. */
const partOf = (id: string): number => Number.parseInt(id.slice(12, 18), 16) % PARTITIONS

/** The audit trail: one item per entry in the table for guards, a few partitions per day, deleted by TTL. */
export class DynamodbAudit implements AuditStore {
  private readonly noted = new Map<number, number>()

  constructor(
    private readonly client: DynamoClient,
    private readonly table: string,
  ) {}

  async append(entries: readonly StoredEntry[], { retentionMs }: Retention): Promise<void> {
    await this.noteDays(new Set(entries.map(({ id }) => dayOf(timeOf(id)))), retentionMs)
    const items = entries.map((entry) => itemOf(entry, retentionMs))
    if (items.length === 1) {
      await this.client.putItem(VERB, { TableName: this.table, Item: items[0]! })
      return
    }
    await this.client.batchWrite(
      VERB,
      items.map((put) => ({ table: this.table, put })),
    )
  }

  /** First the day, then its entries: a reader queries only days that it finds. */
  private async noteDays(days: ReadonlySet<number>, retentionMs: number): Promise<void> {
    for (const day of days) {
      if (this.noted.get(day) === retentionMs) continue
      const ttl = seconds((day + 3) * DAY_MS + retentionMs)
      const item = { PK: text(DAYS_PARTITION), SK: text(daySort(day)), ttl: number(ttl) }
      await this.client.putItem(VERB, { TableName: this.table, Item: item })
      if (this.noted.size >= NOTED_DAYS) this.noted.clear()
      this.noted.set(day, retentionMs)
    }
  }

  async read(below: string, from: string, limit: number): Promise<AuditPart> {
    const { newest, oldest } = daysBetween(below, from)
    if (newest < oldest) return { entries: [] }
    const page = await this.client.query(VERB, {
      ...this.between(DAYS_PARTITION, daySort(oldest), daySort(newest)),
      Limit: DAYS_READ,
    })
    const days = page.items.map(dayFrom)
    const reached = { day: days.at(-1) ?? oldest, isEnd: page.next === undefined }
    return readDays(days, limit, reached, (day, left) => this.readDay(day, below, from, left))
  }

  private async readDay(day: number, below: string, from: string, limit: number): Promise<StoredEntry[]> {
    const parts = await Promise.all(
      Array.from({ length: PARTITIONS }, (_, part) => this.readPart(day, part, below, from, limit)),
    )
    return parts
      .flat()
      .sort((a, b) => (a.id < b.id ? 1 : -1))
      .slice(0, limit)
  }

  private async readPart(
    day: number,
    part: number,
    below: string,
    from: string,
    limit: number,
  ): Promise<StoredEntry[]> {
    const entries: StoredEntry[] = []
    // One more, because the reader has the first one already. A page may end early, at 1 MB.
    const asked = this.between(partitionOf(day, part), ENTRY + from, ENTRY + below)
    for await (const items of this.client.queryPages(VERB, { ...asked, Limit: limit + 1 })) {
      for (const item of items) {
        const id = textOf(item, 'SK').slice(ENTRY.length)
        if (id < below) entries.push({ id, text: textOf(item, 'entry') })
      }
      if (entries.length >= limit) break
    }
    return entries.slice(0, limit)
  }

  private between(partition: string, from: string, to: string) {
    return {
      TableName: this.table,
      ...between(partition, from, to),
      ScanIndexForward: false,
    }
  }

  /** TTL deletes expired items. */
  async sweep(): Promise<{ more: boolean }> {
    return { more: false }
  }
}

function itemOf({ id, text: entry }: StoredEntry, retentionMs: number): Item {
  const at = timeOf(id)
  return {
    PK: text(partitionOf(dayOf(at), partOf(id))),
    SK: text(ENTRY + id),
    entry: text(entry),
    ttl: number(seconds(at + retentionMs)),
  }
}
