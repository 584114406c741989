export interface BreakerOptions {
  /** Consecutive failures after which it opens. */
  failures: number
  /** How long it stays open. Then one call is admitted, and its outcome decides. */
  pauseMs: number
}

/** A circuit breaker. */
export class Breaker {
  private failed = 0
  private openUntil = 0
  private isTrying = false

  constructor(private readonly options: BreakerOptions) {}

  /** An admitted caller must report the outcome with `succeed` or `fail`. */
  admits(now: number): boolean {
    if (this.failed < this.options.failures) return true
    if (this.isPausing(now) || this.isTrying) return false
    this.isTrying = true
    return true
  }

  /** Admits a call that must be made even during the pause. Other calls wait for its outcome, as for a trial. */
  force(): void {
    this.isTrying = this.failed >= this.options.failures
  }

  isOpen(now: number): boolean {
    return this.failed >= this.options.failures && (this.isPausing(now) || this.isTrying)
  }

  /** A clock that was set back since must not prolong the pause. */
  private isPausing(now: number): boolean {
    return now < this.openUntil && now >= this.openUntil - this.options.pauseMs
  }

  succeed(): void {
    this.failed = 0
    this.isTrying = false
  }

  fail(now: number): void {
    this.failed++
    this.isTrying = false
    this.openUntil = now + this.options.pauseMs
  }
}
