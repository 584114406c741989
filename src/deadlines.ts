import { CatracaError, isCatracaError } from './errors.js'

interface Waiting {
  due: number
  isSettled: boolean
  reject(error: unknown): void
}

/** Ends waits that take too long. All take the same time, so the first is mostly due first: one timer does. */
export class Deadlines {
  private queue: Waiting[] = []
  private first = 0
  private timer: NodeJS.Timeout | undefined
  private timerDue = 0
  private unsettled = 0

  constructor(private readonly timeoutMs: number) {}

  /** What is one call to its caller has one deadline: `since` is when it began. */
  within<T>(work: Promise<T>, since?: number): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const now = performance.now()
      const waiting: Waiting = { due: (since ?? now) + this.timeoutMs, isSettled: false, reject }
      this.push(waiting)
      if (this.timer === undefined || waiting.due < this.timerDue) this.setTimer(waiting.due, now)
      // Nobody who waits may be forgotten by a process that has nothing else to do.
      if (this.unsettled++ === 0) this.timer!.ref()
      work.then(
        (value) => {
          this.settle(waiting)
          resolve(value)
        },
        (error) => {
          this.settle(waiting)
          reject(error)
        },
      )
    })
  }

  /** Whether nothing is left of the time of a call that began then. */
  isOver(since: number): boolean {
    return performance.now() >= since + this.timeoutMs
  }

  late(): CatracaError {
    return new CatracaError('ENGINE_UNAVAILABLE', `the engine did not decide within ${this.timeoutMs} ms`)
  }

  private setTimer(due: number, now: number): void {
    clearTimeout(this.timer)
    this.timerDue = due
    this.timer = setTimeout(() => this.look(), Math.max(1, due - now))
  }

  /** Those that are settled go soon, mostly in the order they came: else they would grow old in memory. */
  private push(waiting: Waiting): void {
    const { queue } = this
    while (this.first < queue.length && queue[this.first]!.isSettled) this.first++
    if (this.first > 1000 && this.first * 2 > queue.length) {
      queue.splice(0, this.first)
      this.first = 0
    }
    let at = queue.length
    while (at > this.first && queue[at - 1]!.due > waiting.due) at--
    if (at === queue.length) queue.push(waiting)
    else queue.splice(at, 0, waiting)
  }

  private settle(waiting: Waiting): void {
    if (waiting.isSettled) return
    waiting.isSettled = true
    if (--this.unsettled === 0) this.timer?.unref()
  }

  private look(): void {
    this.timer = undefined
    const now = performance.now()
    while (this.first < this.queue.length) {
      const waiting = this.queue[this.first]!
      if (!waiting.isSettled && waiting.due > now) break
      this.first++
      if (waiting.isSettled) continue
      this.settle(waiting)
      waiting.reject(this.late())
    }
    this.queue = this.queue.slice(this.first)
    this.first = 0
    if (this.queue.length === 0) return
    this.setTimer(this.queue[0]!.due, now)
    if (this.unsettled === 0) this.timer!.unref()
  }
}

const UNAVAILABLE = [
  'ENGINE_UNAVAILABLE',
  'UNKNOWN_OUTCOME',
  'STORE_FULL',
  'STORE_UNUSABLE',
  'STORE_CORRUPT',
] as const

/** A failure of the engine, as opposed to a mistake of the caller's. */
export function isUnavailable(error: unknown): boolean {
  return UNAVAILABLE.some((code) => isCatracaError(error, code))
}
