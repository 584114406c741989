import { randomUUID } from 'node:crypto'
import { type ChangeNotice, NoticeFeed } from '../../../guards/cache/notice-feed.js'
import type { CacheNotice } from '../../../guards/cache/port.js'
import { type Item, number, optionalNumber, text, textOf } from '../client/attributes.js'
import { NumberedItems } from '../client/numbered-items.js'
import { HEAD_KEY, noticeKey } from './keys.js'
import { type CacheTable, ttlOf } from './table.js'

const POLL_MS = 600
/** The number may be read a moment before its notice exists. */
const GRACE_MS = 150
const KEPT_MS = 3_600_000
/** If there are more new notices, they are not read one by one. */
const MOST_READ = 100
/** Approximate maximum size of one notice. */
const MOST_TOLD_BYTES = 200_000

/**
 * Invalidations that instances share: a log in the table, numbered without gaps, whose last number every instance
 * polls. A number without a notice, left by a process that died in between, counts as missed.
 */
export class CacheNotices {
  /** Id of this instance. Its own changes are not reported to it. */
  private readonly origin = randomUUID()
  private readonly items: NumberedItems
  private readonly feed: NoticeFeed<Item>
  private waiting: { notice: ChangeNotice; resolve: () => void; reject: (error: unknown) => void }[] = []
  private isTelling = false

  constructor(
    private readonly guards: CacheTable,
    private readonly now: () => number = Date.now,
  ) {
    this.items = new NumberedItems(guards, 'cache', HEAD_KEY, noticeKey)
    this.feed = new NoticeFeed<Item>(
      {
        head: () => this.head(),
        read: (from, to) => this.items.read(from, to),
        noticesOf: (item) => this.noticesOf(item),
      },
      { pollMs: POLL_MS, graceMs: GRACE_MS, maxEntries: MOST_READ },
    )
  }

  watch(listener: (notice: CacheNotice) => void): () => void {
    return this.feed.watch(listener)
  }

  /** Batched with all notices that arrive while a write is in flight. */
  tell(notice: ChangeNotice): Promise<void> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ notice, resolve, reject })
      if (!this.isTelling) void this.tellWaiting()
    })
  }

  close(): Promise<void> {
    return this.feed.close()
  }

  private async tellWaiting(): Promise<void> {
    this.isTelling = true
    while (this.waiting.length > 0) {
      const told = this.takeWaiting()
      try {
        await this.write(told.map(({ notice }) => notice))
        for (const { resolve } of told) resolve()
      } catch (error) {
        for (const { reject } of told) reject(error)
      }
    }
    this.isTelling = false
  }

  private takeWaiting() {
    let count = 0
    for (let bytes = 0; count < this.waiting.length && (count === 0 || bytes < MOST_TOLD_BYTES); count++)
      bytes += JSON.stringify(this.waiting[count]!.notice).length
    return this.waiting.splice(0, count)
  }

  private write(notices: readonly ChangeNotice[]): Promise<void> {
    return this.items.append({
      origin: text(this.origin),
      notices: text(JSON.stringify(notices)),
      ttl: number(ttlOf(this.guards.at(this.now()) + KEPT_MS)),
    })
  }

  private async head(): Promise<number> {
    const { client, table: TableName } = this.guards
    const head = await client.readItem('cache.watch', TableName, HEAD_KEY, { timeoutMs: 2 * POLL_MS })
    return (head && optionalNumber(head, 'number')) ?? 0
  }

  private noticesOf(item: Item): ChangeNotice[] {
    return textOf(item, 'origin') === this.origin ? [] : JSON.parse(textOf(item, 'notices'))
  }
}
