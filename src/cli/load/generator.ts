import { type ArrivalKind, arrivals } from './arrivals.js'
import type { Origin } from './origin.js'
import { Pool, type PoolOptions } from './pool.js'
import type { LoadObserver, NextRequest } from './request.js'

export interface LoadPlan extends PoolOptions {
  /** Requests per second. */
  rate: number
  durationMs: number
  arrivals: ArrivalKind
  /** Busy-wait while the next request is near, for times finer than a timer can give. Uses a whole core. */
  spin: boolean
  random: () => number
}

/** A timer may fire a millisecond late. */
const SPIN_BELOW_MS = 2
const EXPIRE_EVERY_MS = 50
const DRAIN_POLL_MS = 5
const HASTY_DRAIN_MS = 500

/**
 * Sends requests when they are due, not when earlier ones are answered. So a server that stalls still gets the
 * requests that become due meanwhile, and its latency counts them.
 */
export class Generator {
  private readonly pool: Pool
  private readonly next: () => number
  private dueMs = 0
  private startMs = 0
  private stopped = false
  private isOver = false
  private end: () => void = () => {}

  constructor(
    origin: Origin,
    private readonly plan: LoadPlan,
    private readonly makeRequest: NextRequest,
    private readonly observer: LoadObserver,
  ) {
    this.pool = new Pool(origin, plan, observer)
    this.next = arrivals(plan.arrivals, plan.rate, plan.random)
  }

  get inFlight(): number {
    return this.pool.inFlight
  }

  get peakConnections(): number {
    return this.pool.peak
  }

  /** Resolves when every due request was answered or timed out. */
  async run(onStart: (startMs: number) => void): Promise<void> {
    await this.pool.warmUp()
    this.startMs = performance.now()
    onStart(this.startMs)
    this.dueMs = this.next()
    const expiring = setInterval(() => this.pool.expire(performance.now()), EXPIRE_EVERY_MS)
    try {
      await new Promise<void>((resolve) => {
        this.end = resolve
        this.turn()
      })
      const patienceMs = this.stopped ? HASTY_DRAIN_MS : 2 * this.plan.timeoutMs
      const until = performance.now() + patienceMs
      while (!this.pool.isIdle && performance.now() < until)
        await new Promise((resolve) => setTimeout(resolve, DRAIN_POLL_MS))
    } finally {
      clearInterval(expiring)
      this.pool.close(performance.now())
    }
  }

  /** Ends early: no further request becomes due. */
  stop(): void {
    this.stopped = true
    this.finish()
  }

  private readonly turn = (): void => {
    if (this.isOver) return
    const nowMs = performance.now()
    const sinceMs = Math.min(nowMs - this.startMs, this.plan.durationMs)
    while (this.dueMs <= sinceMs && this.dueMs < this.plan.durationMs) {
      const dueMs = this.startMs + this.dueMs
      this.observer.due(dueMs, nowMs)
      this.pool.submit(this.makeRequest(), dueMs, nowMs)
      this.dueMs = this.next()
    }
    if (this.dueMs >= this.plan.durationMs) {
      this.finish()
      return
    }
    const gapMs = this.startMs + this.dueMs - performance.now()
    if (this.plan.spin && gapMs < SPIN_BELOW_MS) setImmediate(this.turn)
    else setTimeout(this.turn, Math.max(1, Math.floor(gapMs - 1)))
  }

  private finish(): void {
    this.isOver = true
    this.end()
  }
}
