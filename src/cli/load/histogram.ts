const UNITS_PER_MS = 10_000
const STEPS = 128
const LARGEST = 2 ** 32 - 1
const BUCKETS = 26 * STEPS

/**
 * Latencies in buckets, 128 per doubling, so that hours of samples take no more memory than seconds, and a reported
 * value is off by at most 1/256. The unit is 100 ns; values above 7 minutes count as 7 minutes.
 */
export class Histogram {
  private readonly counts = new Float64Array(BUCKETS)
  private total = 0
  private sum = 0
  private longest = 0

  add(ms: number): void {
    const units = Math.min(Math.max(Math.round(ms * UNITS_PER_MS), 0), LARGEST)
    this.counts[bucketOf(units)]!++
    this.total++
    this.sum += ms
    if (ms > this.longest) this.longest = ms
  }

  clear(): void {
    this.counts.fill(0)
    this.total = this.sum = this.longest = 0
  }

  get count(): number {
    return this.total
  }

  get meanMs(): number {
    return this.total === 0 ? Number.NaN : this.sum / this.total
  }

  get maxMs(): number {
    return this.total === 0 ? Number.NaN : this.longest
  }

  /** The latency that this share of all samples does not exceed. */
  percentile(share: number): number {
    let seen = 0
    for (let bucket = 0; bucket < BUCKETS; bucket++) {
      seen += this.counts[bucket]!
      // The middle of a bucket may be above the longest sample in it.
      if (seen > 0 && seen >= share * this.total) return Math.min(middleMs(bucket), this.longest)
    }
    return Number.NaN
  }
}

function bucketOf(units: number): number {
  const shift = Math.max(0, 24 - Math.clz32(units))
  return shift * STEPS + (units >>> shift)
}

function middleMs(bucket: number): number {
  const shift = Math.max(0, Math.floor(bucket / STEPS) - 1)
  const low = (bucket - shift * STEPS) * 2 ** shift
  return (low + (2 ** shift - 1) / 2) / UNITS_PER_MS
}
