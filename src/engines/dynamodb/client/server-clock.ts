/**
 * How far DynamoDB's clock is ahead of this process's, by the `Date` header of its responses. Each response gives
 * bounds: the server wrote the date, cut to whole seconds, after the request was sent and before the response came.
 * The intersection of several responses is narrower. Clocks drift, so the bounds widen again with time.
 */
export interface Bounds {
  lowMs: number
  highMs: number
  /** The local time when they were valid. */
  at: number
}

const DATE_STEP_MS = 1000
/** Quartz clocks are ten times better; a paused virtual machine is not. */
const DRIFT = 0.0002

interface Dated {
  /** The time in the header. */
  date: number
  sentAt: number
  receivedAt: number
}

export function narrow(bounds: Bounds | undefined, { date, sentAt, receivedAt }: Dated): Bounds {
  const said: Bounds = { lowMs: date - receivedAt, highMs: date + DATE_STEP_MS - sentAt, at: receivedAt }
  // If the local clock was set while the response was in flight, it gives no bounds.
  if (said.highMs < said.lowMs) return bounds ?? { lowMs: 0, highMs: 0, at: receivedAt }
  if (bounds === undefined) return said
  const driftMs = Math.abs(receivedAt - bounds.at) * DRIFT
  const lowMs = Math.max(said.lowMs, bounds.lowMs - driftMs)
  const highMs = Math.min(said.highMs, bounds.highMs + driftMs)
  // No intersection: a clock was set. The latest response counts.
  return lowMs <= highMs ? { lowMs, highMs, at: receivedAt } : said
}

/** A clock that may be right is not corrected: pods with synchronised clocks agree better than this can measure. */
export function offsetOf(bounds: Bounds | undefined): number {
  if (bounds === undefined || (bounds.lowMs <= 0 && bounds.highMs >= 0)) return 0
  return (bounds.lowMs + bounds.highMs) / 2
}

export class ServerClock {
  private bounds: Bounds | undefined

  constructor(readonly now: () => number = Date.now) {}

  /** `header`: as received; a header that is not a date is ignored. */
  note(header: string | undefined, sentAt: number, receivedAt: number): void {
    const date = header === undefined ? Number.NaN : Date.parse(header)
    if (!Number.isNaN(date)) this.bounds = narrow(this.bounds, { date, sentAt, receivedAt })
  }

  /** The bounds so far; undefined before the first response. */
  get known(): Bounds | undefined {
    return this.bounds
  }

  /** To add to the local time. */
  offsetMs(): number {
    return offsetOf(this.bounds)
  }
}
