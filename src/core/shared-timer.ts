import { later, tellFailure } from './timers.js'
/** Who is to be woken at a moment. A link of the list that `Wakes` keeps. */
export class Waiter {
  due = Number.POSITIVE_INFINITY
  isWaiting = false
  hasGrace = false
  previous: Waiter | undefined = undefined
  next: Waiter | undefined = undefined

  onDue(_now: number): void {}
}

/** A timer that comes so late was kept waiting by its own thread. */
const STOOD_STILL_MS = 50
const MAX_GRACE_MS = 250

/**
 * Wakes many with one timer: nearly all are called off long before they are due. Those that are leave the list at once,
 * because what they hold would grow old in memory.
 */
export class SharedTimer {
  private first: Waiter | undefined
  private last: Waiter | undefined
  private timer: NodeJS.Timeout | undefined
  private timerDue = 0

  constructor(
    /** A clock that only goes forward. */
    private readonly monotonicMs: () => number,
    /** Whether a process that has nothing else to do waits for those who sleep. */
    private readonly keepsAlive = false,
    /**
     * Whether those who are due when this thread stood still are given some of that time back, once: what they wait
     * for may be there, and not heard yet.
     */
    private readonly givesGrace = false,
  ) {}

  /** Instead of what was said before. */
  wakeAt(waiter: Waiter, due: number, now = this.monotonicMs()): void {
    this.callOff(waiter)
    waiter.due = due
    waiter.isWaiting = true
    waiter.hasGrace = false
    const isAlone = this.first === undefined
    this.insert(waiter)
    if (this.timer === undefined || due < this.timerDue) this.setTimer(due, now)
    else if (isAlone && this.keepsAlive) this.timer.ref()
  }

  callOff(waiter: Waiter): void {
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

  /** By when it is due. Most sleep equally long, so that is mostly the end. */
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
    this.timer = later(() => this.look(), Math.max(1, due - now))
    if (!this.keepsAlive) this.timer.unref()
  }

  private look(): void {
    this.timer = undefined
    const now = this.monotonicMs()
    const lateMs = now - this.timerDue
    const stoodStill = this.givesGrace && lateMs > STOOD_STILL_MS
    while (this.first !== undefined && this.first.due <= now) {
      const waiter = this.first
      this.callOff(waiter)
      if (stoodStill && !waiter.hasGrace) {
        this.wakeAt(waiter, now + Math.min(lateMs, MAX_GRACE_MS), now)
        waiter.hasGrace = true
      } else this.wake(waiter, now)
    }
    // Whoever was woken may have asked for another time, and got a timer with it.
    if (this.first !== undefined && (this.timer === undefined || this.first.due < this.timerDue))
      this.setTimer(this.first.due, now)
  }

  /** One that fails must not keep the others asleep. */
  private wake(waiter: Waiter, now: number): void {
    try {
      waiter.onDue(now)
    } catch (error) {
      tellFailure(error)
    }
  }
}
