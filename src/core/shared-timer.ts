import { later, reportFailure } from './timers.js'
import type { Timing } from './timing.js'

/** A waiter for a point in time. A node of the linked list in `SharedTimer`. */
export class Waiter {
  due = Number.POSITIVE_INFINITY
  isWaiting = false
  hasGrace = false
  previous: Waiter | undefined = undefined
  next: Waiter | undefined = undefined

  /** Whoever moves time by hand waits for the promise. */
  onDue(_now: number): unknown {
    return undefined
  }
}

/** A timer that fires this late was delayed by its own thread. */
const STOOD_STILL_MS = 50
const MAX_GRACE_MS = 250

/**
 * One timer for many waiters, nearly all of which are cancelled long before they are due. A cancelled waiter
 * leaves the list at once, so that its memory is freed.
 */
export class SharedTimer {
  private first: Waiter | undefined
  private last: Waiter | undefined
  private timer: NodeJS.Timeout | undefined
  private timerDue = Number.POSITIVE_INFINITY
  /** Instead of `timer`, with timers that are not of the system. */
  private callOff: (() => void) | undefined

  constructor(
    /** A monotonic clock. */
    private readonly monotonicMs: () => number,
    /** Whether pending waiters keep the process alive. */
    private readonly keepsAlive = false,
    /**
     * Whether waiters that became due while this thread was blocked get some of that time back, once. The result
     * they wait for may have arrived but not been processed yet.
     */
    private readonly givesGrace = false,
    /** Replaces the timers of the system. */
    private readonly after?: Timing['after'],
  ) {}

  /** Replaces an earlier due time. */
  schedule(waiter: Waiter, due: number, now = this.monotonicMs()): void {
    this.cancel(waiter)
    waiter.due = due
    waiter.isWaiting = true
    waiter.hasGrace = false
    const isAlone = this.first === undefined
    this.insert(waiter)
    if (due < this.timerDue) this.setTimer(due, now)
    else if (isAlone && this.keepsAlive) this.timer?.ref()
  }

  cancel(waiter: Waiter): void {
    if (!waiter.isWaiting) return
    waiter.isWaiting = false
    const { previous, next } = waiter
    if (previous === undefined) this.first = next
    else previous.next = next
    if (next === undefined) this.last = previous
    else next.previous = previous
    waiter.previous = waiter.next = undefined
    if (this.first === undefined) this.timer?.unref()
  }

  /** Sorted by due time. Most waiters wait equally long, so the place is usually the end. */
  private insert(waiter: Waiter): void {
    let before = this.last
    while (before !== undefined && before.due > waiter.due) before = before.previous
    const next = before === undefined ? this.first : before.next
    waiter.previous = before
    waiter.next = next
    if (before === undefined) this.first = waiter
    else before.next = waiter
    if (next === undefined) this.last = waiter
    else next.previous = waiter
  }

  private setTimer(due: number, now: number): void {
    this.timerDue = due
    if (this.after !== undefined) {
      this.callOff?.()
      this.callOff = this.after(due - now, () => this.onTimer())
      return
    }
    clearTimeout(this.timer)
    this.timer = later(() => this.onTimer(), Math.max(1, due - now))
    if (!this.keepsAlive) this.timer.unref()
  }

  /** Resolves when the work of all due waiters has ended. Only timers that are moved by hand wait for it. */
  private onTimer(): Promise<unknown> {
    const works: unknown[] = []
    this.timer = undefined
    const now = this.monotonicMs()
    const lateMs = now - this.timerDue
    this.timerDue = Number.POSITIVE_INFINITY
    const stoodStill = this.givesGrace && lateMs > STOOD_STILL_MS
    while (this.first !== undefined && this.first.due <= now) {
      const waiter = this.first
      this.cancel(waiter)
      if (stoodStill && !waiter.hasGrace) {
        this.schedule(waiter, now + Math.min(lateMs, MAX_GRACE_MS), now)
        waiter.hasGrace = true
      } else works.push(this.fire(waiter, now))
    }
    // `onDue` may have added waiters and set a timer.
    if (this.first !== undefined && this.first.due < this.timerDue) this.setTimer(this.first.due, now)
    return Promise.all(works)
  }

  /** If one fails, the others must still be called. */
  private fire(waiter: Waiter, now: number): unknown {
    try {
      return waiter.onDue(now)
    } catch (error) {
      return reportFailure(error)
    }
  }
}
