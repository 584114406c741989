/** Times in buckets that grow by 2 %, so that hours of them take no more room than seconds. */
export class Histogram {
  private readonly counts = new Float64Array(1200)
  private total = 0

  add(ms: number): void {
    const bucket = Math.round(Math.log(Math.max(ms, 1e-4) / 1e-4) / Math.log(1.02))
    this.counts[Math.min(bucket, this.counts.length - 1)]!++
    this.total++
  }

  get count(): number {
    return this.total
  }

  /** The time that this share of all does not exceed. */
  percentile(share: number): number {
    let seen = 0
    for (let bucket = 0; bucket < this.counts.length; bucket++) {
      seen += this.counts[bucket]!
      if (seen >= share * this.total) return 1e-4 * 1.02 ** bucket
    }
    return Number.NaN
  }
}
