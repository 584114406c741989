export interface BreakerOptions {
  /** Failures in a row after which it opens. */
  failures: number
  /** For how long; then one call is let through, and decides. */
  pauseMs: number
}

/** Spares what fails again and again, and whoever would wait for it. */
export class Breaker {
  private failed = 0
  private openUntil = 0
  private isTrying = false

  constructor(private readonly options: BreakerOptions) {}

  /** Whoever is admitted says how it ended. */
  admits(now: number): boolean {
    if (this.failed < this.options.failures) return true
    if (now < this.openUntil || this.isTrying) return false
    this.isTrying = true
    return true
  }

  isOpen(now: number): boolean {
    return this.failed >= this.options.failures && (now < this.openUntil || this.isTrying)
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
