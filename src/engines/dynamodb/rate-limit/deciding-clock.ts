import type { LimitClock } from '../options.js'

interface Offset {
  offsetMs(): number
}

/** The time of a decision. */
export class DecidingClock {
  constructor(
    private readonly kind: LimitClock,
    private readonly server: Offset,
  ) {}

  at(now: number): number {
    return this.kind === 'caller' ? now : Math.round(now + this.server.offsetMs())
  }

  /** The time advances while a call is retried. */
  since(now: number): () => number {
    if (this.kind === 'caller') return () => now
    const startedAt = performance.now()
    return () => this.at(now + performance.now() - startedAt)
  }
}
