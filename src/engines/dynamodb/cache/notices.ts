import { randomUUID } from 'node:crypto'
import { every } from '../../../core/timers.js'
import { FeedTimeout } from '../../../guards/cache/feed-timeout.js'
import type { CacheNotice } from '../../../guards/cache/port.js'
import { type Item, number, numberOf, optionalNumber, text, textOf } from '../client/attributes.js'
import { HEAD_KEY, NOTICE_PARTITION, noticeKey, noticeSort } from './keys.js'
import { type CacheTable, ttlOf } from './table.js'

export type ChangeNotice = Exclude<CacheNotice, { kind: 'lost' | 'resumed' }>
type Listener = (notice: CacheNotice) => void

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
  private readonly listeners = new Set<Listener>()
  private waiting: { notice: ChangeNotice; resolve: () => void; reject: (error: unknown) => void }[] = []
  private isTelling = false
  private last: number | undefined
  private isLost = false
  private timer: NodeJS.Timeout | undefined
  private looking: Promise<void> | undefined
  private readonly silence = new FeedTimeout(() => this.lose())

  constructor(
    private readonly guards: CacheTable,
    private readonly now: () => number = Date.now,
  ) {}

  watch(listener: Listener): () => void {
    this.listeners.add(listener)
    if (this.timer === undefined) {
      this.timer = every(() => this.poll(), POLL_MS).unref()
      // Until the first number is read, it is unknown what was published before it.
      this.isLost = true
      this.poll()
    }
    if (this.isLost) listener({ kind: 'lost' })
    return () => {
      this.listeners.delete(listener)
      if (this.listeners.size === 0) this.stop()
    }
  }

  /** Batched with all notices that arrive while a write is in flight. */
  tell(notice: ChangeNotice): Promise<void> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ notice, resolve, reject })
      if (!this.isTelling) void this.tellWaiting()
    })
  }

  async close(): Promise<void> {
    this.listeners.clear()
    this.stop()
    await this.looking
  }

  private stop(): void {
    clearInterval(this.timer)
    this.silence.stop()
    this.timer = undefined
    this.last = undefined
    this.isLost = false
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

  /** Counts first, then writes the notice: a number without a notice makes every instance drop its cached entries. */
  private async write(notices: readonly ChangeNotice[]): Promise<void> {
    const { client, table: TableName } = this.guards
    const count = {
      ...{ TableName, Key: HEAD_KEY, UpdateExpression: 'ADD #number :one', ReturnValues: 'ALL_NEW' as const },
      ExpressionAttributeNames: { '#number': 'number' },
      ExpressionAttributeValues: { ':one': number(1) },
    }
    const { item } = await client.updateItem('cache.tell', count, { repeatable: true })
    const told: Item = {
      ...noticeKey(numberOf(item!, 'number')),
      origin: text(this.origin),
      notices: text(JSON.stringify(notices)),
      ttl: number(ttlOf(this.guards.at(this.now()) + KEPT_MS)),
    }
    await client.putItem('cache.tell', { TableName, Item: told })
  }

  private poll(): void {
    this.looking ??= this.look()
      .catch(() => this.lose())
      .finally(() => {
        this.looking = undefined
      })
  }

  private async look(): Promise<void> {
    const { client, table: TableName } = this.guards
    const askedAtMs = performance.now()
    const head = await client.getItem(
      'cache.watch',
      { TableName, Key: HEAD_KEY, ConsistentRead: true },
      { timeoutMs: 2 * POLL_MS },
    )
    const count = (head && optionalNumber(head, 'number')) ?? 0
    const { last } = this
    if (this.timer === undefined) return
    this.last = count
    if (last !== undefined && !this.isLost && count !== last) await this.follow(last, count)
    if (this.timer === undefined) return
    if (this.isLost) this.tellHere({ kind: 'resumed' })
    this.isLost = false
    this.silence.confirm(askedAtMs)
  }

  private async follow(last: number, count: number): Promise<void> {
    const expected = count - last
    const isFew = expected > 0 && expected <= MOST_READ
    let notices = isFew ? await this.read(last + 1, count) : []
    if (isFew && notices.length < expected) {
      await new Promise((resolve) => setTimeout(resolve, GRACE_MS).unref())
      notices = await this.read(last + 1, count)
    }
    if (notices.length !== expected) this.lose()
    else for (const notice of notices) this.hear(notice)
  }

  private async read(from: number, to: number): Promise<Item[]> {
    const { client, table: TableName } = this.guards
    const found: Item[] = []
    const pages = client.queryPages('cache.watch', {
      TableName,
      KeyConditionExpression: 'PK = :partition AND SK BETWEEN :from AND :to',
      ExpressionAttributeValues: {
        ':partition': text(NOTICE_PARTITION),
        ':from': text(noticeSort(from)),
        ':to': text(noticeSort(to)),
      },
      ConsistentRead: true,
    })
    for await (const page of pages) found.push(...page)
    return found
  }

  private hear(notice: Item): void {
    if (textOf(notice, 'origin') === this.origin) return
    for (const told of JSON.parse(textOf(notice, 'notices')) as ChangeNotice[]) this.tellHere(told)
  }

  private lose(): void {
    if (!this.isLost) this.tellHere({ kind: 'lost' })
    this.isLost = true
  }

  private tellHere(notice: CacheNotice): void {
    for (const listener of this.listeners) listener(notice)
  }
}
