import { later, reportFailure } from './timers.js'
/** A waiter for a point in time. A node of the linked list in `SharedTimer`. */
export class Waiter {
  due = Number.POSITIVE_INFINITY
  isWaiting = false
  hasGrace = false
  previous: Waiter | undefined = undefined
  next: Waiter | undefined = undefined

  onDue(_now: number): void {}
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
  private timerDue = 0

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
  ) {}

  /** Replaces an earlier due time. */
  schedule(waiter: Waiter, due: number, now = this.monotonicMs()): void {
    this.cancel(waiter)
    waiter.due = due
    waiter.isWaiting = true
    waiter.hasGrace = false
    const isAlone = this.first === undefined
    this.insert(waiter)
    if (this.timer === undefined || due < this.timerDue) this.setTimer(due, now)
    else if (isAlone && this.keepsAlive) this.timer.ref()
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
    clearTimeout(this.timer)
    this.timerDue = due
    this.timer = later(() => this.onTimer(), Math.max(1, due - now))
    if (!this.keepsAlive) this.timer.unref()
  }

  private onTimer(): void {
    this.timer = undefined
    const now = this.monotonicMs()
    const lateMs = now - this.timerDue
    const stoodStill = this.givesGrace && lateMs > STOOD_STILL_MS
    while (this.first !== undefined && this.first.due <= now) {
      const waiter = this.first
      this.cancel(waiter)
      if (stoodStill && !waiter.hasGrace) {
        this.schedule(waiter, now + Math.min(lateMs, MAX_GRACE_MS), now)
        waiter.hasGrace = true
      } else this.fire(waiter, now)
    }
    // `onDue` may have added waiters and set a timer.
    if (this.first !== undefined && (this.timer === undefined || this.first.due < this.timerDue))
      this.setTimer(this.first.due, now)
  }

  /** If one fails, the others must still be called. */
  private fire(waiter: Waiter, now: number): void {
    try {
      waiter.onDue(now)
    } catch (error) {
      reportFailure(error)
    }
  }
}
