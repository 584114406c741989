/**
 * How far the clock of DynamoDB is ahead of this process's, by the `Date` of its answers. Each answer bounds it: the
 * server wrote the date, cut to whole seconds, after the request was sent and before the answer came. What several
 * answers have in common is narrower than each of them. Clocks drift, so the bounds widen again with time.
 */
export interface Bounds {
  lowMs: number
  highMs: number
  /** The local time at which they held. */
  at: number
}

const DATE_STEP_MS = 1000
/** Quartz is an order of magnitude better; a virtual machine that was paused is not. */
const DRIFT = 0.0002

export interface Dated {
  /** What the header says. */
  date: number
  sentAt: number
  receivedAt: number
}

export function narrow(bounds: Bounds | undefined, { date, sentAt, receivedAt }: Dated): Bounds {
  const said: Bounds = { lowMs: date - receivedAt, highMs: date + DATE_STEP_MS - sentAt, at: receivedAt }
  // A local clock that was set while the answer was on its way bounds nothing.
  if (said.highMs < said.lowMs) return bounds ?? { lowMs: 0, highMs: 0, at: receivedAt }
  if (bounds === undefined) return said
  const driftMs = Math.abs(receivedAt - bounds.at) * DRIFT
  const lowMs = Math.max(said.lowMs, bounds.lowMs - driftMs)
  const highMs = Math.min(said.highMs, bounds.highMs + driftMs)
  // Nothing in common: a clock was set. What is said now counts.
  return lowMs <= highMs ? { lowMs, highMs, at: receivedAt } : said
}

/** A clock that may be right is left alone: pods that are kept in time otherwise agree better than this can know. */
export function offsetOf(bounds: Bounds | undefined): number {
  if (bounds === undefined || (bounds.lowMs <= 0 && bounds.highMs >= 0)) return 0
  return (bounds.lowMs + bounds.highMs) / 2
}

export class ServerClock {
  private bounds: Bounds | undefined

  constructor(readonly now: () => number = Date.now) {}

  /** `header`: as it came; what is no date is passed over. */
  note(header: string | undefined, sentAt: number, receivedAt: number): void {
    const date = header === undefined ? Number.NaN : Date.parse(header)
    if (!Number.isNaN(date)) this.bounds = narrow(this.bounds, { date, sentAt, receivedAt })
  }

  /** As far as answers have told; undefined before the first. */
  get known(): Bounds | undefined {
    return this.bounds
  }

  /** To be added to the local time. */
  offsetMs(): number {
    return offsetOf(this.bounds)
  }
}
