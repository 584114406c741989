interface Observation {
  version: string
  /** When this process first saw it, by its monotonic clock. */
  sinceMs: number
  leaseMs: number
}

/** Maximum remembered names. Beyond it the oldest are forgotten, and the wait for their locks starts again. */
const MOST_NAMES = 10_000

/**
 * Since when each lock is unchanged, by a monotonic clock of this process. A holder writes a new version with every
 * renewal. A lock that was unchanged for its whole lease is expired, however wrong any clock is.
 */
export class Observations {
  private readonly seen = new Map<string, Observation>()

  constructor(private readonly monotonicMs: () => number) {}

  /** Records what was just read. Returns how long it must stay unchanged until it is expired. */
  note(name: string, version: string, leaseMs: number): number {
    let known = this.seen.get(name)
    if (known?.version !== version) {
      known = { version, sinceMs: this.monotonicMs(), leaseMs }
      this.seen.delete(name)
      this.seen.set(name, known)
      if (this.seen.size > MOST_NAMES) this.seen.delete(this.seen.keys().next().value!)
    }
    return this.leftMs(known)
  }

  /** The version of the lock, if it was unchanged for its whole lease. */
  overdue(name: string): string | undefined {
    const known = this.seen.get(name)
    return known !== undefined && this.leftMs(known) <= 0 ? known.version : undefined
  }

  isFresh(name: string): boolean {
    const known = this.seen.get(name)
    return known !== undefined && this.leftMs(known) > 0
  }

  forget(name: string): void {
    this.seen.delete(name)
  }

  private leftMs({ sinceMs, leaseMs }: Observation): number {
    return sinceMs + leaseMs - this.monotonicMs()
  }
}
