import { later } from '../../core/timers.js'

/** A feed that did not answer for so long may have told others of invalidations. */
export const LONGEST_SILENCE_MS = 2000

/** Tells when nothing has confirmed a feed for {@link LONGEST_SILENCE_MS}. */
export class Silence {
  private timer: NodeJS.Timeout | undefined

  constructor(private readonly onSilent: () => void) {}

  /** The feed answered a question of then, as `performance.now()` has it: everything told before that was heard. */
  confirm(askedAtMs: number): void {
    clearTimeout(this.timer)
    const leftMs = askedAtMs + LONGEST_SILENCE_MS - performance.now()
    this.timer = later(this.onSilent, leftMs).unref()
  }

  stop(): void {
    clearTimeout(this.timer)
  }
}
