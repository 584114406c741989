/**
 * XFetch: refreshes an entry before it expires, earlier if loads take longer, and at random times so that readers
 * do not refresh together. Refresh iff `now − δ·β·ln(u) ≥ expiry`, with u in (0, 1] and δ the load time.
 */
export function refreshesEarly(
  now: number,
  expiry: number,
  deltaMs: number,
  beta: number,
  u: number,
): boolean {
  return now - deltaMs * beta * Math.log(u) >= expiry
}

/**
 * −ln of the smallest u that 53 random bits can give. Earlier than δ·β·FURTHEST before
 * its expiry, no entry is refreshed.
 */
export const FURTHEST = 53 * Math.LN2

const WEIGHT = 0.2

/** Moving average of load times, recent loads weighing most. */
export class LoadTime {
  private mean: number | undefined

  get ms(): number {
    return this.mean ?? 0
  }

  add(ms: number): void {
    this.mean = this.mean === undefined ? ms : this.mean + WEIGHT * (ms - this.mean)
  }
}
