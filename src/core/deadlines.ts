import { CatracaError, isCatracaError } from './errors.js'
import { SharedTimer, Waiter } from './shared-timer.js'

/** A pending call with a deadline. */
export abstract class DeadlineWaiter extends Waiter {
  constructor(protected readonly deadlines: Deadlines) {
    super()
  }

  get hasEnded(): boolean {
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

/** The call timed out, but the requested work continues. */
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

/** Applies the same timeout to many calls. Keeps the process alive while calls are pending. */
export class Deadlines {
  private readonly wakes = new SharedTimer(monotonicMs, true, true)

  constructor(private readonly timeoutMs: number) {}

  /**
   * `since`: when the call began, so that one call of a caller has one deadline over all its steps. `told`: maps
   * the error that the caller gets, for timeouts and other failures.
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
          // The caller has already got the timeout error.
          if (waiting.hasEnded) return
          this.end(waiting)
          reject(told(error))
        },
      )
    })
  }

  /** Like `within`, for changes: after a timeout, the outcome is unknown. */
  change<T>(work: Promise<T>, since?: number): Promise<T> {
    return this.within(work, since, (error) => (error instanceof Late ? error.asUnknown() : error))
  }

  /** Whether the time of a call that began at `since` is used up. */
  isOver(since: number): boolean {
    return monotonicMs() >= since + this.timeoutMs
  }

  late(): CatracaError {
    return new Late(`the engine did not decide within ${this.timeoutMs} ms`)
  }

  /** The caller must call `end`. */
  begin(waiting: DeadlineWaiter, since?: number): void {
    const now = monotonicMs()
    this.wakes.schedule(waiting, (since ?? now) + this.timeoutMs, now)
  }

  /** Does nothing if it has already ended. */
  end(waiting: DeadlineWaiter): void {
    this.wakes.cancel(waiting)
  }
}

/** Deadlines of whole changes. After a timeout, the outcome is unknown. */
export class ChangeDeadlines extends Deadlines {
  constructor(private readonly changeTimeoutMs: number) {
    // The engine's own timeout starts a little later and gives a more exact error, so it must fire first.
    super(changeTimeoutMs + GRACE_MS)
  }

  override late(): CatracaError {
    const message = `the change was not confirmed within ${this.changeTimeoutMs} ms`
    return new CatracaError('UNKNOWN_OUTCOME', message)
  }

  /** Whether too little time is left to start a change whose outcome would be known in time. */
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
] as const

/**
 * Whether the engine failed, as opposed to invalid input. STORE_CORRUPT is no outage: the engine answered that a
 * value is damaged or belongs to another program. That does not end by itself, so callers get it by its name.
 */
export function isUnavailable(error: unknown): boolean {
  return UNAVAILABLE.some((code) => isCatracaError(error, code))
}

/**
 * The error code for callers. A full store is reported as such, because waiting does not help: an operator must act.
 */
export function unavailability(error: unknown): 'STORE_FULL' | 'ENGINE_UNAVAILABLE' {
  return isCatracaError(error, 'STORE_FULL') ? 'STORE_FULL' : 'ENGINE_UNAVAILABLE'
}
