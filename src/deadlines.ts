import { CatracaError, isCatracaError } from './errors.js'

/** Who waits, and is told when that takes too long. A link of the list that `Deadlines` keeps. */
export class Waiting {
  due = 0
  isSettled = false
  previous: Waiting | undefined = undefined
  next: Waiting | undefined = undefined

  onLate(_error: unknown): void {}
}

class WaitingPromise extends Waiting {
  constructor(
    private readonly reject: (error: unknown) => void,
    private readonly told: (error: unknown) => unknown,
  ) {
    super()
  }

  override onLate(error: unknown): void {
    this.reject(this.told(error))
  }
}

const asItIs = (error: unknown): unknown => error

/**
 * Ends waits that take too long. All take the same time, so the first is mostly due first: one timer does. Those that
 * have ended leave the list at once: what they hold would grow old in memory.
 */
export class Deadlines {
  private first: Waiting | undefined
  private last: Waiting | undefined
  private timer: NodeJS.Timeout | undefined
  private timerDue = 0

  constructor(private readonly timeoutMs: number) {}

  /**
   * What is one call to its caller has one deadline: `since` is when it began. `told`: what its caller hears of a failure,
   * late or not.
   */
  within<T>(work: Promise<T>, since?: number, told: (error: unknown) => unknown = asItIs): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const waiting = new WaitingPromise(reject, told)
      this.begin(waiting, since)
      work.then(
        (value) => {
          this.end(waiting)
          resolve(value)
        },
        (error) => {
          // Whoever was told that it is late hears no more of it.
          if (waiting.isSettled) return
          this.end(waiting)
          reject(told(error))
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

  /** The wait has to be ended. */
  begin(waiting: Waiting, since?: number): void {
    const now = performance.now()
    waiting.due = (since ?? now) + this.timeoutMs
    const isAlone = this.last === undefined
    this.insert(waiting)
    if (this.timer === undefined || waiting.due < this.timerDue) this.setTimer(waiting.due, now)
    // Nobody who waits may be forgotten by a process that has nothing else to do.
    else if (isAlone) this.timer.ref()
  }

  /** By when it is due, which is mostly the end. */
  private insert(waiting: Waiting): void {
    let before = this.last
    while (before !== undefined && before.due > waiting.due) before = before.previous
    const next = before === undefined ? this.first : before.next
    waiting.previous = before
    waiting.next = next
    if (before === undefined) this.first = waiting
    else before.next = waiting
    if (next === undefined) this.last = waiting
    else next.previous = waiting
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

  private setTimer(due: number, now: number): void {
    clearTimeout(this.timer)
    this.timerDue = due
    this.timer = setTimeout(() => this.look(), Math.max(1, due - now))
  }

  private look(): void {
    this.timer = undefined
    const now = performance.now()
    while (this.first !== undefined && this.first.due <= now) {
      const waiting = this.first
      this.end(waiting)
      waiting.onLate(this.late())
    }
    // Whoever was told may have begun another wait, and a timer with it.
    if (this.first !== undefined && this.timer === undefined) this.setTimer(this.first.due, now)
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
