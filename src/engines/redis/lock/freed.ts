import type { Redis, Unsubscribe } from '../link/redis.js'
import { freedChannel } from './keys.js'

/** Who waits for which lock, and is told when it was given back. Subscribed to by the first who waits. */
export class FreedLocks {
  readonly channel: string
  private readonly waiting = new Map<string, Set<() => void>>()
  private subscription: Promise<Unsubscribe | undefined> | undefined

  constructor(
    private readonly redis: Redis,
    database: number,
  ) {
    this.channel = freedChannel(database)
  }

  watch(name: string, onFree: () => void): () => void {
    this.subscription ??= this.subscribe()
    const listeners = this.waiting.get(name) ?? new Set()
    this.waiting.set(name, listeners.add(onFree))
    return () => {
      listeners.delete(onFree)
      if (listeners.size === 0 && this.waiting.get(name) === listeners) this.waiting.delete(name)
    }
  }

  async close(): Promise<void> {
    this.waiting.clear()
    const unsubscribe = await this.subscription
    await unsubscribe?.()
  }

  /** Without it those who wait look every so often, so a failure is tried again by the next one, and told to nobody. */
  private async subscribe(): Promise<Unsubscribe | undefined> {
    try {
      return await this.redis.subscribe(
        this.channel,
        (name) => this.tell(this.waiting.get(name)),
        (interruption) => {
          if (interruption === 'resumed') for (const listeners of this.waiting.values()) this.tell(listeners)
        },
      )
    } catch {
      this.subscription = undefined
      return undefined
    }
  }

  private tell(listeners: Set<() => void> | undefined): void {
    for (const onFree of [...(listeners ?? [])]) onFree()
  }
}
