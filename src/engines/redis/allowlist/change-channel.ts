import type { Redis, Unsubscribe } from '../link/redis.js'
import { changeChannel } from './keys.js'

/** Prefix of a list id in a message: the list itself changed, not only its members. */
const LIST_CHANGED = '!'

interface ChangeListener {
  /** Undefined: any list may have changed, because messages may have been missed. */
  onList?: (listId: string | undefined) => void
  onMembers?: (listId: string | undefined) => void
}

/** The channel that notifies all instances of changes. Messages may be lost: it only makes changes visible sooner. */
export class ChangeChannel {
  readonly channel: string
  private readonly listeners = new Set<ChangeListener>()
  private unsubscribe: Unsubscribe | undefined

  constructor(
    private readonly redis: Redis,
    database: number,
  ) {
    this.channel = changeChannel(database)
  }

  async open(): Promise<void> {
    this.unsubscribe = await this.redis.subscribe(
      this.channel,
      (message) => this.tell(message),
      (interruption) => {
        if (interruption === 'resumed') this.tell(undefined)
      },
    )
  }

  listen(listener: ChangeListener): { stop(): void } {
    this.listeners.add(listener)
    return { stop: () => this.listeners.delete(listener) }
  }

  private tell(message: string | undefined): void {
    const list = message === undefined || message.startsWith(LIST_CHANGED)
    const id = list ? message?.slice(LIST_CHANGED.length) : message
    for (const { onList, onMembers } of this.listeners) {
      if (list) onList?.(id)
      onMembers?.(id)
    }
  }

  async close(): Promise<void> {
    this.listeners.clear()
    await this.unsubscribe?.()
  }
}
