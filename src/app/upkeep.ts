import type { Clock } from '../core/clock.js'
import { every } from '../core/timers.js'

/** Deletes expired data in a small step. */
export type Sweep = (now: number) => Promise<{ more: boolean }>

/** Runs sweeps in the background, step by step, with pauses for other work of the thread. */
export class Upkeep {
  private timer: NodeJS.Timeout | undefined
  private running: Promise<void> | undefined
  private stopped = false

  constructor(
    private readonly sweeps: readonly Sweep[],
    private readonly clock: Clock,
  ) {}

  start(intervalMs: number): void {
    if (intervalMs === 0) return
    this.timer = every(() => {
      // A failed sweep is retried at the next interval. The health check reports a store that does not answer.
      this.run().catch(() => {})
    }, intervalMs)
    this.timer.unref()
  }

  /** Starts a sweep in the background, unless only the caller starts sweeps. */
  runSoon(): void {
    if (this.timer !== undefined) this.run().catch(() => {})
  }

  run(): Promise<void> {
    this.running ??= this.sweepAll().finally(() => {
      this.running = undefined
    })
    return this.running
  }

  /** If one fails, the others still run. */
  private async sweepAll(): Promise<void> {
    const results = await Promise.allSettled(this.sweeps.map((sweep) => this.toItsEnd(sweep)))
    for (const result of results) if (result.status === 'rejected') throw result.reason
  }

  private async toItsEnd(sweep: Sweep): Promise<void> {
    let more = true
    while (more && !this.stopped) {
      more = (await sweep(this.clock.now())).more
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
  }

  async stop(): Promise<void> {
    this.stopped = true
    clearInterval(this.timer)
    await this.running?.catch(() => {})
  }
}
