/** Time is injected everywhere, so that tests can set it instead of waiting. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }

/** The system's time when the process started, and what has passed since: setting the clock does not change it. */
export const steadyClock: Clock = { now: () => Math.floor(performance.timeOrigin + performance.now()) }

/** A clock for tests: it moves only when told to. */
export class ManualClock implements Clock {
  constructor(private ms: number) {}
  now(): number {
    return this.ms
  }
  advance(ms: number): void {
    this.ms += ms
  }
  set(ms: number): void {
    this.ms = ms
  }
}

let lastMs = Number.NaN
let lastIso = ''

/** ISO 8601 of a time. Cached, because the hot path formats the same millisecond many times in a row. */
export function isoTime(ms: number): string {
  if (ms !== lastMs) {
    lastIso = new Date(ms).toISOString()
    lastMs = ms
  }
  return lastIso
}
