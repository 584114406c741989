import type { Finding } from './entries.js'
import type { Entry, Pin } from './first-tier.js'

/** One key on its way from the second tier or the source; everybody in this process who wants it meanwhile waits for it. */
export class Flight<T> {
  /** Rejects when there is no value, and none before it that may be served. */
  readonly answer: Promise<Finding<T>>
  callers = 0
  /** The load takes longer than callers with something to fall back on are kept waiting. */
  isSlow = false
  /** The last value, as long as it may be served. */
  fallback: Entry<T> | undefined
  /** Of the lease under which it fills; without one nothing is stored. */
  token: string | undefined
  /** The second tier was down when it was asked. */
  isDegraded = false
  /** Nobody could tell whether the last value was invalidated: it is given only when the load fails, marked stale. */
  isDoubtful = false
  /** Of a value that is not over yet. */
  isRefresh = false
  /** Of a value that the caller no longer believes: others are told when it is replaced. */
  isForced = false
  isSettled = false
  private settleWith!: (answer: Finding<T>) => void
  private failWith!: (error: unknown) => void

  constructor(
    readonly key: string,
    readonly pin: Pin,
    fallback: Entry<T> | undefined,
    /** Nobody joins it any more. */
    private readonly leave: (flight: Flight<T>) => void,
  ) {
    this.fallback = fallback
    this.answer = new Promise((resolve, reject) => {
      this.settleWith = resolve
      this.failWith = reject
    })
    // Of a refresh nobody may be waiting for.
    this.answer.catch(() => {})
  }

  resolve(answer: Finding<T>): void {
    this.leave(this)
    this.resolveEarly(answer)
  }

  /** For those who wait; the load goes on. */
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
