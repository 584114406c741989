import { CatracaError, isCatracaError } from './errors.js'
import { SharedTimer, Waiter } from './shared-timer.js'

/** Who waits, and is told when that takes too long. */
export abstract class DeadlineWaiter extends Waiter {
  constructor(protected readonly deadlines: Deadlines) {
    super()
  }

  get isSettled(): boolean {
    return !this.isWaiting
  }

  override onDue(): void {
    this.onLate(this.deadlines.late())
  }

  abstract onLate(error: unknown): void
}

class PromiseWaiter extends DeadlineWaiter {
  constructor(
    deadlines: Deadlines,
    private readonly reject: (error: unknown) => void,
    private readonly told: (error: unknown) => unknown,
  ) {
    super(deadlines)
  }

  onLate(error: unknown): void {
    this.reject(this.told(error))
  }
}

/** The time of a call is up, and what it asked for goes on. */
class Late extends CatracaError {
  constructor(message: string) {
    super('ENGINE_UNAVAILABLE', message)
  }

  asUnknown(): CatracaError {
    return new CatracaError('UNKNOWN_OUTCOME', `${this.message}: the change may still happen`)
  }
}

const asItIs = (error: unknown): unknown => error
export const monotonicMs = (): number => performance.now()

/** Ends waits that take too long; all take the same time. Nobody who waits is forgotten by a process that is done. */
export class Deadlines {
  private readonly wakes = new SharedTimer(monotonicMs, true, true)

  constructor(private readonly timeoutMs: number) {}

  /**
   * What is one call to its caller has one deadline: `since` is when it began. `told`: what its caller hears of a failure,
   * late or not.
   */
  within<T>(work: Promise<T>, since?: number, told: (error: unknown) => unknown = asItIs): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const waiting = new PromiseWaiter(this, reject, told)
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

  /** The same for what changes something: whether a change that is late will be made, nobody knows. */
  change<T>(work: Promise<T>, since?: number): Promise<T> {
    return this.within(work, since, (error) => (error instanceof Late ? error.asUnknown() : error))
  }

  /** Whether nothing is left of the time of a call that began then. */
  isOver(since: number): boolean {
    return monotonicMs() >= since + this.timeoutMs
  }

  late(): CatracaError {
    return new Late(`the engine did not decide within ${this.timeoutMs} ms`)
  }

  /** The wait has to be ended. */
  begin(waiting: DeadlineWaiter, since?: number): void {
    const now = monotonicMs()
    this.wakes.wakeAt(waiting, (since ?? now) + this.timeoutMs, now)
  }

  /** Does nothing for one that has ended. */
  end(waiting: DeadlineWaiter): void {
    this.wakes.callOff(waiting)
  }
}

/** Deadlines of whole changes, which may have been made when they are late. */
export class ChangeDeadlines extends Deadlines {
  constructor(private readonly changeTimeoutMs: number) {
    // The engine, whose time begins a little later, tells more exactly what happened: it has the first word.
    super(changeTimeoutMs + GRACE_MS)
  }

  override late(): CatracaError {
    const message = `the change was not confirmed within ${this.changeTimeoutMs} ms`
    return new CatracaError('UNKNOWN_OUTCOME', message)
  }

  /** Whether so little is left that what begins now would end without anybody knowing how. */
  isNearlyOver(since: number): boolean {
    return monotonicMs() >= since + this.changeTimeoutMs / 2
  }
}

const GRACE_MS = 250

const UNAVAILABLE = [
  'ENGINE_UNAVAILABLE',
  'UNKNOWN_OUTCOME',
  'STORE_FULL',
  'STORE_UNUSABLE',
  'STORE_IN_USE',
  'STORE_CORRUPT',
] as const

/** A failure of the engine, as opposed to a mistake of the caller's. */
export function isUnavailable(error: unknown): boolean {
  return UNAVAILABLE.some((code) => isCatracaError(error, code))
}

/** How a caller is told of it: that a store is full is for somebody to mend, and does not pass by waiting. */
export function unavailability(error: unknown): 'STORE_FULL' | 'ENGINE_UNAVAILABLE' {
  return isCatracaError(error, 'STORE_FULL') ? 'STORE_FULL' : 'ENGINE_UNAVAILABLE'
}
