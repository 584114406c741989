import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { every } from '../../../core/timers.js'
import { FeedTimeout } from '../../../guards/cache/feed-timeout.js'
import type { CacheNotice } from '../../../guards/cache/port.js'
import type { Interruption, Redis, Unsubscribe } from '../link/redis.js'
import { defineScript } from '../link/script.js'
import { NOTICES_KEY, noticeChannel } from './keys.js'

export type ChangeNotice = Exclude<CacheNotice, { kind: 'lost' | 'resumed' }>
type Listener = (notice: CacheNotice) => void

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
  private readonly listeners = new Set<Listener>()
  private unsubscribe: Unsubscribe | undefined
  private timer: NodeJS.Timeout | undefined
  /** Number of the last notice received. */
  private last = 0
  /** Number of the last notice that this instance published. */
  private own = 0
  /** True while notices may be missed. */
  private isLost = false
  private isListening = true
  private isLooking = false
  private isClosed = false
  private readonly silence = new FeedTimeout(() => this.lose())

  constructor(
    private readonly redis: Redis,
    database: number,
  ) {
    this.channel = noticeChannel(database)
  }

  async open(): Promise<void> {
    this.unsubscribe = await this.redis.subscribe(
      this.channel,
      (message) => this.hear(message),
      (interruption) => this.interrupted(interruption),
    )
    const askedAtMs = performance.now()
    this.last = Math.max(this.last, await this.number())
    this.silence.confirm(askedAtMs)
    this.timer = every(() => this.look(), POLL_MS).unref()
  }

  watch(listener: Listener): () => void {
    this.listeners.add(listener)
    if (this.isLost) listener({ kind: 'lost' })
    return () => this.listeners.delete(listener)
  }

  textOf(notice: ChangeNotice): string {
    return `${this.origin} ${JSON.stringify(notice)}`
  }

  async tell(notice: ChangeNotice): Promise<void> {
    const number = await this.redis.run(TELL, [NOTICES_KEY], [this.channel, this.textOf(notice)])
    this.own = Number(number)
  }

  /** A number that was certainly reached. It is the last one, except for notices in flight. */
  get known(): number {
    return this.isLost ? NOTHING_KNOWN : Math.max(this.last, this.own)
  }

  /** The last number, read from Redis. */
  async number(): Promise<number> {
    return Number((await this.redis.read(NOTICES_KEY, ['GET', NOTICES_KEY])) ?? 0)
  }

  async close(): Promise<void> {
    this.isClosed = true
    clearInterval(this.timer)
    this.silence.stop()
    this.listeners.clear()
    await this.unsubscribe?.()
  }

  private hear(message: string): void {
    const { number, origin, text } = parsed(message)
    // Another program may publish there. A message without a number is ignored.
    if (!Number.isSafeInteger(number)) return
    // Also when the number went back: a failover lost the last notices and their changes.
    if (number !== this.last + 1) this.missed(number)
    else {
      this.last = number
      if (origin !== this.origin) this.tellHere(JSON.parse(text) as ChangeNotice)
    }
  }

  private interrupted(interruption: Interruption): void {
    this.isListening = interruption === 'resumed'
    if (this.isListening) void this.look()
    else this.lose()
  }

  /** Checks whether all notices were received; after an interruption, whether they will be from now on. */
  private async look(): Promise<void> {
    if (this.isClosed || this.isLooking) return
    this.isLooking = true
    const askedAtMs = performance.now()
    try {
      const heard = this.last
      const number = await this.number()
      if (number > this.last && !this.isLost) await pause(GRACE_MS, undefined, { ref: false })
      if (this.isClosed || !this.isListening) return
      if (this.isLost) this.resume(number)
      else if (number > this.last || number < heard) this.missed(number)
      this.own = 0
      this.silence.confirm(askedAtMs)
    } catch {
      if (!this.isClosed) this.lose()
    } finally {
      this.isLooking = false
    }
  }

  private missed(number: number): void {
    this.lose()
    this.resume(number)
  }

  private lose(): void {
    this.last = NOTHING_KNOWN
    this.own = 0
    if (!this.isLost) this.tellHere({ kind: 'lost' })
    this.isLost = true
  }

  private resume(number: number): void {
    this.last = Math.max(this.last, number)
    this.isLost = false
    this.tellHere({ kind: 'resumed' })
  }

  private tellHere(notice: CacheNotice): void {
    for (const listener of this.listeners) listener(notice)
  }
}

function parsed(message: string): { number: number; origin: string; text: string } {
  const first = message.indexOf(' ')
  const second = message.indexOf(' ', first + 1)
  return {
    number: Number(message.slice(0, first)),
    origin: message.slice(first + 1, second),
    text: message.slice(second + 1),
  }
}
