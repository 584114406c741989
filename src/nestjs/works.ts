import { later } from '../core/timers.js'

/** Methods that hold a lock or load a value, so that the guards are closed after they have ended. */
export class Works {
  private readonly running = new Set<Promise<unknown>>()

  track<T>(work: Promise<T>): Promise<T> {
    const done = () => void this.running.delete(ended)
    const ended = work.then(done, done)
    this.running.add(ended)
    return work
  }

  /** Resolves when nothing runs any more, or after this time. */
  async settle(ms: number): Promise<void> {
    if (this.running.size === 0) return
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      timer = later(resolve, ms)
    })
    await Promise.race([this.ended(), late])
    clearTimeout(timer)
  }

  private async ended(): Promise<void> {
    while (this.running.size > 0) await Promise.all(this.running)
  }
}
