/** Whose time decides: the caller's, corrected by what DynamoDB says, or as it is, which is for suites and vectors. */
export type LimitClock = 'corrected' | 'caller'

export interface Offset {
  offsetMs(): number
}

/** The time of a decision. */
export class Times {
  constructor(
    private readonly kind: LimitClock,
    private readonly server: Offset,
  ) {}

  at(now: number): number {
    return this.kind === 'caller' ? now : Math.round(now + this.server.offsetMs())
  }

  /** The time goes on while a call is tried again. */
  since(now: number): () => number {
    if (this.kind === 'caller') return () => now
    const startedAt = performance.now()
    return () => this.at(now + performance.now() - startedAt)
  }
}
