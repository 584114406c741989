import { later } from '../../core/timers.js'

/** A feed that has not answered for this long may have missed invalidations. */
const FEED_TIMEOUT_MS = 2000

/** Calls `onSilent` when nothing has confirmed the feed for {@link FEED_TIMEOUT_MS}. */
export class FeedTimeout {
  private timer: NodeJS.Timeout | undefined

  constructor(private readonly onSilent: () => void) {}

  /** The feed answered a request sent at this time (by `performance.now()`), so every earlier notice was received. */
  confirm(askedAtMs: number): void {
    clearTimeout(this.timer)
    const leftMs = askedAtMs + FEED_TIMEOUT_MS - performance.now()
    this.timer = later(this.onSilent, leftMs).unref()
  }

  stop(): void {
    clearTimeout(this.timer)
  }
}
