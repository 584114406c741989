import type { Finding } from './entries.js'
import type { Entry, Pin } from './first-tier.js'

/**
 * One key being fetched from the second tier or the source. All callers in this process that need it meanwhile
 * share the result.
 */
export class Flight<T> {
  /** Rejects when there is no value, and no earlier value that may be served. Another one after an early answer. */
  answer!: Promise<Finding<T>>
  callers = 0
  /** Those among them who got the last value while the load went on. */
  answeredEarly = 0
  /** The load exceeded the soft timeout: those who waited got the last value, and while it may be served nobody waits. */
  isAnsweredEarly = false
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
    this.promise()
  }

  resolve(answer: Finding<T>): void {
    this.leave(this)
    this.isSettled = true
    this.settleWith(answer)
  }

  /** Answers the waiting callers while the load continues. Who joins later must not get this answer: it may be too old then. */
  resolveEarly(answer: Finding<T>): void {
    this.settleWith(answer)
    this.isAnsweredEarly = true
    this.answeredEarly = this.callers
    this.promise()
  }

  reject(error: unknown): void {
    this.leave(this)
    this.isSettled = true
    this.failWith(error)
  }

  private promise(): void {
    this.answer = new Promise((resolve, reject) => {
      this.settleWith = resolve
      this.failWith = reject
    })
    // A refresh may have no waiting callers.
    this.answer.catch(() => {})
  }
}
