import type { Redis, Unsubscribe } from '../link/redis.js'
import { freedChannel } from './keys.js'

/** The waiters for each lock. They are notified when it is released. The first waiter subscribes. */
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

  /** Without the subscription, waiters still poll. So a failure is not reported, and the next waiter tries again. */
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
