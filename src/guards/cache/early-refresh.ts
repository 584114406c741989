/**
 * XFetch: an entry is refreshed before it expires, the sooner the longer a load takes, and at times that chance spreads
 * over all who read it. Refresh iff `now − δ·β·ln(u) ≥ expiry`, with u in (0, 1] and δ the time that a load takes.
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

/** −ln of the least u that a double of 53 random bits can be: further from its expiry than δ·β·this no entry is refreshed. */
export const FURTHEST = 53 * Math.LN2

const WEIGHT = 0.2

/** How long loads take, the last ones counting most. */
export class LoadTime {
  private mean: number | undefined

  get ms(): number {
    return this.mean ?? 0
  }

  add(ms: number): void {
    this.mean = this.mean === undefined ? ms : this.mean + WEIGHT * (ms - this.mean)
  }
}
