import type { Finding } from './entries.js'
import type { Entry, Pin } from './first-tier.js'

/**
 * One key being fetched from the second tier or the source. All callers in this process that need it meanwhile
 * share the result.
 */
export class Flight<T> {
  /** Rejects when there is no value, and no earlier value that may be served. */
  readonly answer: Promise<Finding<T>>
  callers = 0
  /** The load exceeded the soft timeout: callers with a fallback no longer wait. */
  isSlow = false
  /** The last value, while it may be served. */
  fallback: Entry<T> | undefined
  /** Token of the fill lease. Without it nothing is stored. */
  token: string | undefined
  /** The second tier was down when it was called. */
  isDegraded = false
  /** An invalidation of the last value may have been missed. It is returned only if the load fails, marked stale. */
  isDoubtful = false
  /** The current value has not expired yet. */
  isRefresh = false
  /** The caller forced a load. Other instances are notified when the value is replaced. */
  isForced = false
  isSettled = false
  private settleWith!: (answer: Finding<T>) => void
  private failWith!: (error: unknown) => void

  constructor(
    readonly key: string,
    readonly pin: Pin,
    fallback: Entry<T> | undefined,
    /** Removes the flight from the map, so that no caller joins it any more. */
    private readonly leave: (flight: Flight<T>) => void,
  ) {
    this.fallback = fallback
    this.answer = new Promise((resolve, reject) => {
      this.settleWith = resolve
      this.failWith = reject
    })
    // A refresh may have no waiting callers.
    this.answer.catch(() => {})
  }

  resolve(answer: Finding<T>): void {
    this.leave(this)
    this.resolveEarly(answer)
  }

  /** Answers the waiting callers while the load continues. */
  resolveEarly(answer: Finding<T>): void {
    this.isSettled = true
    this.settleWith(answer)
  }

  reject(error: unknown): void {
    this.leave(this)
    this.isSettled = true
    this.failWith(error)
  }
}
