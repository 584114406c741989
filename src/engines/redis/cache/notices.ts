import { randomUUID } from 'node:crypto'
import { type ChangeNotice, NoticeFeed } from '../../../guards/cache/notice-feed.js'
import type { CacheNotice } from '../../../guards/cache/port.js'
import { followChannel, lastNumber } from '../link/numbered-channel.js'
import type { Redis, Unsubscribe } from '../link/redis.js'
import { defineScript } from '../link/script.js'
import { NOTICES_KEY, noticeChannel } from './keys.js'

const TELL = defineScript('cache-tell', {
  keys: 1,
  write: true,
  uses: ['cache-set', 'cache-value'],
  evenWhenFull: true,
})
const POLL_MS = 500
/** The number may be read a moment before its notice arrives. */
const GRACE_MS = 100
/** Smaller than every number: a fill with it counts as begun before every invalidation. */
export const NOTHING_KNOWN = -1

/**
 * Invalidations that instances publish to each other, numbered without gaps. A missed one is detected by the next
 * one, and by the number, which is polled twice a second.
 */
export class CacheNotices {
  readonly channel: string
  /** Id of this instance. Its own changes are not reported to it. */
  private readonly origin = randomUUID()
  private readonly feed: NoticeFeed<string>
  private unsubscribe: Unsubscribe | undefined

  constructor(
    private readonly redis: Redis,
    database: number,
  ) {
    this.channel = noticeChannel(database)
    this.feed = new NoticeFeed<string>(
      { head: () => this.number(), noticesOf: (text) => this.noticesOf(text) },
      { pollMs: POLL_MS, graceMs: GRACE_MS },
    )
  }

  async open(): Promise<void> {
    this.unsubscribe = await followChannel(this.redis, this.channel, this.feed.follower)
    // Fills need the number also while nobody watches.
    this.feed.watch(() => {})
  }

  watch(listener: (notice: CacheNotice) => void): () => void {
    return this.feed.watch(listener)
  }

  textOf(notice: ChangeNotice): string {
    return `${this.origin} ${JSON.stringify(notice)}`
  }

  async tell(notice: ChangeNotice): Promise<void> {
    const number = await this.redis.run(TELL, [NOTICES_KEY], [this.channel, this.textOf(notice)])
    this.feed.follower.reached(Number(number))
  }

  /** A number that was certainly reached. It is the last one, except for notices in flight. */
  get known(): number {
    return this.feed.follower.position ?? NOTHING_KNOWN
  }

  /** The last number, read from Redis. */
  number(): Promise<number> {
    return lastNumber(this.redis, NOTICES_KEY)
  }

  async close(): Promise<void> {
    void this.feed.close()
    await this.unsubscribe?.()
  }

  private noticesOf(text: string): ChangeNotice[] {
    const end = text.indexOf(' ')
    return text.slice(0, end) === this.origin ? [] : [JSON.parse(text.slice(end + 1)) as ChangeNotice]
  }
}
