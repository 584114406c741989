interface Observation {
  version: string
  /** By the clock of this process, when it was first seen. */
  sinceMs: number
  leaseMs: number
}

/** Names that are remembered; beyond, those seen longest ago are forgotten, and their locks are waited for anew. */
const MOST_NAMES = 10_000

/**
 * Since when each lock is as it is, by a clock of this process that nobody can set. A holder writes a new version with
 * every sign of life: one that was seen unchanged for its whole lease is dead, however wrong anybody's clock is.
 */
export class Observations {
  private readonly seen = new Map<string, Observation>()

  constructor(private readonly monotonicMs: () => number) {}

  /** Notes what was just read; how long it must stay like this before it is over. */
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

  /** That which is over, if it was seen for long enough. */
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
