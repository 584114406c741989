/** Time is injected everywhere, so that tests set it instead of waiting for it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
}

export const systemClock: Clock = { now: () => Date.now() }

/** A clock that stands still until it is told to move. */
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

/** ISO 8601 of a moment; the hot path asks for the same millisecond many times in a row. */
export function isoTime(ms: number): string {
  if (ms !== lastMs) {
    lastIso = new Date(ms).toISOString()
    lastMs = ms
  }
  return lastIso
}
