export type ArrivalKind = 'constant' | 'poisson'

/** The times at which requests are due, in milliseconds from the start, independent of earlier responses. */
export function arrivals(kind: ArrivalKind, perSecond: number, random: () => number): () => number {
  const gapMs = 1000 / perSecond
  if (kind === 'constant') {
    let i = 0
    // Multiplied, not summed: rounding errors must not change the rate over hours.
    return () => i++ * gapMs
  }
  let atMs = 0
  return () => (atMs -= gapMs * Math.log(1 - random()))
}

/** Pseudo-random numbers in [0, 1), the same for the same seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
