import { LogFollower } from '../../../core/numbered-log.js'
import { changedConfig, NoticeListeners } from '../../../guards/rate-limit/notice-listeners.js'
import type { Freed } from '../../../guards/rate-limit/port.js'
import type { ConfigKey } from '../../../guards/rate-limit/types.js'
import { followChannel, lastNumber } from '../link/numbered-channel.js'
import type { Redis, Unsubscribe } from '../link/redis.js'
import { defineScript } from '../link/script.js'
import { NOTICES_KEY, noticeChannel } from './keys.js'

/** Allowed when full: a reset has freed something, and other instances must be notified. */
const TELL = defineScript('limit-tell', { keys: 1, write: true, evenWhenFull: true })
const POLL_MS = 1000
/** The number may be read a moment before its notice arrives. */
const GRACE_MS = 100

const freedNotice = ({ entity, resource }: NonNullable<Freed>): string => `freed ${entity} ${resource}`

export function configNotice(key: ConfigKey | undefined): string {
  if (key === undefined) return 'config'
  return `config ${key.level} ${key.resource}${key.level === 'entity' ? ` ${key.entity}` : ''}`
}

/**
 * Notices that instances publish to each other: subjects with freed capacity, and changed configuration. They are
 * numbered without gaps. A missed one is detected by the next one, and by the number, which is polled every second.
 * Then all cached conclusions are dropped. While Redis is unreachable, they stay in use.
 */
export class Notices extends NoticeListeners {
  readonly channel: string
  private readonly lost = new Set<() => void>()
  private readonly follower: LogFollower<string>
  private unsubscribe: Unsubscribe | undefined

  constructor(
    private readonly redis: Redis,
    database: number,
  ) {
    super()
    this.channel = noticeChannel(database)
    const log = {
      head: () => lastNumber(redis, NOTICES_KEY),
      onEntry: (text: string) => this.tell(text),
      onLost: () => {},
      onResumed: (wentBack: boolean) => this.tellAll(wentBack),
    }
    const options = { pollMs: POLL_MS, graceMs: GRACE_MS, isIdle: () => this.isEmpty }
    this.follower = new LogFollower(log, options)
  }

  async open(): Promise<void> {
    this.unsubscribe = await followChannel(this.redis, this.channel, this.follower)
  }

  /** Called when the store has lost data. */
  onLost(listener: () => void): void {
    this.lost.add(listener)
  }

  async publishFreed(freed: NonNullable<Freed>): Promise<void> {
    await this.redis.run(TELL, [NOTICES_KEY], [this.channel, freedNotice(freed)])
  }

  async close(): Promise<void> {
    this.clear()
    this.lost.clear()
    void this.follower.stop()
    await this.unsubscribe?.()
  }

  private tell(text: string): void {
    const [kind, ...words] = text.split(' ')
    if (kind === 'freed') this.tellFreed({ entity: words[0]!, resource: words[1]! })
    else this.tellConfig(changedConfig(...words))
  }

  private tellAll(wentBack: boolean): void {
    if (wentBack) for (const listener of this.lost) listener()
    this.tellFreed(undefined)
    this.tellConfig(undefined)
  }
}
