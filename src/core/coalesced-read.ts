import { later } from './timers.js'
export interface Bounds {
  /** Read again if the last result is older. */
  maxAgeMs: number
  /** The longest time a caller waits. */
  timeoutMs: number
}

/** `late`: there is no result yet, `forMs` after the read began. */
type ReadResult<T> = { value: T } | { late: true; forMs: number }

/**
 * A read that many callers need and that must not run too often. Concurrent callers share one result, which is
 * reused for a while. While a read is in flight, no second one starts, however long it takes.
 */
export class CoalescedRead<T> {
  private pending: Promise<T> | undefined
  private askedAtMs = 0
  private last: { value: T; atMs: number } | undefined

  /** `ask` must not reject. */
  constructor(private readonly ask: () => Promise<T>) {}

  async read({ maxAgeMs, timeoutMs }: Bounds): Promise<ReadResult<T>> {
    const nowMs = performance.now()
    if (this.last !== undefined && nowMs - this.last.atMs < maxAgeMs) return { value: this.last.value }
    const pending = (this.pending ??= this.start(nowMs))
    const leftMs = timeoutMs - (nowMs - this.askedAtMs)
    let timer!: NodeJS.Timeout
    const late = new Promise<ReadResult<T>>((resolve) => {
      timer = later(() => resolve(this.late()), Math.max(0, leftMs))
    })
    try {
      return await Promise.race([pending.then((value) => ({ value })), late])
    } finally {
      clearTimeout(timer)
    }
  }

  private late(): ReadResult<T> {
    return { late: true, forMs: performance.now() - this.askedAtMs }
  }

  private async start(nowMs: number): Promise<T> {
    this.askedAtMs = nowMs
    const value = await this.ask()
    this.last = { value, atMs: performance.now() }
    this.pending = undefined
    return value
  }
}
