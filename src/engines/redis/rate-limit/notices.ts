import { every } from '../../../core/timers.js'
import type { Freed } from '../../../guards/rate-limit/port.js'
import type { ConfigKey } from '../../../guards/rate-limit/types.js'
import type { Redis, Unsubscribe } from '../link/redis.js'
import { defineScript } from '../link/script.js'
import { NOTICES_KEY, noticeChannel } from './keys.js'

/** A reset has freed something by then, and others must hear of it. */
const TELL = defineScript('limit-tell', { keys: 1, write: true, evenWhenFull: true })
const POLL_MS = 1000
/** A number may be read a moment before its notice comes. */
const GRACE_MS = 100

type OnFreed = (freed: Freed) => void
type OnConfig = (changed: ConfigKey | undefined) => void

export const freedNotice = ({ entity, resource }: NonNullable<Freed>): string => `freed ${entity} ${resource}`

export function configNotice(key: ConfigKey | undefined): string {
  if (key === undefined) return 'config'
  return `config ${key.level} ${key.resource}${key.level === 'entity' ? ` ${key.entity}` : ''}`
}

/**
 * What instances tell each other: subjects of which something was freed, and changed configuration. Notices are numbered
 * without gaps. One that was missed is noticed by the next one, and by the number that is looked at every second; then
 * everything that was concluded is dropped.
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
        // While the store is away, what is known of it stays in use.
        if (interruption === 'resumed') this.tellAll()
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

  /** Told when the store has lost something. */
  onLost(listener: () => void): void {
    this.lost.add(listener)
  }

  async tellFreed(freed: NonNullable<Freed>): Promise<void> {
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
    // One that was seen before may be late, or the first of a store that was emptied and counts anew.
    if (this.last < expected) this.tellLost()
    else if (this.last !== expected) this.tellAll()
    else if (kind === 'freed') this.tellFreedHere({ entity: words[0]!, resource: words[1]! })
    else this.tellConfigHere(keyOf(words))
  }

  private async look(): Promise<void> {
    if (this.freed.size + this.configs.size === 0) return
    // A store that does not answer tells nothing: whoever asks it is told, and what was missed is found later.
    const number = await this.number().catch(() => undefined)
    if (number === undefined || number === this.last) return
    if (number > this.last) {
      await new Promise((resolve) => setTimeout(resolve, GRACE_MS).unref())
      if (this.last >= number) return
    }
    const wentBack = number < this.last
    this.last = number
    if (wentBack) this.tellLost()
    else this.tellAll()
  }

  /** The number went back: the store lost the last notices, and whatever they were about. */
  private tellLost(): void {
    for (const listener of this.lost) listener()
    this.tellAll()
  }

  private tellAll(): void {
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
