import { AsyncLocalStorage } from 'node:async_hooks'
import type { Actor } from './types.js'

/** The actor and request of the running call. */
export interface ActorContext {
  actor: Actor
  /** Why the caller makes the change. */
  reason?: string
  requestId?: string
  requestIdFrom?: 'caller'
}

/** Carries the actor through everything that a call awaits. */
export class Actors {
  private readonly storage = new AsyncLocalStorage<ActorContext>()
  private running = 0

  constructor(private readonly otherwise: ActorContext) {}

  current(): ActorContext {
    return this.storage.getStore() ?? this.otherwise
  }

  run<T>(acting: ActorContext, work: () => T): T {
    this.running++
    let result: T
    try {
      result = this.storage.run(acting, work)
    } catch (error) {
      this.ended()
      throw error
    }
    if (!(result instanceof Promise)) {
      this.ended()
      return result
    }
    const end = () => this.ended()
    result.then(end, end)
    return result
  }

  /**
   * While the storage is in use, older versions of Node.js track every promise of the process, also those of checks.
   */
  private ended(): void {
    if (--this.running === 0) this.storage.disable()
  }
}
