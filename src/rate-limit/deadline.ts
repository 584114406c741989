import { CatracaError, isCatracaError } from '../errors.js'

/** Who waits, and is told when that takes too long. A link of the list that `Deadlines` keeps. */
export class Waiting {
  due = 0
  isSettled = false
  previous: Waiting | undefined = undefined
  next: Waiting | undefined = undefined

  onLate(_error: unknown): void {}
}

class WaitingPromise extends Waiting {
  constructor(private readonly reject: (error: unknown) => void) {
    super()
  }

  override onLate(error: unknown): void {
    this.reject(error)
  }
}

/**
 * Ends waits that take too long. All take the same time, so the first is always due first: one timer does. Those that
 * have ended leave the list at once: what they hold would grow old in memory.
 */
export class Deadlines {
  private first: Waiting | undefined
  private last: Waiting | undefined
  private timer: NodeJS.Timeout | undefined

  constructor(private readonly timeoutMs: number) {}

  within<T>(work: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const waiting = new WaitingPromise(reject)
      this.begin(waiting)
      work.then(
        (value) => {
          this.end(waiting)
          resolve(value)
        },
        (error) => {
          this.end(waiting)
          reject(error)
        },
      )
    })
  }

  /** The wait has to be ended. */
  begin(waiting: Waiting): void {
    waiting.due = performance.now() + this.timeoutMs
    this.timer ??= setTimeout(() => this.look(), this.timeoutMs)
    if (this.last === undefined) {
      this.first = waiting
      // Nobody who waits may be forgotten by a process that has nothing else to do.
      this.timer.ref()
    } else {
      waiting.previous = this.last
      this.last.next = waiting
    }
    this.last = waiting
  }

  /** Does nothing for one that has ended. */
  end(waiting: Waiting): void {
    if (waiting.isSettled) return
    waiting.isSettled = true
    const { previous, next } = waiting
    if (previous === undefined) this.first = next
    else previous.next = next
    if (next === undefined) this.last = previous
    else next.previous = previous
    waiting.previous = waiting.next = undefined
    if (this.first === undefined) this.timer?.unref()
  }

  private look(): void {
    this.timer = undefined
    const now = performance.now()
    while (this.first !== undefined && this.first.due <= now) {
      const waiting = this.first
      this.end(waiting)
      waiting.onLate(late(this.timeoutMs))
    }
    if (this.first !== undefined) {
      this.timer = setTimeout(() => this.look(), Math.max(1, this.first.due - now))
    }
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
