import { every } from '../../../core/timers.js'
import type { Freed } from '../../../guards/rate-limit/port.js'
import type { ConfigKey } from '../../../guards/rate-limit/types.js'
import type { Redis, Unsubscribe } from '../link/redis.js'
import { defineScript } from '../link/script.js'
import { NOTICES_KEY, noticeChannel } from './keys.js'

/** Allowed when full: a reset has freed something, and other instances must be notified. */
const TELL = defineScript('limit-tell', { keys: 1, write: true, evenWhenFull: true })
const POLL_MS = 1000
/** The number may be read a moment before its notice arrives. */
const GRACE_MS = 100

type OnFreed = (freed: Freed) => void
type OnConfig = (changed: ConfigKey | undefined) => void

export const freedNotice = ({ entity, resource }: NonNullable<Freed>): string => `freed ${entity} ${resource}`

export function configNotice(key: ConfigKey | undefined): string {
  if (key === undefined) return 'config'
  return `config ${key.level} ${key.resource}${key.level === 'entity' ? ` ${key.entity}` : ''}`
}

/**
 * Notices that instances publish to each other: subjects with freed capacity, and changed configuration. They are
 * numbered without gaps. A missed one is detected by the next one, and by the number, which is polled every second.
 * Then all cached conclusions are dropped.
 */
export class Notices {
  readonly channel: string
  private readonly freed = new Set<OnFreed>()
  private readonly configs = new Set<OnConfig>()
  private readonly lost = new Set<() => void>()
  private last = 0
  private unsubscribe: Unsubscribe | undefined
  private timer: NodeJS.Timeout | undefined

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
      (interruption) => {
        // While Redis is unreachable, cached data stays in use.
        if (interruption === 'resumed') this.notifyAll()
      },
    )
    this.last = Math.max(this.last, await this.number())
    this.timer = every(() => this.look(), POLL_MS).unref()
  }

  onFreed(listener: OnFreed): () => void {
    this.freed.add(listener)
    return () => this.freed.delete(listener)
  }

  onConfig(listener: OnConfig): () => void {
    this.configs.add(listener)
    return () => this.configs.delete(listener)
  }

  /** Called when the store has lost data. */
  onLost(listener: () => void): void {
    this.lost.add(listener)
  }

  async publishFreed(freed: NonNullable<Freed>): Promise<void> {
    await this.redis.run(TELL, [NOTICES_KEY], [this.channel, freedNotice(freed)])
  }

  async close(): Promise<void> {
    clearInterval(this.timer)
    this.freed.clear()
    this.configs.clear()
    this.lost.clear()
    await this.unsubscribe?.()
  }

  private async number(): Promise<number> {
    return Number((await this.redis.read(NOTICES_KEY, ['GET', NOTICES_KEY])) ?? 0)
  }

  private hear(message: string): void {
    const [number, kind, ...words] = message.split(' ')
    const expected = this.last + 1
    this.last = Number(number)
    // A lower number may be late, or the first of a store that was emptied and counts from the start.
    if (this.last < expected) this.notifyLost()
    else if (this.last !== expected) this.notifyAll()
    else if (kind === 'freed') this.tellFreedHere({ entity: words[0]!, resource: words[1]! })
    else this.tellConfigHere(keyOf(words))
  }

  private async look(): Promise<void> {
    if (this.freed.size + this.configs.size === 0) return
    // If Redis does not answer, callers get errors from their own calls. Missed notices are found later.
    const number = await this.number().catch(() => undefined)
    if (number === undefined || number === this.last) return
    if (number > this.last) {
      await new Promise((resolve) => setTimeout(resolve, GRACE_MS).unref())
      if (this.last >= number) return
    }
    const wentBack = number < this.last
    this.last = number
    if (wentBack) this.notifyLost()
    else this.notifyAll()
  }

  /** The number went back: the store lost the last notices and their changes. */
  private notifyLost(): void {
    for (const listener of this.lost) listener()
    this.notifyAll()
  }

  private notifyAll(): void {
    this.tellFreedHere(undefined)
    this.tellConfigHere(undefined)
  }

  private tellFreedHere(freed: Freed): void {
    for (const listener of this.freed) listener(freed)
  }

  private tellConfigHere(changed: ConfigKey | undefined): void {
    for (const listener of this.configs) listener(changed)
  }
}

function keyOf([level, resource, entity]: string[]): ConfigKey | undefined {
  if (resource === undefined) return undefined
  if (level === 'entity' && entity !== undefined) return { level, entity, resource }
  return level === 'system' || level === 'resource' ? { level, resource } : undefined
}
