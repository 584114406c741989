import type { ListRef } from '../changes/port.js'

interface BuildsParts {
  /** Builds the list's snapshot, unless another process is building it. Resolves when there may be a new one. */
  build(list: ListRef, full: boolean): Promise<void>
  /** Called after a build without a failure. */
  onBuilt(list: ListRef): Promise<void> | undefined
}

/** Minimum time between two automatic builds of a list: a build without effect must not be repeated at once. */
const BUILD_REST_MS = 200

/** The builds of snapshots that this process asks for: of each list one at a time. */
export class ListBuilds {
  /** Builds that this process requested and waited for. */
  readonly counts = { built: 0, failed: 0 }
  private readonly running = new Map<number, { full: boolean; done: Promise<void> }>()
  private readonly builtAtMs = new Map<number, number>()

  constructor(private readonly parts: BuildsParts) {}

  isRunning(incarnation: number): boolean {
    return this.running.has(incarnation)
  }

  /** Whether a build of the list runs, or ran a moment ago. */
  rests({ incarnation }: ListRef): boolean {
    if (this.running.has(incarnation)) return true
    return performance.now() - (this.builtAtMs.get(incarnation) ?? Number.NEGATIVE_INFINITY) < BUILD_REST_MS
  }

  /** Joins a running build that does at least as much. */
  start(list: ListRef, full: boolean): Promise<void> {
    const { incarnation } = list
    const running = this.running.get(incarnation)
    if (running !== undefined && (running.full || !full)) return running.done
    const before = running?.done.catch(() => {}) ?? Promise.resolve()
    const done = before
      .then(() => this.parts.build(list, full))
      .then(
        () => {
          this.counts.built++
        },
        (error: unknown) => {
          this.counts.failed++
          throw error
        },
      )
      .finally(() => {
        if (this.running.get(incarnation)?.done === done) this.running.delete(incarnation)
        if (this.builtAtMs.size >= 10_000) this.builtAtMs.clear()
        this.builtAtMs.set(incarnation, performance.now())
      })
      .then(() => this.parts.onBuilt(list))
    this.running.set(incarnation, { full, done })
    return done
  }

  /** All that run. */
  ended(): Promise<unknown> {
    return Promise.allSettled(Array.from(this.running.values(), ({ done }) => done))
  }
}
