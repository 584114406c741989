import { CatracaError, isCatracaError } from '../errors.js'

/** Who waits, and is told when that takes too long. */
export interface Waiting {
  due: number
  isSettled: boolean
  onLate(error: CatracaError): void
}

/** Ends waits that take too long. All take the same time, so the first is always due first: one timer does. */
export class Deadlines {
  private queue: Waiting[] = []
  private first = 0
  private timer: NodeJS.Timeout | undefined
  private unsettled = 0

  constructor(private readonly timeoutMs: number) {}

  within<T>(work: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, onLate) => {
      const waiting: Waiting = { due: 0, isSettled: false, onLate }
      this.begin(waiting)
      work.then(
        (value) => {
          this.end(waiting)
          resolve(value)
        },
        (error) => {
          this.end(waiting)
          onLate(error)
        },
      )
    })
  }

  /** The wait has to be ended; `isSettled` tells whether it was too late by then. */
  begin(waiting: Waiting): void {
    waiting.due = performance.now() + this.timeoutMs
    this.push(waiting)
    this.timer ??= setTimeout(() => this.look(), this.timeoutMs)
    // Nobody who waits may be forgotten by a process that has nothing else to do.
    if (this.unsettled++ === 0) this.timer.ref()
  }

  /** Those that are settled go soon, mostly in the order they came: else they would grow old in memory. */
  private push(waiting: Waiting): void {
    const { queue } = this
    while (this.first < queue.length && queue[this.first]!.isSettled) this.first++
    if (this.first > 1000 && this.first * 2 > queue.length) {
      queue.splice(0, this.first)
      this.first = 0
    }
    queue.push(waiting)
  }

  end(waiting: Waiting): void {
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
      this.end(waiting)
      waiting.onLate(late(this.timeoutMs))
    }
    this.queue = this.queue.slice(this.first)
    this.first = 0
    if (this.queue.length === 0) return
    this.timer = setTimeout(() => this.look(), Math.max(1, this.queue[0]!.due - now))
    if (this.unsettled === 0) this.timer.unref()
  }
}

function late(timeoutMs: number): CatracaError {
  return new CatracaError('ENGINE_UNAVAILABLE', `the engine did not decide within ${timeoutMs} ms`)
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
