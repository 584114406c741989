import type { Clock } from '../core/clock.js'
import { every } from '../core/timers.js'

/** Drops what is over, in a small step. */
export type Sweep = (now: number) => Promise<{ more: boolean }>

/** Keeps sweeping in the background, a step at a time, with pauses in which the thread does its real work. */
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
      // A failed sweep is tried again at the next turn; the health check tells of a store that does not answer.
      this.run().catch(() => {})
    }, intervalMs)
    this.timer.unref()
  }

  /** In the background; unless sweeping is left to the caller. */
  runSoon(): void {
    if (this.timer !== undefined) this.run().catch(() => {})
  }

  run(): Promise<void> {
    this.running ??= this.sweepAll().finally(() => {
      this.running = undefined
    })
    return this.running
  }

  /** One that fails does not keep the others from their work. */
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
