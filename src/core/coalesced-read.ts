import { later } from './timers.js'
export interface Bounds {
  /** An answer that is older is asked for again. */
  maxAgeMs: number
  /** Whoever asks is not held up for longer. */
  timeoutMs: number
}

/** `late`: there was no answer in time, since so long. */
export type ReadResult<T> = { value: T } | { late: true; forMs: number }

/**
 * A question that many ask and that must not be asked too often: those who come together share one answer, which
 * counts for a while, and while a question is on its way no second one is sent after it, however long it takes.
 */
export class CoalescedRead<T> {
  private pending: Promise<T> | undefined
  private askedAtMs = 0
  private last: { value: T; atMs: number } | undefined

  /** `ask` does not reject. */
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
